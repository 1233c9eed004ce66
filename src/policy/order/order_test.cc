#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "order/epoch.h"
#include "order/mixing.h"
#include "order/permutation.h"

namespace leat::order {
namespace {

std::vector<std::uint64_t> first(const Permutation& permutation, std::uint64_t count) {
  std::vector<std::uint64_t> values;
  for (std::uint64_t i = 0; i < count; ++i)
    values.push_back(permutation(i));
  return values;
}

using Values = std::vector<std::uint64_t>;

TEST(Permutation, MixIsSplitMix64) {
  EXPECT_EQ(mix(0), 0xe220a8397b1dcdafU);
  EXPECT_EQ(mix(1), 0x910a2dec89025cc1U);
  EXPECT_EQ(mix(42), 0xbdd732262feb6e95U);
}

// These must never change: loaders resume in the order they say.
TEST(Permutation, GoldenValues) {
  EXPECT_EQ(first({1000, 0}, 6), (Values{823, 996, 626, 864, 768, 537}));
  EXPECT_EQ(Permutation(1000, 42)(999), 419U);
  EXPECT_EQ(first({1281167, 42}, 3), (Values{845041, 370057, 766917}));
  EXPECT_EQ(Permutation(1281167, 0)(1281166), 750755U);
  const std::uint64_t large = std::uint64_t{1} << 40;
  EXPECT_EQ(first({large, 42}, 2), (Values{801773025848, 247883873371}));
  EXPECT_EQ(Permutation(large, 0)(large - 1), 422981979980U);
}

TEST(Permutation, IsABijectionForEverySmallSize) {
  for (std::uint64_t n = 0; n < 600; ++n) {
    const Values values = first({n, n * 7919}, n);
    const std::set<std::uint64_t> distinct(values.begin(), values.end());
    ASSERT_EQ(distinct.size(), n);
    ASSERT_TRUE(n == 0 || *distinct.rbegin() == n - 1) << n;
  }
}

// Where the network alone is biased (n = 5 and 8 at any number of rounds) the table is not.
TEST(Permutation, PairsOfSmallSizesAreUniform) {
  for (const std::uint64_t n : {2U, 3U, 5U, 8U, 16U}) {
    constexpr std::uint64_t kKeys = 40'000;
    std::vector<double> seen(n * n);
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const Permutation permutation(n, mix(key));
      ++seen[permutation(0) * n + permutation(1)];
    }
    const double expected = static_cast<double>(kKeys) / static_cast<double>(n * (n - 1));
    double chi = 0;
    for (std::uint64_t i = 0; i < n * n; ++i)
      if (i / n != i % n) chi += (seen[i] - expected) * (seen[i] - expected) / expected;
    const auto freedom = static_cast<double>(n * (n - 1) - 1);
    EXPECT_LT((chi - freedom) / std::sqrt(2 * freedom), 4) << n;
  }
}

TEST(Draws, StayBelowTheirBoundAndReachAllOfIt) {
  Draws draws(3);
  std::vector<int> seen(7);
  for (int i = 0; i < 7000; ++i)
    ++seen[draws.below(7)];
  for (const int count : seen)
    EXPECT_NEAR(count, 1000, 150);
  const std::uint64_t huge = (std::uint64_t{1} << 63) + 1;  // half of all draws are drawn again
  for (int i = 0; i < 100; ++i)
    EXPECT_LT(draws.below(huge), huge);
}

std::vector<std::uint32_t> random_counts(Draws& draws, std::uint64_t blocks) {
  std::vector<std::uint32_t> counts;
  for (std::uint64_t i = 0; i < blocks; ++i)
    counts.push_back(static_cast<std::uint32_t>(draws.below(9)));  // empty blocks as well
  return counts;
}

Fingerprint fingerprint_of(std::uint8_t first_byte) {
  Fingerprint fingerprint{};
  fingerprint[0] = static_cast<std::byte>(first_byte);
  return fingerprint;
}

std::vector<std::pair<std::uint64_t, std::uint32_t>> order_of(const Epoch& epoch) {
  Cursor cursor(epoch);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
  for (std::uint64_t i = 0; i < epoch.size(); ++i) {
    const Place place = cursor.at(i);
    order.emplace_back(place.block, place.slot);
  }
  return order;
}

TEST(Epoch, VisitsEverySampleOnceWhateverTheShape) {
  Draws draws(11);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const auto counts = random_counts(draws, draws.below(150));
    for (const Shuffle shuffle : {Shuffle::none, Shuffle::block, Shuffle::full}) {
      const EpochOptions options{.shuffle = shuffle,
                                 .window_blocks = 1 + draws.below(20),
                                 .seed = draws.next(),
                                 .epoch = draws.below(5)};
      const Epoch epoch(counts, options);
      auto order = order_of(epoch);
      ASSERT_EQ(order.size(), std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
      if (shuffle == Shuffle::none) {
        ASSERT_TRUE(std::ranges::is_sorted(order));
      }
      std::ranges::sort(order);
      ASSERT_EQ(std::ranges::adjacent_find(order), order.end());
      for (const auto& [block, slot] : order)
        ASSERT_LT(slot, counts.at(block));
    }
  }
}

TEST(Epoch, IsTheSameHoweverItIsCut) {
  Draws draws(12);
  const auto counts = random_counts(draws, 200);
  for (const Shuffle shuffle : {Shuffle::none, Shuffle::block, Shuffle::full}) {
    const Epoch epoch(counts, {.shuffle = shuffle, .window_blocks = 7, .seed = 5, .epoch = 2});
    const auto order = order_of(epoch);
    for (std::uint64_t ranks = 1; ranks < 6; ++ranks) {
      for (std::uint64_t rank = 0; rank < ranks; ++rank) {
        Cursor cursor(epoch);
        for (std::uint64_t i = rank; i < epoch.size(); i += ranks) {
          const Place place = cursor.at(i);
          ASSERT_EQ(std::pair(place.block, place.slot), order[i]);
        }
      }
    }
    const Place alone = epoch.at(epoch.size() / 2);
    EXPECT_EQ(std::pair(alone.block, alone.slot), order[epoch.size() / 2]);
  }
}

TEST(Epoch, AWindowTouchesItsBlocksAloneAndNoneIsShort) {
  const std::vector<std::uint32_t> counts(1000, 3);
  const Epoch epoch(counts, {.window_blocks = 64});
  EXPECT_EQ(epoch.window_count(), 16U);  // round(15.6)
  Cursor cursor(epoch);
  for (std::uint64_t w = 0; w < epoch.window_count(); ++w) {
    const Window window = epoch.window(w);
    EXPECT_GE(window.blocks().size(), 62U);
    EXPECT_LE(window.blocks().size(), 63U);
    EXPECT_EQ(epoch.window_begin(w) + window.size(), epoch.window_begin(w + 1));
    for (std::uint64_t i = epoch.window_begin(w); i < epoch.window_begin(w + 1); ++i)
      EXPECT_NE(std::ranges::find(window.blocks(), cursor.at(i).block), window.blocks().end());
  }
  EXPECT_EQ(Epoch(counts, {.window_blocks = 5000}).window_count(), 1U);
}

TEST(Epoch, EverythingItDependsOnChangesIt) {
  const std::vector<std::uint32_t> counts(50, 4);
  const EpochOptions base{.window_blocks = 10, .seed = 1, .epoch = 1};
  const auto order = order_of(Epoch(counts, base));
  EXPECT_EQ(order_of(Epoch(counts, base)), order);
  EpochOptions other = base;
  other.seed = 2;
  EXPECT_NE(order_of(Epoch(counts, other)), order);
  other = base;
  other.epoch = 2;
  EXPECT_NE(order_of(Epoch(counts, other)), order);
  other = base;
  other.fingerprint = fingerprint_of(1);
  EXPECT_NE(order_of(Epoch(counts, other)), order);
}

// ImageNet's shape: 1 281 167 samples of 1000 classes, sorted by class, 36 to a block of 4 MiB.
constexpr std::uint64_t kSamples = 1'281'167;
constexpr std::uint64_t kClasses = 1000;
constexpr std::uint32_t kBlockSamples = 36;

std::vector<std::uint32_t> sorted_labels() {
  std::vector<std::uint32_t> labels;
  for (std::uint64_t i = 0; i < kSamples; ++i)
    labels.push_back(static_cast<std::uint32_t>(i * kClasses / kSamples));
  return labels;
}

std::vector<std::uint32_t> visit(const std::vector<std::uint32_t>& labels, std::uint64_t g) {
  std::vector<std::uint32_t> counts(labels.size() / kBlockSamples, kBlockSamples);
  if (const auto rest = labels.size() % kBlockSamples; rest > 0)
    counts.push_back(static_cast<std::uint32_t>(rest));
  const Epoch epoch(counts, {.window_blocks = g, .seed = g});
  Cursor cursor(epoch);
  std::vector<std::uint32_t> visited;
  for (std::uint64_t i = 0; i < epoch.size(); ++i) {
    const Place place = cursor.at(i);
    visited.push_back(labels[place.block * kBlockSamples + place.slot]);
  }
  return visited;
}

// The table of docs/formats/order.md, which was measured with a true shuffle in Python.
TEST(Mixing, WindowsOfBlocksInflateAsExpected) {
  const auto labels = sorted_labels();
  const auto unmixed = visit(labels, 64);
  EXPECT_NEAR(measured_inflation(unmixed, 256), 16.0, 0.7);
  EXPECT_NEAR(measured_inflation(unmixed, 32), 16.0, 0.7);
  // The offline pass is an epoch that is written down.
  const auto mixed_16 = visit(labels, 16);
  EXPECT_NEAR(measured_inflation(mixed_16, 32), 61.2, 2.5);
  EXPECT_NEAR(measured_inflation(visit(mixed_16, 16), 256), 4.14, 0.15);
  const auto mixed_128 = visit(labels, 128);
  EXPECT_NEAR(measured_inflation(mixed_128, 256), 8.5, 0.4);
  EXPECT_NEAR(measured_inflation(visit(mixed_128, 64), 256), 1.11, 0.03);
}

TEST(Mixing, TheLawAndItsEdges) {
  EXPECT_DOUBLE_EQ(expected_inflation(1000, 64, 1), 16.625);
  EXPECT_NEAR(expected_inflation(1000, 64, 128), 1.12, 0.01);
  EXPECT_DOUBLE_EQ(measured_inflation({}, 2), 1);
  const std::vector<std::uint32_t> distinct = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(measured_inflation(distinct, 2), 1);
  const std::vector<std::uint32_t> sorted = {1, 1, 2, 2};
  EXPECT_DOUBLE_EQ(measured_inflation(sorted, 2), 3);
  EXPECT_DOUBLE_EQ(measured_inflation(sorted, 4), 1);
}

// Passes `items` through a Mixer.
std::vector<std::uint32_t> mixed(const std::vector<std::uint32_t>& items, std::uint64_t capacity,
                                 std::uint64_t seed) {
  Mixer mixer(capacity, seed);
  std::vector<std::uint32_t> held(capacity);
  std::vector<std::uint32_t> out;
  for (const std::uint32_t item : items) {
    const Mixer::Decision decision = mixer.on_item();
    if (decision.emits) out.push_back(held.at(decision.slot));
    held.at(decision.slot) = item;
  }
  while (const auto slot = mixer.on_end())
    out.push_back(held.at(*slot));
  EXPECT_EQ(mixer.held(), 0U);
  return out;
}

TEST(Mixing, AMixerEmitsEveryItemOnceAndRepeatsItself) {
  for (const std::uint64_t count : {0U, 1U, 5U, 100U, 1000U}) {
    std::vector<std::uint32_t> items(count);
    std::iota(items.begin(), items.end(), 0U);
    for (const std::uint64_t capacity : {1U, 7U, 100U, 5000U}) {
      auto out = mixed(items, capacity, 9);
      EXPECT_EQ(out, mixed(items, capacity, 9));
      if (count >= 100 && capacity > 1) {
        EXPECT_NE(out, mixed(items, capacity, 10));
      }
      std::ranges::sort(out);
      EXPECT_EQ(out, items);
    }
  }
}

TEST(Mixing, AMixerDoesTwiceWhatAWindowOfItsSizeDoes) {
  const auto labels = sorted_labels();
  std::vector<std::uint32_t> runs_permuted;
  const std::uint64_t runs = labels.size() / kBlockSamples;
  const Permutation order = source_order(runs, 1);
  for (std::uint64_t i = 0; i < runs; ++i) {
    const auto from = labels.begin() + static_cast<std::ptrdiff_t>(order(i) * kBlockSamples);
    runs_permuted.insert(runs_permuted.end(), from, from + kBlockSamples);
  }
  const std::uint64_t g_off = 32;
  const auto stored = mixed(runs_permuted, g_off * kBlockSamples, 5);
  EXPECT_NEAR(measured_inflation(visit(stored, 64), 32), expected_inflation(1000, 64, 2 * g_off),
              0.05);
  // Sorted input is mixed with its neighbours only.
  const auto near = mixed(labels, 128 * kBlockSamples, 5);
  EXPECT_NEAR(measured_inflation(visit(near, 64), 32),
              expected_inflation_sorted(1000, runs, 64, 128), 0.3);
}

TEST(Epoch, StoredNumbersAreThoseOfThePlaces) {
  const std::vector<std::uint32_t> counts = {3, 1, 70, 9};
  const std::vector<std::uint64_t> begins = {0, 3, 4, 74};
  for (const Shuffle shuffle : {Shuffle::none, Shuffle::full}) {
    const Epoch epoch(counts, {.shuffle = shuffle, .window_blocks = 2, .seed = 5, .epoch = 1});
    for (std::uint64_t i = 0; i < epoch.size(); ++i) {
      const Place place = epoch.at(i);
      EXPECT_EQ(epoch.stored_at(i), begins[place.block] + place.slot);
    }
  }
}

}  // namespace
}  // namespace leat::order
