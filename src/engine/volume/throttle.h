// Throttle: keeps background work below a rate, so that requests have the disk.
//
// Shard: one. Lifetime: the clock outlives it.
#pragma once

#include <algorithm>

#include "io/clock.h"

namespace leat::volume {

class Throttle {
 public:
  // `bytes_per_second` 0: no limit.
  Throttle(io::Clock& clock, std::uint64_t bytes_per_second)
      : clock_(clock), bytes_per_second_(bytes_per_second) {}

  // So many bytes were moved: returns when the next ones may be. A small debt is carried on, so
  // that many small steps do not sleep one by one.
  rt::Task<void> spend(std::uint64_t bytes) {
    if (bytes_per_second_ == 0) co_return Status{};
    const double seconds = static_cast<double>(bytes) / static_cast<double>(bytes_per_second_);
    const Instant now = clock_.now();
    free_at_ = std::max(free_at_, now) +
               std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
    if (free_at_ - now > kDebtMax) {
      LEAT_CO_DO(co_await clock_.sleep_until(free_at_));
    }
    co_return Status{};
  }

 private:
  static constexpr Duration kDebtMax = std::chrono::milliseconds(5);

  io::Clock& clock_;
  const std::uint64_t bytes_per_second_;
  Instant free_at_{};
};

}  // namespace leat::volume
