#include "kv/disk_env.h"

#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

#include <utility>

namespace leat::kv {
namespace {

// After a failed flush RocksDB sleeps for a second before its thread may try again. In quiet mode
// that thread is the caller, and nothing is tried again.
class SleeplessClock final : public rocksdb::SystemClockWrapper {
 public:
  SleeplessClock() : SystemClockWrapper(rocksdb::SystemClock::Default()) {}
  const char* Name() const override { return "sleepless"; }
  void SleepForMicroseconds(int) override {}
};

}  // namespace

// The wrapped one serves the calls on files of RocksDB's older interface; the fields of the base
// class lead the newer ones straight to the file system instead of through two layers of adapters.
DiskEnv::DiskEnv(const std::shared_ptr<rocksdb::FileSystem>& files)
    : EnvWrapper(rocksdb::NewCompositeEnv(files)) {
  file_system_ = files;
  system_clock_ = rocksdb::SystemClock::Default();
}

QuietEnv::QuietEnv(const std::shared_ptr<rocksdb::FileSystem>& files) : DiskEnv(files) {
  system_clock_ = std::make_shared<SleeplessClock>();
}

void QuietEnv::run_jobs() {
  while (!jobs_.empty()) {
    const Job job = jobs_.front();
    jobs_.pop_front();
    job.run(job.argument);
  }
}

void QuietEnv::Schedule(void (*job)(void*), void* argument, Priority priority, void* tag,
                        void (*unschedule)(void*)) {
  jobs_.push_back({job, argument, priority, tag, unschedule});
}

int QuietEnv::UnSchedule(void* tag, Priority priority) {
  return static_cast<int>(std::erase_if(jobs_, [&](const Job& job) {
    const bool is_meant = job.tag == tag && job.priority == priority;
    if (is_meant && job.unschedule != nullptr) job.unschedule(job.argument);
    return is_meant;
  }));
}

ThreadedEnv::ThreadedEnv(const std::shared_ptr<rocksdb::FileSystem>& files)
    : DiskEnv(files), flush_thread_(rocksdb::NewThreadPool(1)) {
  EnvWrapper::IncBackgroundThreadsIfNeeded(kMergeThreads, LOW);
  LowerThreadPoolIOPriority(LOW);
}

ThreadedEnv::~ThreadedEnv() {
  flush_thread_->JoinAllThreads();
}

void ThreadedEnv::Schedule(void (*job)(void*), void* argument, Priority priority, void* tag,
                           void (*unschedule)(void*)) {
  if (priority != HIGH) return EnvWrapper::Schedule(job, argument, priority, tag, unschedule);
  flush_thread_->SubmitJob([job, argument] { job(argument); });
}

// A flush that was not begun is not taken back but finds the database closing, and ends at once.
int ThreadedEnv::UnSchedule(void* tag, Priority priority) {
  return priority == HIGH ? 0 : EnvWrapper::UnSchedule(tag, priority);
}

void ThreadedEnv::IncBackgroundThreadsIfNeeded(int count, Priority priority) {
  if (priority != HIGH) EnvWrapper::IncBackgroundThreadsIfNeeded(count, priority);
}

int ThreadedEnv::GetBackgroundThreads(Priority priority) {
  return priority == HIGH ? 1 : EnvWrapper::GetBackgroundThreads(priority);
}

}  // namespace leat::kv
