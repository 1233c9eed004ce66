#include "io/watchdog.h"

#include <gtest/gtest.h>

#include <optional>

#include "sim/world.h"

namespace leat::io {
namespace {

using namespace std::chrono_literals;

constexpr Duration kPeriod = 100ms;

// Only remembers why and when it was interrupted.
class IdleStream final : public Stream {
 public:
  explicit IdleStream(const Clock& clock) : clock_(clock) {}
  Result<std::size_t> try_read(MutableBytes) override { return fail(Errc::would_block); }
  Result<std::size_t> try_write(std::span<const Bytes>, Flush) override {
    return fail(Errc::would_block);
  }
  Result<std::size_t> try_send_file(const File&, std::uint64_t, std::size_t) override {
    return fail(Errc::would_block);
  }
  bool can_send_file() const override { return false; }
  rt::Task<void> wait(Interest) override { co_return Status{}; }
  void interrupt(Errc reason) override {
    if (interrupted) return;
    interrupted = reason;
    when = clock_.now();
  }
  void finish_writing() override {}
  const Address& peer() const override { return peer_; }
  bool is_encrypted() const override { return false; }

  std::optional<Errc> interrupted;
  Instant when{};

 private:
  const Clock& clock_;
  Address peer_;
};

class WatchdogTest : public ::testing::Test {
 protected:
  WatchdogTest() {
    world.spawn(dog.run(), [this](const Status&) { ended = true; });
  }

  sim::SimWorld world{1};
  Clock& clock{world.clock("a")};
  Watchdog dog{clock, kPeriod};
  bool ended = false;
};

TEST_F(WatchdogTest, CutsTheLongestHolderAmongThoseItWaitsFor) {
  IdleStream first(clock);
  IdleStream second(clock);
  IdleStream busy(clock);
  Watchdog::Watch first_watch(dog, first);
  Watchdog::Watch second_watch(dog, second);
  Watchdog::Watch busy_watch(dog, busy);
  busy_watch.hold();  // but is not waited for: the disk is slow, not the client
  world.run_for(1s);
  first_watch.allow(1h);
  first_watch.hold();
  world.run_for(1s);
  second_watch.allow(1h);
  second_watch.hold();
  EXPECT_FALSE(dog.cut_longest_holder(2s));
  world.run_for(1s);
  first_watch.hold();  // has moved on
  world.run_for(2s);
  EXPECT_TRUE(dog.cut_longest_holder(2s));
  EXPECT_EQ(second.interrupted, Errc::timeout);
  EXPECT_FALSE(first.interrupted);
  first_watch.let_go();
  EXPECT_FALSE(dog.cut_longest_holder(2s));
  EXPECT_FALSE(busy.interrupted);
  dog.stop();
}

TEST_F(WatchdogTest, EndsALateStreamNeverTooEarlyAndSoonEnough) {
  for (int offset_ms = 0; offset_ms < 300; offset_ms += 7) {
    for (const Duration time : {0ms, 1ms, 99ms, 100ms, 101ms, 1000ms}) {
      world.run_for(Duration(offset_ms * 1ms));
      IdleStream stream(clock);
      Watchdog::Watch watch(dog, stream);
      const Instant start = clock.now();
      watch.allow(time);
      world.run_for(time + 5 * kPeriod);
      ASSERT_EQ(stream.interrupted, Errc::timeout);
      EXPECT_GE(stream.when - start, time);
      EXPECT_LE(stream.when - start, time + 2 * kPeriod);
    }
  }
}

TEST_F(WatchdogTest, APausedOrNewStreamHasAllTheTime) {
  IdleStream fresh(clock);
  IdleStream paused(clock);
  Watchdog::Watch first(dog, fresh);
  Watchdog::Watch second(dog, paused);
  second.allow(1s);
  second.pause();
  world.run_for(24h);
  EXPECT_FALSE(fresh.interrupted);
  EXPECT_FALSE(paused.interrupted);
}

TEST_F(WatchdogTest, ANewAllowanceReplacesTheLast) {
  IdleStream stream(clock);
  Watchdog::Watch watch(dog, stream);
  for (int i = 0; i < 20; ++i) {
    watch.allow(1s);
    world.run_for(900ms);
  }
  EXPECT_FALSE(stream.interrupted);
}

TEST_F(WatchdogTest, IdleStreamsAndAllStreamsCanBeEndedAtOnce) {
  IdleStream busy(clock);
  IdleStream idle(clock);
  Watchdog::Watch first(dog, busy);
  Watchdog::Watch second(dog, idle);
  first.allow_idle(1h);
  first.allow(1h);
  second.allow_idle(1h);
  dog.interrupt_idle(Errc::closed);
  EXPECT_FALSE(busy.interrupted);
  EXPECT_EQ(idle.interrupted, Errc::closed);
  dog.interrupt_all(Errc::cancelled);
  EXPECT_EQ(busy.interrupted, Errc::cancelled);
}

TEST_F(WatchdogTest, CountsWhatItWatchesInWhateverOrderItEnds) {
  IdleStream stream(clock);
  auto a = std::make_unique<Watchdog::Watch>(dog, stream);
  auto b = std::make_unique<Watchdog::Watch>(dog, stream);
  auto c = std::make_unique<Watchdog::Watch>(dog, stream);
  EXPECT_EQ(dog.watched(), 3U);
  b.reset();
  c.reset();
  EXPECT_EQ(dog.watched(), 1U);
  a.reset();
  EXPECT_EQ(dog.watched(), 0U);
  world.run_for(1s);
}

TEST_F(WatchdogTest, StopsWithinAPeriod) {
  dog.stop();
  world.run_for(kPeriod);
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace leat::io
