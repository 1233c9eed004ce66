// Instants and durations. Instant counts from an arbitrary start and never goes back: deadlines and
// latencies. WallTime is what a calendar shows and may jump: headers and logs, never decisions.
// Both come from an io::Clock; nothing else may ask the machine for the time.
#pragma once

#include <chrono>

namespace leat {

using Duration = std::chrono::nanoseconds;

struct MonotonicEpoch {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<MonotonicEpoch, duration>;
};

using Instant = MonotonicEpoch::time_point;
using WallTime = std::chrono::sys_time<Duration>;

}  // namespace leat
