// Folder: the files below one directory, opened once and kept ready — what `leat share` serves.
//
// Small files are kept in memory, larger ones as open descriptors; both in one bounded
// least-recently-used table per shard. An entry is trusted for a while; after that, and after any
// change made through Leat on any shard, the file is looked at again. A reader that has an OpenFile
// keeps the version it opened, whatever happens to the name. A version that is gone is closed by
// the next sweep at the latest, so that its space is not held for ever.
//
// Shard: one Folder a shard; FolderState is what they share. Paths are relative, with '/' between
// names.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/clock.h"
#include "io/disk.h"
#include "rt/blocking_pool.h"

namespace leat::folder {

// One version of a file. Immutable, but for how much of it was read.
struct OpenFile {
  io::FileInfo info;
  std::string etag;                          // with its quotes
  std::string content;                       // all of a small file
  std::shared_ptr<const io::File> file;      // of a larger one
  std::shared_ptr<const io::File> uncached;  // bypasses the page cache; only if the file was cold

  // How to read cold bytes: around the page cache the first time through the file, so that one scan
  // of a large data set does not flush it; through the cache from then on.
  std::shared_ptr<const io::File> cold_source(std::uint64_t length) const;

  // True when all of a larger file was seen in the page cache a moment ago: no need to look again.
  bool is_warm(Instant now) const;

 private:
  mutable std::uint64_t read_bytes_ = 0;
  mutable Instant warm_until_{};
};

struct FolderOptions {
  std::uint64_t small_max_bytes = 32 * 1024;  // kept in memory up to this size
  std::uint64_t memory_max_bytes = 64 << 20;  // of one shard, for small files
  std::size_t files_max = 4096;               // of one shard; each may hold two descriptors
  Duration trust = std::chrono::seconds(1);
  Duration sweep_period = std::chrono::seconds(5);
};

// What the shards share. Safe from any thread.
class FolderState {
 public:
  // Lifetime: disk and pool outlive it.
  FolderState(io::Disk& disk, rt::BlockingPool& pool, FolderOptions options,
              std::function<void(const Error&)> failed = {})
      : disk_(disk), pool_(pool), options_(options), failed_(std::move(failed)) {}

  io::Disk& disk() { return disk_; }
  rt::BlockingPool& pool() { return pool_; }
  const FolderOptions& options() const { return options_; }

  // After a failed sync nobody knows what is on the disk (docs/adr/0007-durable-by-default.md): the
  // folder takes no more changes while this process runs. `failed` is called once, from whatever
  // thread found it. Errors: unavailable.
  Status check_writable() const;
  bool is_failed() const { return is_failed_.load(std::memory_order_acquire); }

  // A status of a sync, on its way up: a failure of the disk fails the folder.
  Status judge_sync(Status synced);

  // Grows with every change made through Leat.
  std::uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  void note_change() { changes_.fetch_add(1, std::memory_order_acq_rel); }

 private:
  io::Disk& disk_;
  rt::BlockingPool& pool_;
  FolderOptions options_;
  std::function<void(const Error&)> failed_;
  std::atomic<bool> is_failed_{false};
  std::atomic<std::uint64_t> changes_{0};
};

// How many files each of `shards` may keep open, so that half of the descriptors are left for
// connections.
std::size_t files_max_for(std::uint64_t descriptors, std::uint32_t shards);

using OpenFilePtr = std::shared_ptr<const OpenFile>;

class Folder {
 public:
  // Names that begin so are ours: uploads that are not finished. They are never served.
  static constexpr std::string_view kUploadPrefix = ".leat-upload-";

  // Lifetime: state and clock outlive it.
  Folder(FolderState& state, io::Clock& clock) : state_(state), clock_(clock) {}

  // The entry for a path if it is there and trusted; null otherwise. Never waits.
  OpenFilePtr find(std::string_view path);

  // The file at a path, opened now if need be. When descriptors run out, the half of the table that
  // was not used for longest is closed for it.
  // Errors: not_found (also for folders), denied, busy, io.
  rt::Task<OpenFilePtr> open(std::string path);

  bool is_warm(const OpenFile& file) const { return file.is_warm(clock_.now()); }

  // Errors: not_found (also for folders), denied, io, unavailable (after a failed sync). Durable
  // when it returns.
  rt::Task<void> remove(std::string path);

  // Closes the file of that name, if it is open: it was just replaced or removed.
  void forget(std::string_view path);

  // Looks at every entry that is not trusted any more and closes those whose file is gone or
  // changed. Errors: busy.
  rt::Task<void> sweep();

  // Sweeps every sweep_period, for as long as the shard runs.
  rt::Task<void> keep_swept();

  FolderState& state() { return state_; }
  std::size_t open_files() const { return entries_.size(); }

 private:
  struct Entry {
    std::string path;
    OpenFilePtr file;
    Instant checked;
    std::uint64_t changes = 0;  // of the state when it was checked
  };
  using Entries = std::list<Entry>;

  // An entry to be looked at, and what was found.
  struct Doubt {
    std::string path;
    io::FileInfo info;
    bool is_unchanged = false;
  };

  bool is_trusted(const Entry& entry) const;
  rt::Task<void> settle(std::vector<Doubt> doubts);
  void make_room();
  OpenFilePtr keep(std::string path, OpenFilePtr file, std::uint64_t changes);
  void forget(Entries::iterator entry);

  FolderState& state_;
  io::Clock& clock_;
  Entries entries_;                                                  // the most recently used first
  std::unordered_map<std::string_view, Entries::iterator> by_path_;  // keys live in the entries
  std::uint64_t memory_bytes_ = 0;
};

// True for a relative path of plain names: no empty ones, no "." or "..", no NUL, none of ours.
bool is_servable(std::string_view path);

// "" for a file directly below the root.
std::string parent_of(std::string_view path);

}  // namespace leat::folder
