// FileWriter: the bytes of a large object on their way into files of a disk.
//
// Bytes are checksummed block by block as they come and written behind the caller. A long object is
// cut into files of file_max_bytes; each is synced and gets its place while the next one is being
// filled. Nothing refers to the files before the change that names them is committed, so an object
// that breaks off leaves nothing: what was written is removed, at the latest as an orphan.
//
// Shard: any, one. Lifetime: the tools outlive it and its last write, and so does the volume, which
// `keep` sees to.
#pragma once

#include <memory>
#include <vector>

#include "io/buffer_pool.h"
#include "io/file_io.h"
#include "io/rng.h"
#include "rt/blocking_pool.h"
#include "rt/shard.h"
#include "volume/lookup_cache.h"
#include "volume/pins.h"
#include "volume/volume.h"

namespace leat::volume {

// What reading and writing on one shard needs.
struct ShardKit {
  rt::Shard& shard;
  io::FileIo& file_io;
  io::BufferPool& buffers;
  rt::BlockingPool& pool;
  io::Rng& rng;
  Pins* pins = nullptr;            // null: nothing is pinned
  LookupCache* lookups = nullptr;  // null: nothing is remembered
};

class FileWriter {
 public:
  // `keep` is let go of, on the shard, when nothing of the writer runs any more: it may hold what
  // keeps the volume in service.
  using Keep = std::shared_ptr<const void>;
  FileWriter(Volume& volume, ShardKit kit, record::ObjectKey owner, Keep keep = {});
  ~FileWriter();

  // A buffer to fill; waits while too many writes are in flight.
  // Errors: the first error of an earlier write; no_space, io.
  rt::Task<MutableBytes> next_buffer();

  // The first `size` bytes of the last buffer are the object's next ones. Requires: all but the
  // last buffer are filled to a multiple of the block size.
  void commit(std::size_t size);

  // The object's bytes end here; these are its appendix, in files of their own behind them.
  // Requires: called once. Errors: those of next_buffer().
  rt::Task<void> append_appendix(Bytes bytes);

  // Everything is on the disk, under its final names, when it returns.
  rt::Task<std::vector<record::FileExtent>> finish();

  // No change will ever name the files: they are removed when the writer goes.
  void abandon() { finished_ = false; }

  // CRC32C of the block checksums of the object so far, in order: names the content.
  std::uint32_t sums_crc() const { return sums_crc_; }

 private:
  struct Piece;
  using PiecePtr = std::shared_ptr<Piece>;

  rt::Task<PiecePtr> open_piece();
  void seal_current();
  static rt::Task<void> seal(PiecePtr piece, ShardKit kit, Volume& volume, Keep keep);
  rt::Task<void> wait_sealed(std::size_t unfinished_max);

  Volume& volume_;
  ShardKit kit_;
  record::ObjectKey owner_;
  Keep keep_;
  PiecePtr current_;
  std::vector<PiecePtr> pieces_;
  MutableBytes buffer_;
  std::uint32_t sums_crc_ = 0;
  bool in_appendix_ = false;
  bool finished_ = false;
};

}  // namespace leat::volume
