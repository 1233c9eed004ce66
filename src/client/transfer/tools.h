// Tools: what a transfer works with on its shard, and what all shards count together.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "io/disk.h"
#include "io/file_io.h"
#include "rt/blocking_pool.h"
#include "rt/shard.h"
#include "s3client/s3client.h"
#include "transfer/memory_budget.h"

namespace leat::transfer {

struct TransferOptions {
  std::uint64_t part_bytes = 8 * kMiB;        // objects up to this size travel in one piece
  std::size_t parts_at_once = 8;              // of one object
  std::size_t memory_max_bytes = 256 * kMiB;  // of one shard
  std::uint32_t body_attempts_max = 5;        // for a download that breaks off
  std::string state_folder{};  // where uploads in parts are remembered; empty: nowhere
};

// Safe to share between shards: what a progress display shows.
struct Counters {
  std::atomic<std::uint64_t> files_total{0};
  std::atomic<std::uint64_t> bytes_total{0};
  std::atomic<std::uint64_t> files_done{0};
  std::atomic<std::uint64_t> bytes_done{0};  // moved or found to be there
  std::atomic<std::uint64_t> bytes_moved{0};
  std::atomic<std::uint64_t> files_skipped{0};
  std::atomic<std::uint64_t> files_failed{0};
  std::atomic<bool> is_planned{false};  // the totals are final

  void moved(std::uint64_t bytes) {
    bytes_done += bytes;
    bytes_moved += bytes;
  }
};

// Lifetime: all of it outlives the tasks that use it. Shard: one, but for disk, pool and counters.
struct Tools {
  rt::Shard& shard;
  s3client::S3Client& client;
  io::Disk& disk;
  io::FileIo& files;
  rt::BlockingPool& pool;
  MemoryBudget& memory;
  Counters& counters;
  const TransferOptions& options;
};

}  // namespace leat::transfer
