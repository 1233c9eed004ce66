// Turnstile: lets many through at once, and now and then stops them all for a moment.
//
// Every change of an object passes it. Whoever changes what the changes rely on, such as the set of
// disks, closes it: those inside finish, new ones wait, and go on when it is opened again.
//
// Shard: one. Lifetime: outlives its passes.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"
#include "rt/task.h"

namespace leat::store {

class Turnstile {
 public:
  // Being inside. Leaves when destroyed.
  class Pass {
   public:
    explicit Pass(Turnstile& turnstile) : turnstile_(&turnstile) { ++turnstile.inside_; }
    Pass(Pass&& other) noexcept : turnstile_(std::exchange(other.turnstile_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (turnstile_ != nullptr) turnstile_->leave();
    }

   private:
    Turnstile* turnstile_;
  };

  Turnstile() = default;
  Turnstile(const Turnstile&) = delete;
  Turnstile& operator=(const Turnstile&) = delete;
  ~Turnstile() { LEAT_CHECK(inside_ == 0); }

  // Waits while it is closed.
  rt::Task<Pass> enter() {
    while (closed_) {
      auto opened =
          rt::suspend<void>([this](rt::Resume<void> r) { waiting_.push_back(std::move(r)); });
      LEAT_CO_DO(co_await std::move(opened));
    }
    co_return Pass(*this);
  }

  // Returns when nobody is inside. One at a time.
  rt::Task<void> close() {
    closed_ = true;
    if (inside_ > 0) {
      auto emptied = rt::suspend<void>([this](rt::Resume<void> r) { closing_ = std::move(r); });
      LEAT_CO_DO(co_await std::move(emptied));
    }
    co_return Status{};
  }

  // Those who wait go on.
  rt::Task<void> open() {
    closed_ = false;
    for (auto& resume : std::exchange(waiting_, {}))
      resume(Status{});
    co_return Status{};
  }

 private:
  void leave() {
    if (--inside_ > 0 || !closing_) return;
    std::exchange(closing_, {})(Status{});
  }

  std::size_t inside_ = 0;
  bool closed_ = false;
  std::vector<rt::Resume<void>> waiting_;
  rt::Resume<void> closing_;  // of who waits for the last one inside
};

}  // namespace leat::store
