// Turns: one at a time, in the order they came; at most so many wait.
//
// Shard: one. Lifetime: outlives the turns it gave.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

#include "rt/task.h"

namespace leat::control {

class Turns {
 public:
  // Being the one. The next has its turn when this is destroyed.
  class Turn {
   public:
    explicit Turn(Turns& turns) : turns_(&turns) {}
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (turns_ != nullptr) turns_->next();
    }

   private:
    Turns* turns_;
  };

  explicit Turns(std::size_t waiting_max) : waiting_max_(waiting_max) {}

  // Errors: busy, when too many wait.
  rt::Task<Turn> take() {
    if (taken_) {
      if (waiting_.size() >= waiting_max_) co_return fail(Errc::busy, "too many wait in line");
      auto turn =
          rt::suspend<void>([this](rt::Resume<void> r) { waiting_.push_back(std::move(r)); });
      LEAT_CO_DO(co_await std::move(turn));
    }
    taken_ = true;
    co_return Turn(*this);
  }

 private:
  void next() {
    if (waiting_.empty()) {
      taken_ = false;
      return;
    }
    rt::Resume<void> first = std::move(waiting_.front());
    waiting_.pop_front();
    first(Status{});
  }

  std::size_t waiting_max_;
  bool taken_ = false;
  std::deque<rt::Resume<void>> waiting_;
};

}  // namespace leat::control
