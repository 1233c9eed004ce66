// BlockingPool: a few named threads for calls that may block (file systems, RocksDB, SQLite,
// resolvers).
//
// A task awaits run(); the work happens on a pool thread and the task goes on at home, on its
// shard. The queue is bounded: when it is full, run() answers `busy` at once, so that overload is
// refused instead of remembered. Safe to share between shards.
//
// Lifetime: the shards whose tasks await it outlive the pool; its threads wake them.
//
// A pool without threads works on the spot, in the caller's thread: simulations need every step in
// one order, and their disks never block.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "rt/task.h"

namespace leat::rt {

class BlockingPool {
 public:
  // `name` is what `top -H` and gdb show for its threads.
  BlockingPool(const std::string& name, std::size_t threads, std::size_t queue_max);

  // Finishes what is queued, then ends the threads.
  ~BlockingPool();

  // Runs `work` (a callable that returns Result<T>) on a pool thread.
  // Errors: busy (queue full) and whatever `work` returns.
  template <class T, class Work>
  Task<T> run(Work work) {
    return suspend<T>([this, work = std::move(work)](Resume<T> resume) mutable {
      auto shared = std::make_shared<Resume<T>>(std::move(resume));
      Status queued = submit([shared, w = std::move(work)]() mutable { (*shared)(w()); });
      if (!queued) (*shared)(fail(std::move(queued).error()));
    });
  }

  using Job = std::move_only_function<void()>;

  // Runs `job` on a pool thread; nobody waits for it but finish(). Errors: busy (queue full).
  Status submit(Job job);

  // Blocks the calling thread until nothing is queued or running: what the jobs refer to may go.
  // Requires: the caller is not a pool thread.
  void finish();

  std::size_t queue_depth() const;

 private:
  void work();

  std::string name_;
  std::size_t queue_max_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable idle_;
  std::deque<Job> jobs_;     // guarded by mutex_
  std::size_t running_ = 0;  // guarded by mutex_
  bool stopping_ = false;    // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace leat::rt
