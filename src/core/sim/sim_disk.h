// SimDisk: a file system in memory that crashes, fails and rots on request.
//
// It keeps to the promises of io/disk.h and to nothing more: bytes that were not synced, and names
// whose folder was not synced, may be gone after crash(). Every call is counted and can be made to
// fail (sim/fault_plan.h); changes can be logged and played back up to any point, to crash at every
// one.
//
// Shard: the world's only one; not safe from several threads.
// Lifetime: outlives the files it opened; the clock outlives the disk.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "io/disk.h"
#include "sim/crash.h"
#include "sim/disk_state.h"
#include "sim/fault_plan.h"
#include "sim/sim_clock.h"

namespace leat::sim {

// One logged call that changed the disk.
struct Operation {
  DiskCall call = DiskCall::open;
  std::string path{};
  std::string to{};  // rename only
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  // write: bytes written; truncate: the new size
  bool failed = false;       // a sync that failed, and thereby lost what was unsynced
  InodeId inode{};           // calls on an open file
  SharedBytes bytes{};       // write only
};

class SimDisk final : public io::Disk {
 public:
  static constexpr std::uint64_t kDefaultCapacityBytes = 64 * kGiB;

  // `name` stands in the trace.
  SimDisk(const SimClock& clock, std::uint64_t seed, std::string name = "disk");
  SimDisk(const SimDisk&) = delete;
  SimDisk& operator=(const SimDisk&) = delete;

  Result<std::unique_ptr<io::File>> open(const std::string& path, io::OpenMode mode) override;
  Result<io::FileInfo> info(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status make_directories(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Status sync_directory(const std::string& path) override;
  Result<io::DiskSpace> space(const std::string& path) override;

  FaultPlan& faults() { return faults_; }
  void set_capacity(std::uint64_t bytes) { capacity_bytes_ = bytes; }

  // Turns a stored bit over, in the cache and on the disk. Unsynced writes would restore it: sync
  // first. Errors: not_found; bad_request past the end.
  Status flip_bit(const std::string& path, std::uint64_t offset, unsigned bit);

  // Cuts the power and starts again: open files fail from now on, locks are free, the log restarts.
  void crash(CrashOptions options);
  void crash(CrashMode mode) { crash(CrashOptions{.mode = mode}); }
  // The same with the fate of each change of unsynced() decided by the caller.
  void crash_with(const DiskState::Chooser& choose);
  std::vector<Unsynced> unsynced() const { return state_.unsynced(); }

  // A disk of its own with the same content and the same unsynced changes; without faults and log.
  std::unique_ptr<SimDisk> fork() const;

  // From now on every change is logged, until the next crash() or start_log() begins anew.
  void start_log();
  const std::vector<Operation>& log() const { return log_; }

  // The disk as it was when the log began, with its first `count` operations done again.
  std::unique_ptr<SimDisk> replay_prefix(std::size_t count) const;
  // Does a logged operation again; with fork() this walks through all prefixes in one pass.
  void apply(const Operation& operation);

  std::uint64_t calls(DiskCall call) const { return calls_[static_cast<std::size_t>(call)]; }

  // The delays of faults since the last time somebody asked: SimFileIo waits for them.
  Duration take_delay() { return std::exchange(delay_, Duration{0}); }

 private:
  class OpenFile;

  // Counts the call and asks the fault plan. Errors: what the plan says.
  Result<Verdict> enter(DiskCall call, const std::string& path, std::uint64_t offset = 0,
                        std::uint64_t length = 0);
  void log(Operation operation);
  Result<InodeId> find_or_create(const std::string& path, io::OpenMode mode);
  io::FileInfo info_of(InodeId id) const;
  std::uint64_t available_bytes() const;

  // On behalf of an open file.
  Result<std::size_t> write(InodeId id, const std::string& path, std::uint64_t offset,
                            Bytes source);
  Status sync(InodeId id, const std::string& path);
  Status truncate(InodeId id, const std::string& path, std::uint64_t size_bytes);
  void close(InodeId id, bool held_lock);
  std::set<InodeId> open_inodes() const;

  const SimClock& clock_;
  io::SeededRng rng_;
  std::string name_;
  DiskState state_;
  FaultPlan faults_;
  std::uint64_t capacity_bytes_ = kDefaultCapacityBytes;
  std::uint64_t boots_ = 0;
  std::map<InodeId, int> open_;
  std::set<InodeId> locked_;
  bool logging_ = false;
  DiskState log_start_;
  std::vector<Operation> log_;
  std::array<std::uint64_t, kDiskCallNames.size()> calls_{};
  Duration delay_{0};
};

}  // namespace leat::sim
