// BlockSource: where the bytes of shards come from: the service, or files of a node on the same
// machine.
//
// Shard: that of the feed's I/O lane it was made for.
#pragma once

#include <atomic>

#include "base/bytes.h"
#include "rt/task.h"
#include "snapshot/types.h"

namespace leat::feed {

class BlockSource {
 public:
  virtual ~BlockSource() = default;

  // Fills `target` with the bytes of the shard from `offset` on, of exactly the version that the
  // entry names. Tries again within its budget before it gives up, and ends early, with
  // Errc::cancelled, when `is_cancelled` becomes true.
  // Lifetime: all arguments outlive the task.
  // Errors: conflict (the shard is another one now), not_found, denied, unavailable, timeout,
  // corrupt, cancelled.
  virtual rt::Task<void> read(const snapshot::ShardEntry& shard, std::uint64_t offset,
                              MutableBytes target, const std::atomic<bool>& is_cancelled) = 0;
};

}  // namespace leat::feed
