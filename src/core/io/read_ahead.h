// ReadAhead: reads a range of a file in order, several pieces in flight.
//
// next() gives the pieces one after the other while the following ones are already being read, so
// that the disk is kept busy while a client drains the last piece. How many are in flight depends
// on what the buffer pool can spare: one at least, `depth_max` at most.
//
// Reads are aligned to 4096 so that they may bypass the page cache.
// Shard: one. Lifetime: file, FileIo, pool and shard outlive the reads, also after ReadAhead is
// gone; hold `file` by the shared pointer for that.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "io/buffer_pool.h"
#include "io/file_io.h"
#include "rt/shard.h"

namespace leat::io {

struct ReadAheadSource {
  std::shared_ptr<const File> file;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

class ReadAhead {
 public:
  static constexpr std::size_t kDepthMax = 4;

  ReadAhead(rt::Shard& shard, FileIo& file_io, BufferPool& pool, ReadAheadSource source,
            std::size_t depth_max = kDepthMax);
  ~ReadAhead();

  // The next bytes of the range; empty at its end. They stay valid until the next call.
  // Errors: io, corrupt (the file is shorter than the range).
  rt::Task<Bytes> next();

 private:
  struct Piece;

  rt::Task<void> fill();
  void start(BufferPool::Buffer buffer);

  rt::Shard& shard_;
  FileIo& file_io_;
  BufferPool& pool_;
  ReadAheadSource source_;
  std::size_t depth_max_;
  std::uint64_t end_;
  std::uint64_t next_read_;  // aligned offset of the next piece to start
  std::deque<std::shared_ptr<Piece>> pieces_;
  std::shared_ptr<Piece> current_;
};

}  // namespace leat::io
