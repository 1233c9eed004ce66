// SimClock: what one host believes about the time.
//
// All clocks of a world share one Timeline, so instants agree everywhere. The calendar is the
// host's own: it may be wrong by a skew, and it may jump, forwards and back, as calendars do.
#pragma once

#include "io/clock.h"
#include "sim/timeline.h"

namespace leat::sim {

class SimClock final : public io::Clock {
 public:
  // The calendar of a host without skew, at the start of the world: 2025-01-01 00:00:00 UTC.
  static constexpr WallTime kWallStart{std::chrono::seconds(1735689600)};

  explicit SimClock(Timeline& timeline) : timeline_(timeline) {}

  Instant now() const override { return timeline_.now(); }
  WallTime wall_now() const override {
    return kWallStart + (timeline_.now() - Timeline::kStart) + skew_;
  }
  rt::Task<void> sleep_until(Instant when) override { return timeline_.sleep_until(when); }

  void set_wall_skew(Duration skew) { skew_ = skew; }
  void jump_wall(Duration by) { skew_ += by; }
  Timeline& timeline() const { return timeline_; }

 private:
  Timeline& timeline_;
  Duration skew_{0};
};

}  // namespace leat::sim
