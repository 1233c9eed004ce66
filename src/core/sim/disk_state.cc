#include "sim/disk_state.h"

#include <fmt/format.h>

#include <cerrno>
#include <string_view>

#include "base/check.h"

namespace leat::sim {
namespace {

constexpr InodeId kRoot{1};

Result<std::vector<std::string>> split(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < path.size();) {
    std::size_t end = path.find('/', begin);
    if (end == std::string::npos) end = path.size();
    std::string part = path.substr(begin, end - begin);
    if (part == "..") return fail(Errc::bad_request, path + ": '..' in a simulated path");
    if (!part.empty() && part != ".") parts.push_back(std::move(part));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

DiskState::DiskState() {
  auto root = std::make_shared<Inode>();
  root->is_directory = true;
  root->has_name = true;
  inodes_.emplace(kRoot, std::move(root));
}

DiskState::Inode& DiskState::edit(InodeId id) {
  std::shared_ptr<Inode>& slot = inodes_.at(id);
  if (slot.use_count() > 1) slot = std::make_shared<Inode>(*slot);
  return *slot;
}

Result<InodeId> DiskState::find(const std::string& path) const {
  LEAT_TRY(const auto parts, split(path));
  InodeId at = kRoot;
  for (const std::string& part : parts) {
    const Inode& directory = inode(at);
    if (!directory.is_directory) return fail(Error::from_errno(ENOTDIR, path));
    const auto entry = directory.names.find(part);
    if (entry == directory.names.end()) return fail(Error::from_errno(ENOENT, path));
    at = entry->second;
  }
  return at;
}

Result<DiskState::Place> DiskState::place_of(const std::string& path) const {
  LEAT_TRY(auto parts, split(path));
  if (parts.empty()) return fail(Error::from_errno(EINVAL, path));
  std::string parent;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    parent += "/" + parts[i];
  }
  LEAT_TRY(const InodeId directory, find(parent));
  if (!inode(directory).is_directory) return fail(Error::from_errno(ENOTDIR, path));
  return Place{directory, std::move(parts.back())};
}

void DiskState::link(const Place& place, InodeId id) {
  edit(place.directory).names[place.name] = id;
  edit(id).has_name = true;
  used_bytes_ += inode(id).cache.size();
}

void DiskState::unlink(const Place& place) {
  const InodeId id = inode(place.directory).names.at(place.name);
  edit(place.directory).names.erase(place.name);
  edit(id).has_name = false;
  used_bytes_ -= inode(id).cache.size();
}

InodeId DiskState::add(Place place, Inode made) {
  const InodeId id(next_id_++);
  inodes_.emplace(id, std::make_shared<Inode>(std::move(made)));
  link(place, id);
  name_changes_.push_back(NameChange{DiskCall::open, id, {}, std::move(place)});
  return id;
}

Result<InodeId> DiskState::create_file(const std::string& path, WallTime now) {
  LEAT_TRY(Place place, place_of(path));
  if (inode(place.directory).names.contains(place.name)) {
    return fail(Error::from_errno(EEXIST, path));
  }
  Inode made;
  made.modified = now;
  return add(std::move(place), std::move(made));
}

Status DiskState::make_directories(const std::string& path, WallTime now) {
  LEAT_TRY(const auto parts, split(path));
  InodeId at = kRoot;
  for (const std::string& part : parts) {
    const auto entry = inode(at).names.find(part);
    if (entry == inode(at).names.end()) {
      Inode made;
      made.is_directory = true;
      made.modified = now;
      at = add(Place{at, part}, std::move(made));
    } else {
      at = entry->second;
      if (!inode(at).is_directory) return fail(Error::from_errno(ENOTDIR, path));
    }
  }
  return {};
}

bool DiskState::is_inside(InodeId id, InodeId directory) const {
  if (id == directory) return true;
  for (const auto& [name, child] : inode(directory).names) {
    if (is_inside(id, child)) return true;
  }
  return false;
}

Status DiskState::check_replace(InodeId source, InodeId target, const std::string& what) const {
  if (!inode(source).is_directory) {
    return inode(target).is_directory ? Status(fail(Error::from_errno(EISDIR, what))) : Status{};
  }
  if (!inode(target).is_directory) return fail(Error::from_errno(ENOTDIR, what));
  if (!inode(target).names.empty()) return fail(Error::from_errno(ENOTEMPTY, what));
  return {};
}

Status DiskState::rename(const std::string& from, const std::string& to) {
  const std::string what = fmt::format("rename {} to {}", from, to);
  LEAT_TRY(Place source, place_of(from));
  LEAT_TRY(const InodeId id, find(from));
  LEAT_TRY(Place target, place_of(to));
  if (source == target) return {};
  if (is_inside(target.directory, id)) return fail(Error::from_errno(EINVAL, what));
  const auto& names = inode(target.directory).names;
  if (const auto old = names.find(target.name); old != names.end()) {
    LEAT_DO(check_replace(id, old->second, what));
    unlink(target);
  }
  unlink(source);
  link(target, id);
  name_changes_.push_back(NameChange{DiskCall::rename, id, std::move(source), std::move(target)});
  return {};
}

Status DiskState::remove(const std::string& path) {
  LEAT_TRY(Place place, place_of(path));
  LEAT_TRY(const InodeId id, find(path));
  if (!inode(id).names.empty()) return fail(Error::from_errno(ENOTEMPTY, path));
  unlink(place);
  name_changes_.push_back(NameChange{DiskCall::remove, id, std::move(place), {}});
  return {};
}

void DiskState::write(InodeId id, std::uint64_t offset, SharedBytes bytes, WallTime now) {
  if (!inodes_.contains(id)) return;
  Inode& file = edit(id);
  const std::uint64_t before = file.cache.size();
  file.cache.write(offset, *bytes);
  if (file.has_name) used_bytes_ += file.cache.size() - before;
  file.modified = now;
  file.pending.push_back(Unsynced{DiskCall::write, id, offset, std::move(bytes)});
}

void DiskState::truncate(InodeId id, std::uint64_t size_bytes, WallTime now) {
  if (!inodes_.contains(id)) return;
  Inode& file = edit(id);
  if (file.has_name) used_bytes_ = used_bytes_ - file.cache.size() + size_bytes;
  file.cache.resize(size_bytes);
  file.modified = now;
  file.pending.push_back(Unsynced{DiskCall::truncate, id, size_bytes, nullptr});
}

void DiskState::lose_pending(InodeId id) {
  if (inodes_.contains(id)) edit(id).pending.clear();
}

void DiskState::flip_bit(InodeId id, std::uint64_t offset, unsigned bit) {
  Inode& file = edit(id);
  file.cache.flip_bit(offset, bit);
  if (offset < file.durable.size()) file.durable.flip_bit(offset, bit);
}

}  // namespace leat::sim
