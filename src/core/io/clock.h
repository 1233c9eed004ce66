// Clock: the only source of time. RealClock asks the kernel; sim::SimClock moves when a test says
// so.
#pragma once

#include "base/time.h"
#include "rt/task.h"

namespace leat::io {

class Clock {
 public:
  virtual ~Clock() = default;

  virtual Instant now() const = 0;
  virtual WallTime wall_now() const = 0;

  // Errors: cancelled, when the shard shuts down first.
  virtual rt::Task<void> sleep_until(Instant when) = 0;
};

// Safe to share between shards: it has no state.
class RealClock final : public Clock {
 public:
  Instant now() const override;
  WallTime wall_now() const override;
  rt::Task<void> sleep_until(Instant when) override;
};

}  // namespace leat::io
