// DiskEnv: the rest of what RocksDB asks for beside files, which is threads for its background
// jobs.
//
// In quiet mode there are none. RocksDB never runs a job itself, it asks for one to be scheduled;
// the quiet one keeps jobs until the caller of flush() or write() runs them, in its own thread. So
// a simulated disk sees one thread only, and the order of its calls depends on nothing else.
//
// Otherwise each map has a thread of its own for flushes, so that one map's hanging disk does not
// stop another's, and all maps of the process share RocksDB's pool of low I/O priority for merges.
//
// Thread: any, but in quiet mode one at a time. Lifetime: outlives the database that uses it.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/threadpool.h>

#include <cstddef>
#include <deque>
#include <memory>

namespace leat::kv {

class DiskEnv : public rocksdb::EnvWrapper {
 public:
  explicit DiskEnv(const std::shared_ptr<rocksdb::FileSystem>& files);

  // Runs what waits for the caller, if anything does.
  virtual void run_jobs() {}
};

class QuietEnv final : public DiskEnv {
 public:
  explicit QuietEnv(const std::shared_ptr<rocksdb::FileSystem>& files);

  void run_jobs() override;

  void Schedule(void (*job)(void*), void* argument, Priority priority, void* tag,
                void (*unschedule)(void*)) override;
  int UnSchedule(void* tag, Priority priority) override;
  void IncBackgroundThreadsIfNeeded(int, Priority) override {}
  int GetBackgroundThreads(Priority) override { return 1; }

 private:
  struct Job {
    void (*run)(void*);
    void* argument;
    Priority priority;
    void* tag;
    void (*unschedule)(void*);
  };
  std::deque<Job> jobs_;
};

class ThreadedEnv final : public DiskEnv {
 public:
  static constexpr int kMergeThreads = 2;

  explicit ThreadedEnv(const std::shared_ptr<rocksdb::FileSystem>& files);
  ThreadedEnv(const ThreadedEnv&) = delete;
  ThreadedEnv& operator=(const ThreadedEnv&) = delete;
  ~ThreadedEnv() override;

  void Schedule(void (*job)(void*), void* argument, Priority priority, void* tag,
                void (*unschedule)(void*)) override;
  int UnSchedule(void* tag, Priority priority) override;
  void IncBackgroundThreadsIfNeeded(int count, Priority priority) override;
  int GetBackgroundThreads(Priority priority) override;

 private:
  std::unique_ptr<rocksdb::ThreadPool> flush_thread_;
};

}  // namespace leat::kv
