#include "io/rng.h"

#include <gtest/gtest.h>

#include <array>

namespace leat::io {
namespace {

TEST(SeededRng, GivesThePublishedValuesOfSplitMix64) {
  SeededRng zero(0);
  EXPECT_EQ(zero.next(), 0xE220A8397B1DCDAF);
  EXPECT_EQ(zero.next(), 0x6E789E6AA1B965F4);
  EXPECT_EQ(zero.next(), 0x06C45D188009454F);
  SeededRng other(1234567);
  EXPECT_EQ(other.next(), 6457827717110365317ULL);
  EXPECT_EQ(other.next(), 3203168211198807973ULL);
}

TEST(SeededRng, FillsBytesInLittleEndianOrder) {
  SeededRng rng(0);
  std::array<std::byte, 10> bytes{};
  rng.fill(bytes);
  const std::array<int, 10> want = {0xAF, 0xCD, 0x1D, 0x7B, 0x39, 0xA8, 0x20, 0xE2, 0xF4, 0x65};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(std::to_integer<int>(bytes[i]), want[i]) << i;
  }
}

TEST(Rng, BelowReachesEveryValueAndNoOther) {
  SeededRng rng(7);
  std::array<int, 6> seen{};
  for (int i = 0; i < 6000; ++i) {
    ++seen[rng.below(6)];
  }
  for (const int count : seen) {
    EXPECT_GT(count, 800);
    EXPECT_LT(count, 1200);
  }
  EXPECT_EQ(rng.below(1), 0U);
}

// 2^64 is 1.33 times this bound, so half of all results would be below a third of it with a modulo.
TEST(Rng, BelowHasNoBiasForAHugeBound) {
  SeededRng rng(9);
  const std::uint64_t bound = 3ULL << 62;
  int low = 0;
  for (int i = 0; i < 3000; ++i) {
    low += rng.below(bound) < (1ULL << 62) ? 1 : 0;
  }
  EXPECT_GT(low, 850);
  EXPECT_LT(low, 1150);
}

// Draws given numbers, to see which ones below() refuses.
class ListedRng final : public Rng {
 public:
  explicit ListedRng(std::array<std::uint64_t, 2> values) : values_(values) {}
  std::uint64_t next() override { return values_.at(used_++); }

 private:
  std::array<std::uint64_t, 2> values_;
  std::size_t used_ = 0;
};

TEST(Rng, BelowDrawsAgainWhenAValueWouldBeUnfair) {
  ListedRng rng({0, 17});
  EXPECT_EQ(rng.below(10), 7U);
}

TEST(Rng, ChanceIsNeverAtZeroAndAlwaysAtOne) {
  SeededRng rng(3);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(rng.chance(0, 5));
    EXPECT_TRUE(rng.chance(5, 5));
  }
}

}  // namespace
}  // namespace leat::io
