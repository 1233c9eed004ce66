// The limits of one disk's store. Every one has a default that suits a laptop and a rack.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/time.h"

namespace leat::volume {

struct VolumeOptions {
  // Objects up to this size lie in segments, larger ones in files of their own.
  std::uint64_t small_max_bytes = kMiB;
  // A larger object is cut into files of this size.
  std::uint64_t file_max_bytes = 64 * kMiB;
  std::uint64_t segment_max_bytes = 256 * kMiB;
  // What one write to a segment carries at most; more waits for the next.
  std::uint64_t batch_max_bytes = 8 * kMiB;
  // Changes waiting to be written; more are refused as busy.
  std::size_t pending_max = 4096;

  // `durability=group`: how long a write may be only in the kernel's memory.
  Duration group_window = std::chrono::milliseconds(20);
  // `durability=relaxed`: the same, but long enough that syncs do not count.
  Duration relaxed_window = std::chrono::seconds(5);

  // The index is flushed after this much: what recovery reads again is bounded by it.
  std::uint64_t replay_max_bytes = 256 * kMiB;
  std::uint64_t replay_max_changes = 200'000;

  // Above `full` the disk takes no more data until it is below `relief`, in percent of its size.
  std::uint32_t full_percent = 95;
  std::uint32_t relief_percent = 93;
  // Kept free for deletes, segments and the index, whatever the percentages say.
  std::uint64_t reserve_bytes = 64 * kMiB;

  // A segment whose live bytes are below this is rewritten.
  std::uint32_t compact_below_percent = 60;
  // What compaction reads and writes in a second, together; 0: no limit. A full disk does not wait.
  std::uint64_t compact_rate_bytes = 64 * kMiB;

  std::uint64_t index_cache_bytes = 128 * kMiB;
  // For simulations: nothing happens unless a test asks for it.
  bool quiet = false;
};

}  // namespace leat::volume
