// Queue<T>: a bounded channel between two tasks of one shard.
//
// push() waits while the queue is full, pop() while it is empty: back-pressure is the point. Either
// side may close() it; what was pushed before can still be popped, then pop() answers `closed`.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

#include "base/check.h"
#include "rt/task.h"

namespace leat::rt {

template <class T>
class Queue {
 public:
  explicit Queue(std::size_t depth_max) : depth_max_(depth_max) { LEAT_CHECK(depth_max > 0); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Errors: closed.
  Task<void> push(T item) {
    while (!closed_ && items_.size() >= depth_max_) {
      auto room = suspend<void>([this](Resume<void> r) { pushers_.push_back(std::move(r)); });
      LEAT_CO_DO(co_await std::move(room));
    }
    if (closed_) co_return fail(Errc::closed, "queue closed");
    items_.push_back(std::move(item));
    wake_one(poppers_);
    co_return Status{};
  }

  // Errors: closed, when it was closed and nothing is left.
  Task<T> pop() {
    while (items_.empty()) {
      if (closed_) co_return fail(Errc::closed, "queue closed");
      auto filled = suspend<void>([this](Resume<void> r) { poppers_.push_back(std::move(r)); });
      LEAT_CO_DO(co_await std::move(filled));
    }
    T item = std::move(items_.front());
    items_.pop_front();
    wake_one(pushers_);
    co_return item;
  }

  void close() {
    closed_ = true;
    while (!pushers_.empty())
      wake_one(pushers_);
    while (!poppers_.empty())
      wake_one(poppers_);
  }

  std::size_t depth() const { return items_.size(); }

 private:
  static void wake_one(std::deque<Resume<void>>& waiting) {
    if (waiting.empty()) return;
    Resume<void> resume = std::move(waiting.front());
    waiting.pop_front();
    resume(Status{});
  }

  std::size_t depth_max_;
  bool closed_ = false;
  std::deque<T> items_;
  std::deque<Resume<void>> pushers_;
  std::deque<Resume<void>> poppers_;
};

}  // namespace leat::rt
