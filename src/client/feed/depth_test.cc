#include "feed/depth.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/bytes.h"

namespace leat::feed {
namespace {

using std::chrono::milliseconds;

// A source that takes `latency` for a block and a consumer that takes one each `period`, with room
// for some blocks, on a clock of its own.
class Epoch {
 public:
  explicit Epoch(std::uint64_t memory_bytes) : depth(memory_bytes) {}

  void run(Duration latency, Duration period, int blocks) {
    Instant next_take = now_ + period;
    while (blocks > 0) {
      while (under_way_.size() < depth.now() && under_way_.size() + ready_ < kRoom)
        under_way_.push_back({now_, now_ + latency});
      if (ready_ > 0 && next_take <= now_) {
        --ready_;
        --blocks;
        next_take = now_ + period;
        continue;
      }
      const bool is_starved = next_take <= now_ && under_way_.size() >= depth.now();
      if (is_starved && !was_told_) {
        depth.note_starved();
        was_told_ = true;
        continue;
      }
      const bool asks_first =
          under_way_.empty() || (next_take > now_ && next_take < under_way_.front().end);
      if (asks_first) {
        now_ = next_take;
        continue;
      }
      now_ = under_way_.front().end;
      depth.note_fetch(under_way_.front().begin, now_, kBlock);
      under_way_.pop_front();
      ++ready_;
      was_told_ = false;
    }
  }

  static constexpr std::uint64_t kBlock = kMiB;
  Depth depth;

 private:
  struct Fetch {
    Instant begin;
    Instant end;
  };
  static constexpr std::size_t kRoom = 64;

  Instant now_{milliseconds(1)};
  std::deque<Fetch> under_way_{};
  std::size_t ready_ = 0;
  bool was_told_ = false;
};

TEST(Depth, CoversTheLatencyAtTheRateOfTheConsumer) {
  Epoch epoch(kGiB);
  epoch.run(milliseconds(100), milliseconds(10), 500);
  EXPECT_GE(epoch.depth.now(), 10U) << "100 ms at a block each 10 ms";
  EXPECT_LE(epoch.depth.now(), Depth::kMost);
}

TEST(Depth, DecaysWhenLessIsNeeded) {
  Epoch epoch(kGiB);
  epoch.run(milliseconds(200), milliseconds(8), 500);
  ASSERT_GE(epoch.depth.now(), 20U);
  epoch.run(milliseconds(4), milliseconds(10), 500);
  EXPECT_LE(epoch.depth.now(), 3U) << "one request at a time is plenty";
  epoch.run(milliseconds(200), milliseconds(8), 500);
  EXPECT_GE(epoch.depth.now(), 20U) << "and comes back";
}

TEST(Depth, IsWithinTheMemory) {
  Epoch epoch(8 * Epoch::kBlock);
  epoch.run(milliseconds(500), milliseconds(1), 200);
  EXPECT_EQ(epoch.depth.now(), 8U);
}

}  // namespace
}  // namespace leat::feed
