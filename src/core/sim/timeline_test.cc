#include "sim/timeline.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/sim_clock.h"
#include "sim/world.h"

namespace leat::sim {
namespace {

using namespace std::chrono_literals;

TEST(Timeline, FiresByTimeAndThenByOrderOfInsertion) {
  Timeline timeline;
  std::vector<int> order;
  const Instant soon = timeline.now() + 1s;
  timeline.at(soon, [&] { order.push_back(1); });
  timeline.at(soon, [&] { order.push_back(2); });
  timeline.at(timeline.now(), [&] { order.push_back(0); });
  timeline.at(timeline.now() - 5s, [&] { order.push_back(10); });
  while (timeline.next_event()) {
    timeline.fire_next();
  }
  EXPECT_EQ(order, (std::vector{0, 10, 1, 2}));
  EXPECT_EQ(timeline.now(), soon);
}

rt::Task<void> sleep_and_note(io::Clock& clock, Duration length, std::vector<Duration>& woke) {
  const Instant start = clock.now();
  const Instant end = start + length;
  LEAT_CO_DO(co_await clock.sleep_until(end));
  woke.push_back(clock.now() - start);
  co_return Status{};
}

TEST(SimClock, SleepsExactlyAsLongAsAskedWithoutWaiting) {
  SimWorld world(1);
  std::vector<Duration> woke;
  for (const Duration length : {Duration(3h), Duration(1ns), Duration(0s), Duration(5s)}) {
    world.spawn(sleep_and_note(world.clock("a"), length, woke),
                [](const Status& s) { EXPECT_TRUE(s); });
  }
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_EQ(woke, (std::vector<Duration>{0s, 1ns, 5s, 3h}));
}

TEST(SimClock, CancelledSleepersGetTheErrorAsAValue) {
  SimWorld world(1);
  std::vector<Duration> woke;
  Errc code = Errc::internal;
  world.spawn(sleep_and_note(world.clock("a"), 1h, woke),
              [&code](const Status& s) { code = s.error().code(); });
  world.run_for(1s);
  world.timeline().cancel_sleepers();
  EXPECT_TRUE(world.run_until_idle(1s));
  EXPECT_EQ(code, Errc::cancelled);
  EXPECT_TRUE(woke.empty());
}

TEST(SimClock, WallTimeIsTheHostsOwnAndJumps) {
  SimWorld world(1);
  SimClock& right = world.clock("right");
  SimClock& wrong = world.clock("wrong");
  wrong.set_wall_skew(-10min);
  world.run_for(1s);
  EXPECT_EQ(right.wall_now(), SimClock::kWallStart + 1s);
  EXPECT_EQ(wrong.wall_now(), SimClock::kWallStart + 1s - 10min);
  wrong.jump_wall(1h);
  EXPECT_EQ(wrong.wall_now(), SimClock::kWallStart + 1s + 50min);
  EXPECT_EQ(wrong.now(), right.now());
}

}  // namespace
}  // namespace leat::sim
