#include "io/watchdog.h"

#include "base/check.h"

namespace leat::io {

Watchdog::Watch::Watch(Watchdog& dog, Stream& stream) : dog_(dog), stream_(stream) {
  next_ = dog.first_;
  if (next_ != nullptr) next_->previous_ = this;
  dog.first_ = this;
  ++dog.count_;
}

Watchdog::Watch::~Watch() {
  (previous_ != nullptr ? previous_->next_ : dog_.first_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  --dog_.count_;
}

Watchdog::Watchdog(Clock& clock, Duration period)
    : clock_(clock), period_(period), now_(clock.now()) {}

Watchdog::~Watchdog() {
  LEAT_CHECK(first_ == nullptr);
}

rt::Task<void> Watchdog::run() {
  while (!stopping_) {
    LEAT_CO_DO(co_await clock_.sleep_until(now_ + period_));
    now_ = clock_.now();
    // interrupt() only wakes tasks, it runs none of them: the list does not change under the loop.
    for (Watch* watch = first_; watch != nullptr; watch = watch->next_) {
      if (watch->deadline_ <= now_) watch->stream_.interrupt(Errc::timeout);
    }
    if (also_) also_(now_);
  }
  co_return Status{};
}

bool Watchdog::cut_longest_holder(Duration held_min) {
  Watch* longest = nullptr;
  for (Watch* watch = first_; watch != nullptr; watch = watch->next_) {
    const bool is_waited_for = watch->deadline_ != Instant::max();
    if (!is_waited_for || watch->held_since_ > now_ - held_min) continue;
    if (longest == nullptr || watch->held_since_ < longest->held_since_) longest = watch;
  }
  if (longest == nullptr) return false;
  longest->let_go();
  longest->stream_.interrupt(Errc::timeout);
  return true;
}

void Watchdog::interrupt_idle(Errc reason) {
  for (Watch* watch = first_; watch != nullptr; watch = watch->next_) {
    if (watch->idle_) watch->stream_.interrupt(reason);
  }
}

void Watchdog::interrupt_all(Errc reason) {
  for (Watch* watch = first_; watch != nullptr; watch = watch->next_) {
    watch->stream_.interrupt(reason);
  }
}

}  // namespace leat::io
