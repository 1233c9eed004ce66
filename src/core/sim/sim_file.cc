// The part of SimDisk that deals with open files.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "sim/sim_disk.h"

namespace leat::sim {
namespace {

constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 40;

// Uncached reads need this alignment of offset, size and buffer, like the kernel's.
constexpr std::uint64_t kAlignment = 512;

bool is_aligned(std::uint64_t offset, MutableBytes target) {
  const auto address = reinterpret_cast<std::uintptr_t>(target.data());
  return offset % kAlignment == 0 && target.size() % kAlignment == 0 && address % kAlignment == 0;
}

bool may_write(io::OpenMode mode) {
  return mode != io::OpenMode::read && mode != io::OpenMode::read_uncached;
}

}  // namespace

class SimDisk::OpenFile final : public io::File {
 public:
  OpenFile(SimDisk& disk, InodeId id, std::string path, io::OpenMode mode)
      : disk_(disk), id_(id), path_(std::move(path)), mode_(mode), boot_(disk.boots_) {
    ++disk_.open_[id_];
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() override {
    if (boot_ == disk_.boots_) disk_.close(id_, holds_lock_);
  }

  Result<std::size_t> read_at(std::uint64_t offset, MutableBytes target) const override {
    LEAT_DO(check_alive());
    LEAT_DO(disk_.enter(DiskCall::read, path_, offset, target.size()));
    if (mode_ == io::OpenMode::read_uncached && !is_aligned(offset, target)) {
      return fail(Error::from_errno(EINVAL, "unaligned read of " + path_));
    }
    return disk_.state_.inode(id_).cache.read(offset, target);
  }

  Result<std::size_t> try_read_at(std::uint64_t offset, MutableBytes target) const override {
    return read_at(offset, target);
  }

  Result<std::size_t> write_at(std::uint64_t offset, Bytes source) override {
    LEAT_DO(check_alive());
    LEAT_DO(check_writable());
    return disk_.write(id_, path_, offset, source);
  }

  Status sync_data() override {
    LEAT_DO(check_alive());
    return disk_.sync(id_, path_);
  }

  Status truncate(std::uint64_t size_bytes) override {
    LEAT_DO(check_alive());
    LEAT_DO(check_writable());
    return disk_.truncate(id_, path_, size_bytes);
  }

  Result<io::FileInfo> info() const override {
    LEAT_DO(check_alive());
    LEAT_DO(disk_.enter(DiskCall::info, path_));
    return disk_.info_of(id_);
  }

  Status lock() override {
    LEAT_DO(check_alive());
    LEAT_DO(disk_.enter(DiskCall::lock, path_));
    if (holds_lock_) return {};
    if (!disk_.locked_.insert(id_).second) {
      return fail(Errc::conflict, fmt::format("lock {}: another holds it", path_));
    }
    holds_lock_ = true;
    return {};
  }

  bool is_cached(std::uint64_t, std::uint64_t) const override { return true; }
  Result<std::unique_ptr<io::Mapping>> map_locked(std::uint64_t /*length*/) const override {
    return fail(Errc::not_implemented, "simulated files have no pages");
  }

  int descriptor() const override { return -1; }

 private:
  Status check_alive() const {
    if (boot_ == disk_.boots_) return {};
    return fail(Errc::io, fmt::format("{}: disk was rebooted", path_));
  }

  Status check_writable() const {
    if (may_write(mode_)) return {};
    return fail(Error::from_errno(EBADF, "write to " + path_));
  }

  SimDisk& disk_;
  const InodeId id_;
  const std::string path_;
  const io::OpenMode mode_;
  const std::uint64_t boot_;
  bool holds_lock_ = false;
};

Result<InodeId> SimDisk::find_or_create(const std::string& path, io::OpenMode mode) {
  const bool must_create = mode == io::OpenMode::create_new || mode == io::OpenMode::create_private;
  const bool may_create = must_create || mode == io::OpenMode::create;
  Result<InodeId> found = state_.find(path);
  if (found && must_create) return fail(Error::from_errno(EEXIST, path));
  if (found || !may_create || found.error().code() != Errc::not_found) return found;
  LEAT_TRY(const InodeId id, state_.create_file(path, clock_.wall_now()));
  log({.call = DiskCall::open, .path = path, .inode = id});
  return id;
}

Result<std::unique_ptr<io::File>> SimDisk::open(const std::string& path, io::OpenMode mode) {
  LEAT_DO(enter(DiskCall::open, path, static_cast<std::uint64_t>(mode)));
  LEAT_TRY(const InodeId id, find_or_create(path, mode));
  if (state_.inode(id).is_directory) return fail(Error::from_errno(EISDIR, "open " + path));
  return std::make_unique<OpenFile>(*this, id, path, mode);
}

void SimDisk::close(InodeId id, bool held_lock) {
  if (held_lock) locked_.erase(id);
  if (--open_.at(id) == 0) open_.erase(id);
}

Result<std::size_t> SimDisk::write(InodeId id, const std::string& path, std::uint64_t offset,
                                   Bytes source) {
  LEAT_TRY(const Verdict verdict, enter(DiskCall::write, path, offset, source.size()));
  if (source.empty()) return std::size_t{0};
  if (offset >= kFileBytesMax || source.size() > kFileBytesMax - offset) {
    return fail(Error::from_errno(EFBIG, "write " + path));
  }
  const std::uint64_t size = state_.inode(id).cache.size();
  const std::uint64_t limit = size + available_bytes();
  if (offset >= limit) return fail(Error::from_errno(ENOSPC, "write " + path));
  std::size_t count = std::min<std::uint64_t>(source.size(), limit - offset);
  if (verdict.shorten && count > 1) count = 1 + rng_.below(count - 1);

  const std::uint64_t end = offset + count;
  if (!verdict.lose) {
    auto bytes = std::make_shared<const std::vector<std::byte>>(
        source.begin(), source.begin() + static_cast<std::ptrdiff_t>(count));
    state_.write(id, offset, bytes, clock_.wall_now());
    log({.call = DiskCall::write,
         .path = path,
         .offset = offset,
         .length = count,
         .inode = id,
         .bytes = bytes});
  } else if (end > size) {
    // The file's size is metadata and takes another way: it grows, its new bytes are zeros.
    state_.truncate(id, end, clock_.wall_now());
    log({.call = DiskCall::truncate, .path = path, .length = end, .inode = id});
  }
  return count;
}

// A failed sync loses what it should have stored, and the next one succeeds without it: that is
// what Linux file systems do, and why a caller must not try again
// (docs/adr/0007-durable-by-default.md).
Status SimDisk::sync(InodeId id, const std::string& path) {
  const Result<Verdict> verdict = enter(DiskCall::sync, path);
  verdict ? state_.sync(id) : state_.lose_pending(id);
  log({.call = DiskCall::sync, .path = path, .failed = !verdict, .inode = id});
  if (verdict) return {};
  if (verdict.error().code() != Errc::busy) return fail(verdict.error().clone());
  return fail(io::failed_sync(EIO, path));
}

Status SimDisk::truncate(InodeId id, const std::string& path, std::uint64_t size_bytes) {
  LEAT_DO(enter(DiskCall::truncate, path, size_bytes));
  const std::uint64_t size = state_.inode(id).cache.size();
  if (size_bytes > kFileBytesMax) return fail(Error::from_errno(EFBIG, "truncate " + path));
  if (size_bytes > size && size_bytes - size > available_bytes()) {
    return fail(Error::from_errno(ENOSPC, "truncate " + path));
  }
  state_.truncate(id, size_bytes, clock_.wall_now());
  log({.call = DiskCall::truncate, .path = path, .length = size_bytes, .inode = id});
  return {};
}

}  // namespace leat::sim
