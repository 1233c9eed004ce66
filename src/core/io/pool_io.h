// PoolIo: file I/O by pread, pwrite and fdatasync on a pool of threads.
//
// For kernels and containers without io_uring, and for fault tests: strace sees every call.
// Safe to share between shards.
#pragma once

#include "io/file_io.h"
#include "rt/blocking_pool.h"

namespace leat::io {

class PoolIo final : public FileIo {
 public:
  // Lifetime: the pool outlives it.
  explicit PoolIo(rt::BlockingPool& pool) : pool_(pool) {}

  rt::Task<std::size_t> read_at(const File& file, std::uint64_t offset,
                                MutableBytes target) override;
  rt::Task<void> write_at(File& file, std::uint64_t offset, Bytes source) override;
  rt::Task<void> sync_data(File& file) override;
  rt::Task<void> write_and_sync(File& file, std::uint64_t offset, Bytes source,
                                Status& synced) override;

 private:
  rt::BlockingPool& pool_;
};

}  // namespace leat::io
