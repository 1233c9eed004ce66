#include "io/buffer_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sim/world.h"

namespace leat::io {
namespace {

using Buffer = BufferPool::Buffer;

rt::Task<void> take(BufferPool& pool, std::vector<Buffer>& into) {
  LEAT_CO_TRY(Buffer buffer, co_await pool.acquire());
  into.push_back(std::move(buffer));
  co_return Status{};
}

class BufferPoolTest : public ::testing::Test {
 protected:
  void start_take() {
    world.spawn(take(pool, taken), [](const Status& status) { EXPECT_TRUE(status); });
    world.run_until_idle();
  }

  sim::SimWorld world{1};
  BufferPool pool{8192, 3};
  std::vector<Buffer> taken;
};

TEST_F(BufferPoolTest, BuffersAreAlignedWholeAndApart) {
  for (int i = 0; i < 3; ++i) {
    taken.push_back(pool.try_acquire());
    const MutableBytes bytes = taken.back().bytes();
    EXPECT_EQ(bytes.size(), 8192U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 4096, 0U);
    std::ranges::fill(bytes, std::byte(i));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(taken[i].bytes()[8191], std::byte(i));
  }
}

TEST_F(BufferPoolTest, NeverHandsOutMoreThanItsBound) {
  for (int i = 0; i < 3; ++i) {
    taken.push_back(pool.try_acquire());
    EXPECT_TRUE(taken.back());
  }
  EXPECT_FALSE(pool.try_acquire());
  EXPECT_EQ(pool.in_use(), 3U);
  taken.pop_back();
  EXPECT_EQ(pool.in_use(), 2U);
  EXPECT_TRUE(pool.try_acquire()) << "given back at once, it was a temporary";
  EXPECT_EQ(pool.in_use(), 2U);
}

TEST_F(BufferPoolTest, ABufferIsGivenBackOnceHoweverItIsMoved) {
  Buffer a = pool.try_acquire();
  Buffer b = std::move(a);
  EXPECT_EQ(pool.in_use(), 1U);
  Buffer c = pool.try_acquire();
  c = std::move(b);
  b = {};
  EXPECT_EQ(pool.in_use(), 1U);
  c = {};
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST_F(BufferPoolTest, AcquireWaitsForOneToComeBack) {
  std::vector<Buffer> first;
  for (int i = 0; i < 3; ++i) {
    first.push_back(pool.try_acquire());
  }
  start_take();
  start_take();
  EXPECT_EQ(taken.size(), 0U);
  first.pop_back();
  world.run_until_idle();
  EXPECT_EQ(taken.size(), 1U);
  first.clear();
  world.run_until_idle();
  EXPECT_EQ(taken.size(), 2U);
}

TEST_F(BufferPoolTest, NobodyOvertakesAWaiter) {
  std::vector<Buffer> first;
  for (int i = 0; i < 3; ++i) {
    first.push_back(pool.try_acquire());
  }
  start_take();
  first.pop_back();
  EXPECT_FALSE(pool.try_acquire()) << "it is the waiter's, though that has not run yet";
  EXPECT_FALSE(pool.try_acquire_extra());
  std::vector<Buffer> late;
  world.spawn(take(pool, late), [](const Status&) {});
  world.run_until_idle();
  EXPECT_EQ(taken.size(), 1U);
  EXPECT_EQ(late.size(), 0U);
  first.clear();
  world.run_until_idle();
  EXPECT_EQ(late.size(), 1U);
}

TEST_F(BufferPoolTest, AWaitEndsWhenItTookTooLong) {
  using namespace std::chrono_literals;
  BufferPool single(4096, 1, /*wait_max=*/2s);
  Buffer held = single.try_acquire();
  std::vector<Errc> ended;
  for (int i = 0; i < 2; ++i) {
    world.spawn(take(single, taken), [&](const Status& s) { ended.push_back(s.error().code()); });
    world.run_until_idle();
    single.look(Instant(1000s + i * 1s));
  }
  EXPECT_EQ(single.longest_wait(), 1s);
  single.look(Instant(1002s));
  world.run_until_idle();
  EXPECT_EQ(ended, std::vector{Errc::busy}) << "the second has waited one second only";
  EXPECT_EQ(single.waiting(), 1U);
  single.look(Instant(1003s));
  world.run_until_idle();
  EXPECT_EQ(ended.size(), 2U);
  EXPECT_EQ(single.longest_wait(), 0s);
  held = {};
  EXPECT_TRUE(single.try_acquire());
}

TEST_F(BufferPoolTest, ExtrasAreGivenOnlyWhileHalfIsFreeAndNobodyWaits) {
  EXPECT_TRUE(pool.try_acquire_extra());
  taken.push_back(pool.try_acquire_extra());
  EXPECT_TRUE(pool.try_acquire_extra());
  taken.push_back(pool.try_acquire());
  EXPECT_FALSE(pool.try_acquire_extra());
}

TEST_F(BufferPoolTest, DrainedReturnsWhenTheLastIsBackAndTakesNobodysTurn) {
  BufferPool single(4096, 1);
  std::vector<Buffer> first;
  first.push_back(single.try_acquire());
  bool drained = false;
  world.spawn(single.drained(), [&](const Status& status) { drained = status.has_value(); });
  world.spawn(take(single, taken), [](const Status&) {});
  world.run_until_idle();
  first.clear();
  world.run_until_idle();
  EXPECT_EQ(taken.size(), 1U) << "the buffer goes to the one that needs it";
  EXPECT_FALSE(drained);
  taken.clear();
  world.run_until_idle();
  EXPECT_TRUE(drained);
  EXPECT_TRUE(world.run(single.drained())) << "nothing in use: at once";
}

}  // namespace
}  // namespace leat::io
