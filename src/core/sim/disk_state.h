// DiskState: files and folders with what is durable kept apart from what is only in the cache.
//
// It is a value: a copy is an independent disk and cheap (inodes and pages are shared until
// written). It knows nothing of faults, handles or time; SimDisk adds these.
//
// Invariants
//   1. A file's cache is what readers see; its durable bytes are what survives a crash by
//   themselves;
//      `pending` holds the changes since the last sync, in order.
//   2. A name change is pending until one of the folders it touches is synced. Syncing a change
//   makes
//      the earlier ones on the same names and the same file durable too: no order is inverted.
//   3. An inode has at most one name, and at most one durable name (there are no hard links).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/strong.h"
#include "base/time.h"
#include "sim/content.h"
#include "sim/disk_call.h"

namespace leat::sim {

using InodeId = Strong<std::uint64_t, struct InodeIdTag>;

// One change that a crash may undo.
struct Unsynced {
  DiskCall call;  // write, truncate; open (a new name), rename, remove
  InodeId inode;
  std::uint64_t offset = 0;  // truncate: the new size
  SharedBytes bytes;         // write only
};

// What a crash makes of it. A write may be stored with other bytes than were written.
struct Fate {
  bool keep = false;
  SharedBytes instead;
};

class DiskState {
 public:
  using Chooser = std::function<Fate(const Unsynced&)>;

  struct Inode {
    bool is_directory = false;
    bool has_name = false;
    WallTime modified{};
    Content cache;
    Content durable;
    std::vector<Unsynced> pending;
    std::map<std::string, InodeId> names;
    std::map<std::string, InodeId> durable_names;
  };

  DiskState();

  // Errors of all: not_found and the like, with the path.
  Result<InodeId> find(const std::string& path) const;
  Result<InodeId> create_file(const std::string& path, WallTime now);
  Status make_directories(const std::string& path, WallTime now);
  Status rename(const std::string& from, const std::string& to);
  Status remove(const std::string& path);

  // Requires: the inode exists. Changes to a file that is gone are ignored: nobody can see them.
  const Inode& inode(InodeId id) const { return *inodes_.at(id); }
  void write(InodeId id, std::uint64_t offset, SharedBytes bytes, WallTime now);
  void truncate(InodeId id, std::uint64_t size_bytes, WallTime now);
  void sync(InodeId id);

  // What a failed sync does: the cache is clean, the disk has nothing.
  void lose_pending(InodeId id);
  void flip_bit(InodeId id, std::uint64_t offset, unsigned bit);
  void sync_directory(InodeId id, const std::set<InodeId>& open);

  // All changes that a crash would ask about, in the order it asks.
  std::vector<Unsynced> unsynced() const;
  void crash(const Chooser& choose);

  // Bytes of all named files. Holes count as if they were written.
  std::uint64_t used_bytes() const { return used_bytes_; }
  std::size_t inode_count() const { return inodes_.size(); }

 private:
  struct Place {
    InodeId directory;
    std::string name;
    auto operator<=>(const Place&) const = default;
  };
  struct NameChange {
    DiskCall call;
    InodeId inode;
    Place from;  // open: unused
    Place to;    // remove: unused
  };

  Result<Place> place_of(const std::string& path) const;
  Inode& edit(InodeId id);
  InodeId add(Place place, Inode inode);
  void link(const Place& place, InodeId id);
  void unlink(const Place& place);
  void make_durable(const NameChange& change);
  Status check_replace(InodeId source, InodeId target, const std::string& what) const;
  bool is_inside(InodeId id, InodeId directory) const;
  void sweep(const std::set<InodeId>& open);

  std::map<InodeId, std::shared_ptr<Inode>> inodes_;
  std::vector<NameChange> name_changes_;
  std::map<InodeId, Place> durable_places_;
  std::uint64_t next_id_ = 2;
  std::uint64_t used_bytes_ = 0;
};

}  // namespace leat::sim
