#include "io/cache_probe.h"

#include <sys/uio.h>

#include <algorithm>

namespace leat::io {
namespace {

bool is_byte_cached(int fd, std::uint64_t offset) {
  char byte = 0;
  iovec one{&byte, 1};
  return ::preadv2(fd, &one, 1, static_cast<off_t>(offset), RWF_NOWAIT) >= 0;
}

}  // namespace

bool is_cached_by_reads(int fd, std::uint64_t offset, std::uint64_t length) {
  if (length == 0) return true;
  const std::uint64_t step = std::max(kProbeStep, length / kProbesMax);
  for (std::uint64_t at = 0; at < length; at += step) {
    if (!is_byte_cached(fd, offset + at)) return false;
  }
  return is_byte_cached(fd, offset + length - 1);
}

}  // namespace leat::io
