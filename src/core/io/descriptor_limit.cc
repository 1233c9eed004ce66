#include "io/descriptor_limit.h"

#include <sys/resource.h>

namespace leat::io {

DescriptorLimit raise_descriptor_limit() {
  constexpr std::uint64_t kUnknown = 1024;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {.before = kUnknown, .now = kUnknown};
  const std::uint64_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return {.before = before, .now = before};
  return {.before = before, .now = limit.rlim_cur};
}

}  // namespace leat::io
