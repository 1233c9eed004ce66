#include "io/descriptor_limit.h"

#include <sys/resource.h>

namespace leat::io {
namespace {

constexpr std::uint64_t kUnknown = 1024;

}  // namespace

std::uint64_t descriptor_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : kUnknown;
}

DescriptorLimit raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {.before = kUnknown, .now = kUnknown};
  const std::uint64_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return {.before = before, .now = before};
  return {.before = before, .now = limit.rlim_cur};
}

}  // namespace leat::io
