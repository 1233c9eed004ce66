// Turnstile: lets many through at once, and now and then stops them all for a moment.
//
// Every change of an object passes it. Whoever changes what the changes rely on, such as the set of
// disks, closes it: those inside finish, new ones wait, and go on when it is opened again. It is
// not closed for long, so a look at a time is soon enough.
//
// Shard: one. Lifetime: outlives its passes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"
#include "io/clock.h"

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
  // Errors: unavailable, when somebody still is after `patience`; then it is open again.
  rt::Task<void> close(io::Clock& clock, Duration patience) {
    closed_ = true;
    const Instant end = clock.now() + patience;
    while (inside_ > 0 && clock.now() < end) {
      const Instant wake = std::min(end, clock.now() + kNap);
      LEAT_CO_DO(co_await clock.sleep_until(wake));
    }
    if (inside_ == 0) co_return Status{};
    LEAT_CO_DO(co_await open());
    co_return fail(Errc::unavailable, "changes are under way that do not end; is a disk hanging?");
  }

  // Those who wait go on.
  rt::Task<void> open() {
    closed_ = false;
    for (auto& resume : std::exchange(waiting_, {}))
      resume(Status{});
    co_return Status{};
  }

 private:
  static constexpr Duration kNap = std::chrono::milliseconds(2);

  void leave() { --inside_; }

  std::size_t inside_ = 0;
  bool closed_ = false;
  std::vector<rt::Resume<void>> waiting_;
};

}  // namespace leat::store
