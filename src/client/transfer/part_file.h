// PartFile: a download that is not complete yet, and what of it is there.
//
// The bytes stand where they belong; behind them, from `size_bytes` on, stands what is needed to go
// on after the process has died: one line, then a byte for each part, '1' when it has arrived.
//
//   leat-part 1 <part bytes> <etag>\n
//   1101…
//
// complete() cuts this off, and the file is renamed to its name. A part is marked after its bytes
// were written; a machine that loses power may keep the mark and lose the bytes, which the checksum
// of the whole object finds.
//
// Calls block: they run on a pool. One at a time, but for file().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/disk.h"
#include "transfer/parts.h"

namespace leat::transfer {

// The name of a file, and in a tree those of the folders above it, are there after a power cut.
Status sync_name(io::Disk& disk, const std::string& path);

// Opens or makes the file that `path` is while it is incomplete, for this process alone until it
// is closed: two that write to it would mix their bytes.
// Errors: conflict, when another process works on it; as Disk::open().
Result<std::unique_ptr<io::File>> open_locked_part(io::Disk& disk, const std::string& path);

class PartFile {
 public:
  // Opens or makes the file that `path` is while it is incomplete. What was begun for another
  // object, or cut differently, starts again; so does everything if it does not go on.
  // Errors: conflict, when another process works on it; as Disk::open().
  static Result<std::unique_ptr<PartFile>> open(io::Disk& disk, std::string path,
                                                const PartPlan& parts, const std::string& etag,
                                                bool goes_on = true);

  io::File& file() { return *file_; }
  bool has(std::uint32_t part) const { return arrived_[part]; }
  // Where to write '1' once the part has arrived.
  std::uint64_t mark_offset(std::uint32_t part) const;

  // All parts are there and good: the file gets its name and the object's time. A durable one has
  // them after a power cut as well.
  Status complete(WallTime modified, bool is_durable = false);
  // What is there is bad: the next attempt starts from nothing.
  Status discard();

 private:
  PartFile(io::Disk& disk, std::string path, std::uint64_t size, std::unique_ptr<io::File> file)
      : disk_(disk), path_(std::move(path)), size_(size), file_(std::move(file)) {}

  io::Disk& disk_;
  std::string path_;
  std::uint64_t size_;
  std::unique_ptr<io::File> file_;
  std::string line_;
  std::vector<bool> arrived_;
};

}  // namespace leat::transfer
