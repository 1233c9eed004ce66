// FileIo: reads, writes and syncs of open files, awaited from a shard without ever blocking it.
//
// Three implementations, one contract: UringIo (io_uring, one ring a shard), PoolIo (pread and
// pwrite on a pool of threads: what strace can see and containers without io_uring can run), and
// InlineIo (calls the File on the spot: simulated disks).
//
// Lifetime: the file and the buffer outlive the task.
#pragma once

#include "io/disk.h"
#include "rt/task.h"

namespace leat::io {

class FileIo {
 public:
  virtual ~FileIo() = default;

  // Reads up to target.size() bytes; fewer only at the end of the file.
  virtual rt::Task<std::size_t> read_at(const File& file, std::uint64_t offset,
                                        MutableBytes target) = 0;

  // Writes all of `source`.
  virtual rt::Task<void> write_at(File& file, std::uint64_t offset, Bytes source) = 0;

  // Errors: busy, when it was not tried; any other is final for the disk (io/disk.h).
  virtual rt::Task<void> sync_data(File& file) = 0;

  // One behind the other; `synced` is what sync_data() would say. What can be done in one go is:
  // each time a thread is woken it may be late. Errors: those of write_at(); `synced` is then an
  // error only if a sync was made beside the write and failed. Lifetime: `synced` outlives the
  // task.
  virtual rt::Task<void> write_and_sync(File& file, std::uint64_t offset, Bytes source,
                                        Status& synced);
};

class InlineIo final : public FileIo {
 public:
  rt::Task<std::size_t> read_at(const File& file, std::uint64_t offset,
                                MutableBytes target) override;
  rt::Task<void> write_at(File& file, std::uint64_t offset, Bytes source) override;
  rt::Task<void> sync_data(File& file) override;
};

}  // namespace leat::io
