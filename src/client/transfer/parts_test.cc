#include "transfer/parts.h"

#include <gtest/gtest.h>

namespace leat::transfer {
namespace {

TEST(Parts, CoverTheWholeWithoutGaps) {
  for (const std::uint64_t size :
       {std::uint64_t{1}, 8 * kMiB - 1, 8 * kMiB, 8 * kMiB + 1, 100 * kGiB + 17, 5 * 1024 * kGiB}) {
    const PartPlan plan = plan_parts(size, 8 * kMiB);
    ASSERT_LE(plan.count, kPartsMax);
    ASSERT_GE(plan.part_bytes, kPartMinBytes);
    std::uint64_t at = 0;
    for (std::uint32_t i = 0; i < plan.count; ++i) {
      const Part part = plan.part(i);
      ASSERT_EQ(part.offset, at);
      ASSERT_GT(part.length, 0U);
      at += part.length;
    }
    EXPECT_EQ(at, size);
  }
}

TEST(Parts, AreNeverSmallerThanTheServiceTakes) {
  EXPECT_EQ(plan_parts(100 * kMiB, kMiB).part_bytes, kPartMinBytes);
  EXPECT_EQ(plan_parts(100 * kMiB, 64 * kMiB).count, 2U);
}

TEST(Parts, OfAStreamGrowSoThatTheyHoldTheLargestObject) {
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < kPartsMax; ++i)
    total += growing_part_bytes(i, 8 * kMiB);
  EXPECT_GE(total, 5 * 1024 * kGiB);
  EXPECT_EQ(growing_part_bytes(0, 8 * kMiB), 8 * kMiB);
}

}  // namespace
}  // namespace leat::transfer
