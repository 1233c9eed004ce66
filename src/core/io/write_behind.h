// WriteBehind: writes a file front to back while the next bytes are still arriving.
//
// The caller fills a buffer, commits it, and gets another one while the first is being written; up
// to kDepthMax writes are in flight. Nothing is durable before the file is synced by its owner,
// after finish(). Abandoned without finish(), running writes end by themselves and keep the file
// until then.
//
// Shard: one. Lifetime: FileIo, pool and shard outlive the writes.
#pragma once

#include <cstdint>
#include <memory>

#include "io/buffer_pool.h"
#include "io/file_io.h"
#include "rt/shard.h"

namespace leat::io {

class WriteBehind {
 public:
  static constexpr std::size_t kDepthMax = 4;

  WriteBehind(rt::Shard& shard, FileIo& file_io, BufferPool& pool, std::shared_ptr<File> file);
  ~WriteBehind();

  // A buffer to fill; waits while too many writes are in flight.
  // Errors: the first error of an earlier write.
  rt::Task<MutableBytes> next_buffer();

  // Starts writing the first `size` bytes of the buffer that next_buffer() gave.
  void commit(std::size_t size);

  // Waits for all writes. Errors: the first one's.
  rt::Task<void> finish();

  std::uint64_t size_bytes() const { return next_offset_; }

 private:
  struct State;

  rt::Task<void> wait_until_at_most(std::size_t in_flight);

  rt::Shard& shard_;
  FileIo& file_io_;
  BufferPool& pool_;
  std::shared_ptr<State> state_;
  BufferPool::Buffer filling_;
  std::uint64_t next_offset_ = 0;
};

}  // namespace leat::io
