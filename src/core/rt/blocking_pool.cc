#include "rt/blocking_pool.h"

#include <fmt/format.h>
#include <pthread.h>

namespace leat::rt {

BlockingPool::BlockingPool(const std::string& name, std::size_t threads, std::size_t queue_max)
    : name_(name), queue_max_(queue_max) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { work(); });
    // The kernel keeps 15 characters of a thread's name.
    pthread_setname_np(threads_.back().native_handle(),
                       fmt::format("{}-{}", name_, i).substr(0, 15).c_str());
  }
}

BlockingPool::~BlockingPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

std::size_t BlockingPool::queue_depth() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

Status BlockingPool::submit(Job job) {
  if (threads_.empty()) {
    job();
    return {};
  }
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= queue_max_) return fail(Errc::busy, "pool " + name_ + " is full");
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
  return {};
}

void BlockingPool::finish() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return jobs_.empty() && running_ == 0; });
}

void BlockingPool::work() {
  while (true) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
      ++running_;
    }
    job();
    job = nullptr;  // what it holds goes before it counts as done
    const std::lock_guard lock(mutex_);
    --running_;
    if (jobs_.empty() && running_ == 0) idle_.notify_all();
  }
}

}  // namespace leat::rt
