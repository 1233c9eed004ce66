// Is a range of a file in the page cache? For kernels that cannot say (before 6.5): a read that
// must not wait succeeds only from the cache, so a few places are tried.
#pragma once

#include <cstdint>

namespace leat::io {

// True if every place tried is cached: the first byte and the last, and others between them, one in
// each kProbeStep, at most kProbesMax. A hole between two of them goes unseen; mincore() would see
// it, but says "cached" of every file that the process may not write.
bool is_cached_by_reads(int fd, std::uint64_t offset, std::uint64_t length);

// The kernel reads ahead this much by default, so holes are seldom smaller.
constexpr std::uint64_t kProbeStep = 128 * 1024;
constexpr std::uint64_t kProbesMax = 64;

}  // namespace leat::io
