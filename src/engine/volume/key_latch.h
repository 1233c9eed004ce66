// KeyLatch: lets one change at a time at each key, in the order they came.
//
// A change reads the current version, decides, and is written; a second one for the same key waits
// until the first is through. That makes compare-and-swap true. Shard: one.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

#include "rt/task.h"

namespace leat::volume {

class KeyLatch {
 public:
  // Held by one change; lets the next one in when destroyed. Lifetime: the latch outlives it.
  class Hold {
   public:
    Hold(KeyLatch& latch, std::string key) : latch_(&latch), key_(std::move(key)) {}
    Hold(Hold&& other) noexcept
        : latch_(std::exchange(other.latch_, nullptr)), key_(std::move(other.key_)) {}
    Hold& operator=(Hold&&) = delete;
    ~Hold() {
      if (latch_ != nullptr) latch_->release(key_);
    }

   private:
    KeyLatch* latch_;
    std::string key_;
  };

  rt::Task<Hold> acquire(std::string key) {
    if (const auto [waiting, is_first] = waiting_.try_emplace(key); !is_first) {
      auto& queue = waiting->second;
      auto turn =
          rt::suspend<void>([&queue](rt::Resume<void> r) { queue.push_back(std::move(r)); });
      LEAT_CO_DO(co_await std::move(turn));
    }
    co_return Hold(*this, std::move(key));
  }

 private:
  void release(const std::string& key) {
    const auto found = waiting_.find(key);
    if (found->second.empty()) {
      waiting_.erase(found);
      return;
    }
    rt::Resume<void> next = std::move(found->second.front());
    found->second.pop_front();
    next(Status{});
  }

  // A key is here while somebody holds it; behind it those who wait.
  std::unordered_map<std::string, std::deque<rt::Resume<void>>> waiting_;
};

}  // namespace leat::volume
