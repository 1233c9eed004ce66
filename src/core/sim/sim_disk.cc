#include "sim/sim_disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/check.h"

namespace leat::sim {

SimDisk::SimDisk(const SimClock& clock, std::uint64_t seed, std::string name)
    : clock_(clock), rng_(seed), name_(std::move(name)) {}

Result<Verdict> SimDisk::enter(DiskCall call, const std::string& path, std::uint64_t offset,
                               std::uint64_t length) {
  ++calls_[static_cast<std::size_t>(call)];
  const Verdict verdict = faults_.judge(call, path, rng_);
  delay_ += verdict.delay;
  clock_.timeline().note(name_of(call), name_ + ":" + path, offset, length);
  if (verdict.posix_errno != 0) {
    clock_.timeline().note("fault", name_, static_cast<std::uint64_t>(verdict.posix_errno));
    return fail(Error::from_errno(verdict.posix_errno, fmt::format("{} {}", name_of(call), path)));
  }
  return verdict;
}

void SimDisk::log(Operation operation) {
  if (logging_) log_.push_back(std::move(operation));
}

io::FileInfo SimDisk::info_of(InodeId id) const {
  const DiskState::Inode& found = state_.inode(id);
  return {.size_bytes = found.cache.size(),
          .modified = found.modified,
          .changed = found.modified,
          .inode = id.value(),
          .is_directory = found.is_directory};
}

std::uint64_t SimDisk::available_bytes() const {
  return capacity_bytes_ - std::min(capacity_bytes_, state_.used_bytes());
}

Result<io::FileInfo> SimDisk::info(const std::string& path) {
  LEAT_DO(enter(DiskCall::info, path));
  LEAT_TRY(const InodeId id, state_.find(path));
  return info_of(id);
}

Status SimDisk::rename(const std::string& from, const std::string& to) {
  LEAT_DO(enter(DiskCall::rename, from));
  LEAT_DO(state_.rename(from, to));
  log({.call = DiskCall::rename, .path = from, .to = to});
  return {};
}

Status SimDisk::remove(const std::string& path) {
  LEAT_DO(enter(DiskCall::remove, path));
  LEAT_DO(state_.remove(path));
  log({.call = DiskCall::remove, .path = path});
  return {};
}

Status SimDisk::make_directories(const std::string& path) {
  LEAT_DO(enter(DiskCall::make_directories, path));
  LEAT_DO(state_.make_directories(path, clock_.wall_now()));
  log({.call = DiskCall::make_directories, .path = path});
  return {};
}

Result<std::vector<std::string>> SimDisk::list(const std::string& path) {
  LEAT_DO(enter(DiskCall::list, path));
  LEAT_TRY(const InodeId id, state_.find(path));
  if (!state_.inode(id).is_directory) return fail(Error::from_errno(ENOTDIR, path));
  std::vector<std::string> names;
  for (const auto& name : std::views::keys(state_.inode(id).names)) {
    names.push_back(name);
  }
  return names;
}

Status SimDisk::sync_directory(const std::string& path) {
  LEAT_DO(enter(DiskCall::sync_directory, path));
  LEAT_TRY(const InodeId id, state_.find(path));
  if (!state_.inode(id).is_directory) return fail(Error::from_errno(ENOTDIR, path));
  state_.sync_directory(id, open_inodes());
  log({.call = DiskCall::sync_directory, .path = path});
  return {};
}

Result<io::DiskSpace> SimDisk::space(const std::string& path) {
  LEAT_DO(enter(DiskCall::space, path));
  LEAT_DO(state_.find(path));
  return io::DiskSpace{.total_bytes = capacity_bytes_, .available_bytes = available_bytes()};
}

Status SimDisk::flip_bit(const std::string& path, std::uint64_t offset, unsigned bit) {
  LEAT_TRY(const InodeId id, state_.find(path));
  if (offset >= state_.inode(id).cache.size() || bit > 7) {
    return fail(Errc::bad_request, fmt::format("flip bit {} of byte {} of {}", bit, offset, path));
  }
  state_.flip_bit(id, offset, bit);
  clock_.timeline().note("flip_bit", name_ + ":" + path, offset, bit);
  return {};
}

void SimDisk::crash(CrashOptions options) {
  crash_with(make_chooser(options, rng_));
}

void SimDisk::crash_with(const DiskState::Chooser& choose) {
  state_.crash(choose);
  ++boots_;
  open_.clear();
  locked_.clear();
  delay_ = Duration{0};
  if (logging_) start_log();
  clock_.timeline().note("crash", name_, boots_, state_.used_bytes());
}

std::unique_ptr<SimDisk> SimDisk::fork() const {
  auto copy = std::make_unique<SimDisk>(clock_, 0, name_);
  copy->rng_ = rng_;
  copy->state_ = state_;
  copy->capacity_bytes_ = capacity_bytes_;
  return copy;
}

void SimDisk::start_log() {
  logging_ = true;
  log_start_ = state_;
  log_.clear();
}

std::unique_ptr<SimDisk> SimDisk::replay_prefix(std::size_t count) const {
  LEAT_CHECK(count <= log_.size());
  auto copy = fork();
  copy->state_ = log_start_;
  for (std::size_t i = 0; i < count; ++i)
    copy->apply(log_[i]);
  return copy;
}

// Logged operations succeeded once on the same state, so they succeed again.
void SimDisk::apply(const Operation& operation) {
  const WallTime now = clock_.wall_now();
  Status done;
  switch (operation.call) {
    case DiskCall::open:
      if (auto made = state_.create_file(operation.path, now); !made) {
        done = fail(std::move(made).error());
      }
      break;
    case DiskCall::write:
      state_.write(operation.inode, operation.offset, operation.bytes, now);
      break;
    case DiskCall::truncate: state_.truncate(operation.inode, operation.length, now); break;
    case DiskCall::sync:
      operation.failed ? state_.lose_pending(operation.inode) : state_.sync(operation.inode);
      break;
    case DiskCall::rename: done = state_.rename(operation.path, operation.to); break;
    case DiskCall::remove: done = state_.remove(operation.path); break;
    case DiskCall::make_directories: done = state_.make_directories(operation.path, now); break;
    case DiskCall::sync_directory: {
      const auto id = state_.find(operation.path);
      LEAT_CHECK(id.has_value());
      state_.sync_directory(*id, open_inodes());
      break;
    }
    default: break;
  }
  LEAT_CHECK(done.has_value());
}

std::set<InodeId> SimDisk::open_inodes() const {
  const auto keys = std::views::keys(open_);
  return {keys.begin(), keys.end()};
}

}  // namespace leat::sim
