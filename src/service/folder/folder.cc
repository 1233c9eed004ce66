#include "folder/folder.h"

#include <fmt/format.h>

#include <algorithm>

namespace leat::folder {
namespace {

constexpr std::uint64_t kWarmLookMaxBytes = 64 * kMiB;
constexpr Duration kWarmTrust = std::chrono::milliseconds(250);

std::string etag_of(const io::FileInfo& info) {
  return fmt::format("\"{:x}-{:x}-{:x}\"", info.inode, info.size_bytes,
                     info.modified.time_since_epoch().count());
}

bool is_same_version(const io::FileInfo& a, const io::FileInfo& b) {
  return a.inode == b.inode && a.size_bytes == b.size_bytes && a.modified == b.modified;
}

// Another descriptor of the same file that bypasses the page cache; null if it is not to be had:
// not every file system can, and the name may have been given to another file in between.
std::shared_ptr<const io::File> open_uncached(io::Disk& disk, const std::string& path,
                                              const io::FileInfo& known) {
  auto uncached = disk.open(path, io::OpenMode::read_uncached);
  if (!uncached) return nullptr;
  const auto info = (*uncached)->info();
  if (!info || !is_same_version(*info, known)) return nullptr;
  return std::move(*uncached);
}

Result<OpenFilePtr> open_now(io::Disk& disk, const std::string& path, std::uint64_t small_max) {
  LEAT_TRY(std::shared_ptr<io::File> file, disk.open(path, io::OpenMode::read));
  auto opened = std::make_shared<OpenFile>();
  LEAT_TRY(opened->info, file->info());
  if (opened->info.is_directory) return fail(Errc::not_found, path + " is a folder");
  opened->etag = etag_of(opened->info);
  const std::uint64_t size = opened->info.size_bytes;
  if (size <= small_max) {
    opened->content.resize(size);
    const MutableBytes target = std::as_writable_bytes(std::span(opened->content));
    LEAT_TRY(const std::size_t got, file->read_at(0, target));
    if (got < size) return fail(Errc::conflict, path + " changed while it was opened");
    return opened;
  }
  if (!file->is_cached(0, size)) opened->uncached = open_uncached(disk, path, opened->info);
  opened->file = std::move(file);
  return opened;
}

// What a look at the disk found. Being out of descriptors is told apart from a pool that is busy:
// only the first is mended by closing files.
struct Looked {
  OpenFilePtr file;
  bool out_of_descriptors = false;
};

// `known` again if the file has not changed; the new version otherwise.
Result<OpenFilePtr> reopen_if_changed(io::Disk& disk, const std::string& path, OpenFilePtr known,
                                      std::uint64_t small_max) {
  if (known) {
    LEAT_TRY(const io::FileInfo now, disk.info(path));
    if (is_same_version(now, known->info)) return known;
  }
  return open_now(disk, path, small_max);
}

Result<Looked> look(io::Disk& disk, const std::string& path, OpenFilePtr known,
                    std::uint64_t small_max) {
  auto file = reopen_if_changed(disk, path, std::move(known), small_max);
  if (file) return Looked{.file = std::move(*file)};
  if (file.error().code() == Errc::busy) return Looked{.file = nullptr, .out_of_descriptors = true};
  return fail(std::move(file).error());
}

}  // namespace

std::size_t files_max_for(std::uint64_t descriptors, std::uint32_t shards) {
  constexpr std::uint64_t kMin = 16;
  return std::clamp<std::uint64_t>(descriptors / 4 / shards, kMin, FolderOptions{}.files_max);
}

std::shared_ptr<const io::File> OpenFile::cold_source(std::uint64_t length) const {
  const bool first_time_through = read_bytes_ < info.size_bytes;
  read_bytes_ += length;
  return first_time_through ? uncached : nullptr;
}

bool OpenFile::is_warm(Instant now) const {
  if (now < warm_until_) return true;
  // One look costs about 3 µs a MiB: of a huge file, only what is sent is looked at, by the sender.
  if (info.size_bytes > kWarmLookMaxBytes || !file->is_cached(0, info.size_bytes)) return false;
  warm_until_ = now + kWarmTrust;
  return true;
}

Status FolderState::check_writable() const {
  if (!is_failed()) return {};
  return fail(Errc::unavailable,
              "a sync of this folder's disk has failed: it takes no changes until Leat is started "
              "anew");
}

Status FolderState::judge_sync(Status synced) {
  // A full disk is told apart: the bytes that found no room were not acknowledged, and are written
  // again by who tries again.
  if (!synced && synced.error().code() == Errc::io && !is_failed_.exchange(true) && failed_) {
    failed_(synced.error());
  }
  return synced;
}

bool Folder::is_trusted(const Entry& entry) const {
  return entry.changes == state_.changes() &&
         clock_.now() - entry.checked <= state_.options().trust;
}

OpenFilePtr Folder::find(std::string_view path) {
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return nullptr;
  const Entries::iterator entry = found->second;
  if (!is_trusted(*entry)) return nullptr;
  entries_.splice(entries_.begin(), entries_, entry);
  return entry->file;
}

rt::Task<OpenFilePtr> Folder::open(std::string path) {
  const std::uint64_t changes = state_.changes();
  const auto found = by_path_.find(path);
  OpenFilePtr known = found == by_path_.end() ? nullptr : found->second->file;
  const std::uint64_t small_max = state_.options().small_max_bytes;
  auto work = [&disk = state_.disk(), path, known, small_max] {
    return look(disk, path, known, small_max);
  };
  auto looked = co_await state_.pool().run<Looked>(work);
  if (looked && looked->out_of_descriptors) {
    make_room();
    looked = co_await state_.pool().run<Looked>(work);
  }
  if (!looked) {
    forget(path);
    co_return fail(std::move(looked).error());
  }
  if (looked->out_of_descriptors) co_return fail(Errc::busy, "too many files are open");
  co_return keep(std::move(path), std::move(looked->file), changes);
}

void Folder::make_room() {
  for (std::size_t left = entries_.size() / 2; entries_.size() > left;) {
    forget(std::prev(entries_.end()));
  }
}

rt::Task<void> Folder::remove(std::string path) {
  LEAT_CO_DO(state_.check_writable());
  auto work = [&state = state_, path]() -> Status {
    io::Disk& disk = state.disk();
    LEAT_TRY(const io::FileInfo found, disk.info(path));
    if (found.is_directory) return fail(Errc::not_found, path + " is a folder");
    LEAT_DO(disk.remove(path));
    const std::string parent = parent_of(path);
    return state.judge_sync(disk.sync_directory(parent.empty() ? "." : parent));
  };
  Status removed = co_await state_.pool().run<void>(std::move(work));
  state_.note_change();
  forget(path);
  co_return removed;
}

rt::Task<void> Folder::sweep() {
  // A few at a time, so that requests find a thread of the pool.
  constexpr std::size_t kBatch = 256;
  std::vector<Doubt> doubts;
  for (const Entry& entry : entries_) {
    if (!is_trusted(entry)) doubts.push_back({.path = entry.path, .info = entry.file->info});
  }
  while (!doubts.empty()) {
    const std::size_t left = doubts.size() - std::min(doubts.size(), kBatch);
    const auto first = doubts.begin() + static_cast<std::ptrdiff_t>(left);
    std::vector<Doubt> batch(std::make_move_iterator(first), std::make_move_iterator(doubts.end()));
    doubts.resize(left);
    LEAT_CO_DO(co_await settle(std::move(batch)));
  }
  co_return Status{};
}

rt::Task<void> Folder::settle(std::vector<Doubt> doubts) {
  const std::uint64_t changes = state_.changes();
  const Instant checked = clock_.now();
  auto work = [&disk = state_.disk(), doubts = std::move(doubts)]() mutable {
    for (Doubt& doubt : doubts) {
      const auto now = disk.info(doubt.path);
      doubt.is_unchanged = now && is_same_version(*now, doubt.info);
    }
    return Result<std::vector<Doubt>>(std::move(doubts));
  };
  LEAT_CO_TRY(const auto settled, co_await state_.pool().run<std::vector<Doubt>>(std::move(work)));
  for (const Doubt& doubt : settled) {
    const auto found = by_path_.find(doubt.path);
    // Meanwhile it may have been closed, or opened anew.
    if (found == by_path_.end()) continue;
    const Entries::iterator entry = found->second;
    if (!is_same_version(entry->file->info, doubt.info)) continue;
    if (doubt.is_unchanged) {
      entry->checked = std::max(entry->checked, checked);
      entry->changes = std::max(entry->changes, changes);
    } else {
      forget(entry);
    }
  }
  co_return Status{};
}

rt::Task<void> Folder::keep_swept() {
  while (true) {
    LEAT_CO_DO(co_await clock_.sleep_until(clock_.now() + state_.options().sweep_period));
    // A pool that is busy now is asked again the next time.
    (void)co_await sweep();
  }
}

OpenFilePtr Folder::keep(std::string path, OpenFilePtr file, std::uint64_t changes) {
  forget(path);
  memory_bytes_ += file->content.size();
  entries_.push_front({std::move(path), file, clock_.now(), changes});
  by_path_.emplace(entries_.front().path, entries_.begin());
  const FolderOptions& options = state_.options();
  while (entries_.size() > options.files_max ||
         (memory_bytes_ > options.memory_max_bytes && entries_.size() > 1)) {
    forget(std::prev(entries_.end()));
  }
  return file;
}

void Folder::forget(std::string_view path) {
  if (const auto found = by_path_.find(path); found != by_path_.end()) forget(found->second);
}

void Folder::forget(Entries::iterator entry) {
  memory_bytes_ -= entry->file->content.size();
  by_path_.erase(entry->path);
  entries_.erase(entry);
}

bool is_servable(std::string_view path) {
  if (path.empty() || path.find('\0') != path.npos) return false;
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (name.empty() || name == "." || name == "..") return false;
    if (name.starts_with(Folder::kUploadPrefix)) return false;
    if (slash == path.npos) return true;
    path.remove_prefix(slash + 1);
  }
}

std::string parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == path.npos ? "" : path.substr(0, slash));
}

}  // namespace leat::folder
