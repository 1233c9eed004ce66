#include "order/proportions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace leat::order {
namespace {

std::vector<std::uint64_t> counts_of(const Proportions& mix, std::size_t sources,
                                     std::uint64_t positions) {
  std::vector<std::uint64_t> counts(sources, 0);
  for (std::uint64_t i = 0; i < positions; ++i)
    ++counts[mix.at(i).source];
  return counts;
}

TEST(Proportions, EverySourceHasItsShareAtEveryPosition) {
  const std::vector<double> weights = {0.5, 0.3, 0.2};
  const Proportions mix(weights);
  std::vector<std::uint64_t> counts(3, 0);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const auto pick = mix.at(i);
    EXPECT_EQ(pick.number, counts[pick.source]++) << i;
    for (std::size_t s = 0; s < 3; ++s) {
      const double share = static_cast<double>(i + 1) * weights[s];
      // Half a sample for each split between sources that it takes part in.
      EXPECT_LE(std::abs(static_cast<double>(counts[s]) - share), 1.0 + 1e-5) << i;
    }
  }
}

TEST(Proportions, SharesThatComeOutEvenAreExact) {
  using Counts = std::vector<std::uint64_t>;
  EXPECT_EQ(counts_of(Proportions(std::vector{0.7, 0.3}), 2, 10), (Counts{7, 3}));
  EXPECT_EQ(counts_of(Proportions(std::vector{0.7, 0.3}), 2, 1000), (Counts{700, 300}));
  EXPECT_EQ(counts_of(Proportions(std::vector{1.0, 2.0}), 2, 3), (Counts{1, 2}));
  EXPECT_EQ(counts_of(Proportions(std::vector{1.0, 1.0, 1.0}), 3, 300), (Counts{100, 100, 100}));
  EXPECT_EQ(counts_of(Proportions(std::vector{5.0, 3.0, 2.0}), 3, 1000), (Counts{500, 300, 200}));
}

TEST(Proportions, AnEpochEndsBeforeASourceIsAskedForMoreThanItHas) {
  const std::vector<double> weights = {1, 3};
  const Proportions mix(weights);
  const std::vector<std::uint64_t> sizes = {10, 1000};
  const std::uint64_t size = mix.until_used_up(sizes);
  EXPECT_EQ(counts_of(mix, 2, size)[0], 10U);
  EXPECT_EQ(mix.at(size).source, 0U) << "the next would be one too many";
}

TEST(Proportions, DatasetsOfTheSameSizeAndWeightAreUsedUpTogether) {
  const std::vector<std::uint64_t> sizes(3, 100);
  EXPECT_EQ(Proportions(std::vector{1.0, 1.0, 1.0}).until_used_up(sizes), 300U);
}

}  // namespace
}  // namespace leat::order
