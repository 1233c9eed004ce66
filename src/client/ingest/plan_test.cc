#include "ingest/plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace leat::ingest {
namespace {

// `count` samples of one file, sorted by `labels` labels.
Catalog sorted_by_label(std::size_t count, std::size_t labels, std::uint64_t size) {
  Catalog catalog;
  const auto origin = catalog.add_origin({.path = "/data"});
  for (std::size_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::uint32_t>(i * labels / count);
    const std::string name = fmt::format("{:04}/{:07}.jpg", label, i);
    catalog.begin_group(label, true);
    catalog.add({.name = name, .origin = origin, .size_bytes = size, .changed_ns = 1});
  }
  return catalog;
}

std::set<GroupId> all_of(const Plan& plan) {
  return {plan.order.begin(), plan.order.end()};
}

TEST(Plan, EverySampleIsInItOnceWhateverTheOrder) {
  const Catalog catalog = sorted_by_label(1000, 10, 5000);
  for (const bool is_mixed : {true, false}) {
    const Plan plan = make_plan(catalog, {.shard_bytes = kMiB, .is_mixed = is_mixed});
    EXPECT_EQ(plan.order.size(), 1000U);
    EXPECT_EQ(all_of(plan).size(), 1000U);
    EXPECT_EQ(plan.cuts.back(), 1000U);
    EXPECT_EQ(std::ranges::is_sorted(plan.order), !is_mixed);
  }
}

TEST(Plan, TheSameSeedGivesTheSameOrderAndAnotherOneAnother) {
  const Catalog catalog = sorted_by_label(1000, 10, 5000);
  EXPECT_EQ(make_plan(catalog, {.seed = 7}).order, make_plan(catalog, {.seed = 7}).order);
  EXPECT_NE(make_plan(catalog, {.seed = 7}).order, make_plan(catalog, {.seed = 8}).order);
}

TEST(Plan, ShardsAreOfEqualSizeAndNoneIsASmallRest) {
  const Catalog catalog = sorted_by_label(1000, 10, 5000);
  const Plan plan = make_plan(catalog, {.shard_bytes = kMiB});
  ASSERT_EQ(plan.shard_count(), 6U);
  for (std::size_t i = 0; i < plan.shard_count(); ++i) {
    std::uint64_t bytes = 0;
    for (const GroupId id : plan.shard(i))
      bytes += tar_bytes(catalog, catalog.group(id));
    EXPECT_LE(bytes, kMiB);
    EXPECT_GE(bytes, 8 * kMiB / 10);
  }
}

TEST(Plan, ASampleThatIsLargerThanAShardHasOneOfItsOwn) {
  Catalog catalog;
  const auto origin = catalog.add_origin({.path = "/data"});
  for (const auto& [name, size] :
       {std::pair{"a.bin", 10U}, {"b.bin", 5'000'000U}, {"c.bin", 10U}}) {
    catalog.begin_group(0, true);
    catalog.add({.name = name, .origin = origin, .size_bytes = size});
  }
  const Plan plan = make_plan(catalog, {.shard_bytes = kMiB, .is_mixed = false});
  EXPECT_EQ(plan.cuts.back(), 3U);
  EXPECT_LE(plan.shard_count(), 3U);
}

TEST(Plan, NothingIsAPlanWithoutShards) {
  EXPECT_EQ(make_plan(Catalog(), {}).shard_count(), 0U);
}

TEST(Plan, NeighboursNeverHaveTheSameKey) {
  Catalog catalog;
  const auto origin = catalog.add_origin({.path = "/data"});
  for (int i = 0; i < 300; ++i) {
    catalog.begin_group(0, true);
    catalog.add({.name = fmt::format("{}.jpg", i % 3), .origin = origin, .size_bytes = 1});
  }
  catalog.set_has_repeated_keys();
  const Plan plan = make_plan(catalog, {.seed = 3});
  EXPECT_EQ(all_of(plan).size(), 300U);
  std::size_t neighbours = 0;
  for (std::size_t i = 1; i < plan.order.size(); ++i) {
    const auto key = [&](std::size_t at) { return catalog.key(catalog.group(plan.order[at])); };
    neighbours += key(i) == key(i - 1) ? 1 : 0;
  }
  EXPECT_EQ(neighbours, 0U);
}

TEST(Plan, FilesThatAreInNoSampleDoNotPartTwoOfOneKey) {
  Catalog catalog;
  const auto origin = catalog.add_origin({.path = "/data"});
  const auto add = [&](const char* name, bool is_sample) {
    catalog.begin_group(0, is_sample);
    catalog.add({.name = name, .origin = origin, .size_bytes = 1});
  };
  add("b.jpg", true);
  add("c.jpg", true);
  add("a.jpg", true);
  add("README", false);
  add("a.jpg", true);
  catalog.set_has_repeated_keys();
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::vector<std::string> keys;
    for (const GroupId id : make_plan(catalog, {.seed = seed}).order)
      if (catalog.group(id).is_sample) keys.emplace_back(catalog.key(catalog.group(id)));
    EXPECT_EQ(std::ranges::adjacent_find(keys), keys.end()) << "seed " << seed;
  }
}

TEST(Plan, AnIdentityIsThatOfTheFilesAndTheirOrder) {
  const Catalog catalog = sorted_by_label(10, 2, 100);
  const std::vector<GroupId> some = {1, 2, 3};
  const std::vector<GroupId> turned = {3, 2, 1};
  EXPECT_EQ(identity_of(catalog, some), identity_of(sorted_by_label(10, 2, 100), some));
  EXPECT_NE(identity_of(catalog, some), identity_of(catalog, turned));
  EXPECT_NE(identity_of(catalog, some), identity_of(sorted_by_label(10, 2, 101), some));
  EXPECT_EQ(identity_of(catalog, some).size(), 20U);
}

TEST(Plan, MixingTakesTheClassesApart) {
  // 1000 classes, 100 000 samples of 100 KiB: 2 500 blocks.
  const Catalog catalog = sorted_by_label(100'000, 1000, 100 * kKiB);
  const Quality mixed = quality_of(catalog, make_plan(catalog, {}), 64);
  const Quality sorted = quality_of(catalog, make_plan(catalog, {.is_mixed = false}), 64);
  EXPECT_EQ(mixed.labels, 1000U);
  EXPECT_LT(mixed.measured, 1.05);
  EXPECT_LT(mixed.expected, 1.05);
  EXPECT_GT(sorted.measured, 10);
  EXPECT_GT(sorted.expected, 10);
}

}  // namespace
}  // namespace leat::ingest
