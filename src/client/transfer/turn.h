// Turn: lets one task of a shard at a time through, in the order of coming.
//
// Shard: one. Lifetime: outlives who holds it.
#pragma once

#include <deque>
#include <utility>

#include "rt/task.h"

namespace leat::transfer {

class Turn {
 public:
  class Held {
   public:
    explicit Held(Turn& turn) : turn_(&turn) {}
    Held(Held&& other) noexcept : turn_(std::exchange(other.turn_, nullptr)) {}
    Held& operator=(Held&&) = delete;
    ~Held() {
      if (turn_ != nullptr) turn_->pass_on();
    }

   private:
    Turn* turn_;
  };

  rt::Task<Held> take() {
    if (is_taken_) {
      auto turn = rt::suspend<void>(
          [this](rt::Resume<void> resume) { waiting_.push_back(std::move(resume)); });
      LEAT_CO_DO(co_await std::move(turn));  // it was handed over, and is taken still
    }
    is_taken_ = true;
    co_return Held(*this);
  }

 private:
  void pass_on() {
    is_taken_ = !waiting_.empty();
    if (!is_taken_) return;
    rt::Resume<void> next = std::move(waiting_.front());
    waiting_.pop_front();
    next(Status{});
  }

  bool is_taken_ = false;
  std::deque<rt::Resume<void>> waiting_;
};

}  // namespace leat::transfer
