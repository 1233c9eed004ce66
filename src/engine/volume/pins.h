// Pins: files of large objects that are held in memory, verified.
//
// Zero-copy sending takes bytes from the page cache, which the kernel may drop and read again from
// a disk that has rotted since they were verified. A pinned file is mapped, locked in memory, and
// verified after that: what happens on the disk cannot reach its pages any more, so they may be
// sent as often as wanted without summing them again. Somebody who writes to the file through the
// file system does reach them; that shows in the file's time of change, which is looked at for each
// request (docs/adr/0013-verified-bytes-stay-in-memory.md).
//
// While there is room, what is read whole is pinned at once, and so is a file of which as much was
// read in parts as it has: samples of a shard, above all. After that only what is read a second
// time soon, in the place of what was not used for longest: one scan of a large set pushes nothing
// out.
//
// Shard: one, for all disks. Pages pinned by two shards are in memory once.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <unordered_map>

#include "io/disk.h"
#include "record/types.h"

namespace leat::volume {

struct Pin {
  std::unique_ptr<io::Mapping> mapping{};
  std::shared_ptr<const io::File> file{};
  WallTime changed{};  // of the file, before it was verified
};
using PinPtr = std::shared_ptr<const Pin>;

class Pins {
 public:
  explicit Pins(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // Null when the file is not pinned, or was written to since.
  PinPtr find(record::FileId file);

  // Lets go of files that were removed or written to since: their space is free only then.
  void let_go_of_changed();

  // Lets go of everything, also of what is only about to be pinned: a disk is taken out.
  void clear();

  // Somebody has read all of a file that is not pinned: true if it should be pinned now. The caller
  // then does, and calls done().
  bool wants(record::FileId file, std::uint64_t size_bytes);
  // The same for who has read some bytes of it.
  bool wants_after(record::FileId file, std::uint64_t size_bytes, std::uint64_t read_bytes);
  // `pin` is null if it could not be done.
  void done(record::FileId file, PinPtr pin);

  std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  // How many files are remembered that were read once, or in parts.
  static constexpr std::size_t kSeenMax = 4096;

  struct Entry {
    record::FileId file;
    PinPtr pin;
    std::uint64_t size_bytes;
  };
  using Entries = std::list<Entry>;

  static bool is_changed(const Pin& pin);
  bool was_seen(record::FileId file);
  void drop(Entries::iterator entry);
  void make_room(std::uint64_t size_bytes);

  const std::uint64_t max_bytes_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t pending_bytes_ = 0;
  Entries entries_;  // the most recently used first
  std::unordered_map<std::uint64_t, Entries::iterator> by_file_;
  std::unordered_map<std::uint64_t, std::uint64_t> pending_;  // being pinned, with their size
  std::unordered_map<std::uint64_t, std::uint64_t> parts_;    // read in parts, how many bytes
  std::list<record::FileId> seen_;                            // the latest first
  std::set<record::FileId> seen_set_;
};

}  // namespace leat::volume
