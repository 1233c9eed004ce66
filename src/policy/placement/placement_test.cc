#include "placement/placement.h"

#include <gtest/gtest.h>

#include <string>

namespace leat::placement {
namespace {

std::uint64_t hash_of(int i) {
  return hash_key(7, "train/" + std::to_string(i) + ".tar");
}

// These must never change: objects are where they say.
TEST(Placement, GoldenValues) {
  EXPECT_EQ(hash_key(0, ""), 0x5b21f68ffa77f14cU);
  EXPECT_EQ(hash_key(1, "a"), 0x5507442aab9a0693U);
  const std::vector<Candidate> nodes = {{11, 1}, {22, 2}, {33, 3}, {44, 4}};
  std::string order;
  for (int i = 0; i < 40; ++i)
    order += std::to_string(choose(hash_of(i), nodes));
  EXPECT_EQ(order, "2322123233130032123323212320012233220333");
}

TEST(Placement, SharesFollowTheWeights) {
  const std::vector<Candidate> nodes = {{11, 1}, {22, 2}, {33, 3}, {44, 0}};
  std::vector<int> counts(nodes.size());
  for (int i = 0; i < 60'000; ++i)
    ++counts[choose(hash_of(i), nodes)];
  EXPECT_NEAR(counts[0], 10'000, 500);
  EXPECT_NEAR(counts[1], 20'000, 500);
  EXPECT_NEAR(counts[2], 30'000, 500);
  EXPECT_EQ(counts[3], 0);
}

TEST(Placement, ANewCandidateTakesKeysAndMovesNoOthers) {
  const std::vector<Candidate> before = {{11, 1}, {22, 1}, {33, 1}};
  std::vector<Candidate> after = before;
  after.push_back({44, 1});
  int moved = 0;
  for (int i = 0; i < 40'000; ++i) {
    const std::size_t now = choose(hash_of(i), after);
    if (now == choose(hash_of(i), before)) continue;
    EXPECT_EQ(now, 3U);
    ++moved;
  }
  EXPECT_NEAR(moved, 10'000, 500);
}

TEST(Placement, TheOrderOfCandidatesDoesNotMatterAndRankBeginsWithTheWinner) {
  const std::vector<Candidate> nodes = {{11, 3}, {22, 1}, {33, 2}, {44, 0}};
  const std::vector<Candidate> turned = {{44, 0}, {33, 2}, {22, 1}, {11, 3}};
  for (int i = 0; i < 1000; ++i) {
    const auto order = rank(hash_of(i), nodes);
    ASSERT_EQ(order.size(), 4U);
    EXPECT_EQ(order.front(), choose(hash_of(i), nodes));
    EXPECT_EQ(order.back(), 3U);
    EXPECT_EQ(nodes[order.front()].identity, turned[choose(hash_of(i), turned)].identity);
  }
}

TEST(Placement, WithoutAnyWeightSomebodyIsStillChosen) {
  const std::vector<Candidate> nodes = {{11, 0}, {22, 0}};
  EXPECT_LT(choose(hash_of(1), nodes), 2U);
}

}  // namespace
}  // namespace leat::placement
