// Kv: a sorted map from byte strings to byte strings on one disk, the only place that knows
// RocksDB.
//
// It has no log of its own. Leat's segments already hold every change before the index sees it, so
// a second log would only cost a second sync: what was written since the last flush() is gone after
// a crash, all of it or a prefix in the order of write(), and is read back from the segments
// (docs/formats/segment.md). A batch is never half there.
//
// All file access goes through io::Disk, also RocksDB's own, so that a simulated disk can crash
// under it, fail and rot. Blocks are checksummed: a flipped bit is Errc::corrupt, never a wrong
// answer.
//
// Thread: reads, cursors, compact() and verify() from any; write() and flush() from one at a time.
// In quiet mode everything from one thread at a time, which then is the only one in the disk.
// Lifetime: the disk outlives it; it outlives its cursors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "io/disk.h"

namespace leat::kv {

struct KvOptions {
  std::uint64_t cache_bytes = 128ULL << 20;  // of blocks read
  // Changes held in memory; write() waits for a flush beyond it, so callers flush() well before.
  std::uint64_t memory_bytes = 256ULL << 20;
  // For simulations: nothing runs in the background; files are merged by compact() alone.
  bool quiet = false;
};

// Changes that are made together or not at all.
class Batch {
 public:
  Batch();
  ~Batch();
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;

  void put(std::string_view key, std::string_view value);
  void erase(std::string_view key);
  void clear();
  bool is_empty() const;
  std::size_t size_bytes() const;

 private:
  friend class Kv;
  struct Changes;
  std::unique_ptr<Changes> changes_;
};

// Walks over the keys in order, as they were when it was made.
class Cursor {
 public:
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;
  ~Cursor();

  // To the first key that is not before `key`; to the last one that is not after it.
  void seek(std::string_view key);
  void seek_back(std::string_view key);
  void next();
  void previous();

  // False past either end, and after an error: ask status().
  bool is_valid() const;
  // Views live until the cursor moves. Requires: is_valid().
  std::string_view key() const;
  std::string_view value() const;
  // Errors: corrupt, io.
  Status status() const;

 private:
  friend class Kv;
  struct Position;
  explicit Cursor(std::unique_ptr<Position> position);
  std::unique_ptr<Position> position_;
};

class Kv {
 public:
  // Opens the map in a folder of `disk`, made if missing.
  // Errors: corrupt (some file is damaged or missing), conflict (it is open already), no_space, io.
  static Result<std::unique_ptr<Kv>> open(io::Disk& disk, const std::string& folder,
                                          KvOptions options);
  ~Kv();
  Kv(const Kv&) = delete;
  Kv& operator=(const Kv&) = delete;

  // Nothing when the key is not there. May wait for the disk. Errors: corrupt, io.
  Result<std::optional<std::string>> get(std::string_view key) const;

  // The same without ever waiting for the disk. Errors: would_block, when it would; corrupt, io.
  Result<std::optional<std::string>> get_cached(std::string_view key) const;

  // Visible to get() when it returns; durable after the next flush().
  // Errors: io, no_space, corrupt: an earlier flush or merge failed, and the map takes no more.
  Status write(const Batch& batch);

  // Everything written before the call is durable when it returns. It is not tried again after an
  // error: the map then takes no more, and is opened anew. Errors: no_space, io, corrupt.
  Status flush();

  // Merges files, drops what was erased. Blocks for long. Errors: corrupt, no_space, io.
  Status compact();

  Cursor cursor() const;
  // Two that see the same moment.
  std::pair<Cursor, Cursor> twin_cursors() const;

  // Reads every byte of every file and checks it. Errors: corrupt, naming the file; io.
  Status verify() const;

  std::uint64_t memory_bytes() const;    // changes not yet flushed
  std::uint64_t resident_bytes() const;  // all memory that it knows of
  std::uint64_t file_bytes() const;

 private:
  struct Engine;
  explicit Kv(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace leat::kv
