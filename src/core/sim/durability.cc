// The half of DiskState that decides what survives: syncs and crashes.
#include <algorithm>
#include <ranges>

#include "sim/disk_state.h"

namespace leat::sim {
namespace {

constexpr InodeId kRoot{1};

void apply(Content& content, const Unsynced& change, const SharedBytes& bytes) {
  if (change.call == DiskCall::truncate) {
    content.resize(change.offset);
  } else {
    content.write(change.offset, *bytes);
  }
}

}  // namespace

// The changes are applied one by one rather than taking the cache as a whole: after a failed sync
// the cache holds bytes that the disk must never get.
void DiskState::sync(InodeId id) {
  if (!inodes_.contains(id) || inode(id).pending.empty()) return;
  Inode& file = edit(id);
  for (const Unsynced& change : file.pending) {
    apply(file.durable, change, change.bytes);
  }
  file.pending.clear();
}

// A folder whose entries are still durable cannot have been removed: no file system stores that.
void DiskState::make_durable(const NameChange& change) {
  if (change.call == DiskCall::remove && !inode(change.inode).durable_names.empty()) return;
  if (const auto old = durable_places_.find(change.inode); old != durable_places_.end()) {
    edit(old->second.directory).durable_names.erase(old->second.name);
    durable_places_.erase(old);
  }
  if (change.call == DiskCall::remove || !inodes_.contains(change.to.directory)) return;
  auto& names = edit(change.to.directory).durable_names;
  if (const auto replaced = names.find(change.to.name); replaced != names.end()) {
    durable_places_.erase(replaced->second);
  }
  names[change.to.name] = change.inode;
  durable_places_[change.inode] = change.to;
}

void DiskState::sync_directory(InodeId id, const std::set<InodeId>& open) {
  std::set<Place> places;
  std::set<InodeId> moved;
  std::vector<NameChange> stored;
  std::vector<NameChange> kept;
  for (NameChange& change : std::views::reverse(name_changes_)) {
    const bool touches = change.from.directory == id || change.to.directory == id;
    const bool needed = places.contains(change.from) || places.contains(change.to) ||
                        moved.contains(change.inode) || moved.contains(change.from.directory);
    if (touches || needed) {
      if (change.call != DiskCall::open) places.insert(change.from);
      if (change.call != DiskCall::remove) places.insert(change.to);
      moved.insert(change.inode);
      stored.push_back(std::move(change));
    } else {
      kept.push_back(std::move(change));
    }
  }
  std::ranges::reverse(kept);
  name_changes_ = std::move(kept);
  bool only_new_names = true;
  for (const NameChange& change : std::views::reverse(stored)) {
    make_durable(change);
    only_new_names = only_new_names && change.call == DiskCall::open;
  }
  if (!only_new_names) sweep(open);
}

std::vector<Unsynced> DiskState::unsynced() const {
  std::vector<Unsynced> all;
  for (const NameChange& change : name_changes_) {
    all.push_back(Unsynced{change.call, change.inode, 0, nullptr});
  }
  for (const auto& [id, file] : inodes_) {
    all.insert(all.end(), file->pending.begin(), file->pending.end());
  }
  return all;
}

void DiskState::crash(const Chooser& choose) {
  for (const NameChange& change : std::exchange(name_changes_, {})) {
    if (choose(Unsynced{change.call, change.inode, 0, nullptr}).keep) make_durable(change);
  }
  for (const auto& id : std::views::keys(inodes_)) {
    Inode& made = edit(id);
    for (const Unsynced& change : made.pending) {
      const Fate fate = choose(change);
      if (fate.keep) apply(made.durable, change, fate.instead ? fate.instead : change.bytes);
    }
    made.pending.clear();
    made.cache = made.durable;
    made.names = made.durable_names;
    made.has_name = id == kRoot || durable_places_.contains(id);
  }
  sweep({});
  used_bytes_ = 0;
  for (const auto& [id, file] : inodes_) {
    used_bytes_ += file->cache.size();
  }
}

// Drops the inodes that no name, durable or not, no pending change and no open handle leads to.
void DiskState::sweep(const std::set<InodeId>& open) {
  std::vector<InodeId> todo(open.begin(), open.end());
  todo.push_back(kRoot);
  for (const NameChange& change : name_changes_) {
    todo.insert(todo.end(), {change.inode, change.from.directory, change.to.directory});
  }
  std::set<InodeId> reached;
  while (!todo.empty()) {
    const InodeId id = todo.back();
    todo.pop_back();
    if (!inodes_.contains(id) || !reached.insert(id).second) continue;
    for (const auto& child : std::views::values(inode(id).names)) {
      todo.push_back(child);
    }
    for (const auto& child : std::views::values(inode(id).durable_names)) {
      todo.push_back(child);
    }
  }
  const auto is_lost = [&reached](const auto& item) { return !reached.contains(item.first); };
  std::erase_if(inodes_, is_lost);
  std::erase_if(durable_places_, is_lost);
}

}  // namespace leat::sim
