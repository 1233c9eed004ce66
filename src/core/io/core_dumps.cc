#include "io/core_dumps.h"

#include <sys/resource.h>

namespace leat::io {

Status forbid_core_dumps() {
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  if (::setrlimit(RLIMIT_CORE, &none) != 0) return fail(Errc::io, "core dumps cannot be forbidden");
  return {};
}

}  // namespace leat::io
