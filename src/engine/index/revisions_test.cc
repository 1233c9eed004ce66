#include "index/revisions.h"

#include <gtest/gtest.h>

namespace leat::index {
namespace {

const record::ObjectKey kDog{.bucket = record::BucketId(1), .key = "dog"};

TEST(Revisions, TheHashTellsBucketsAndNamesApart) {
  EXPECT_EQ(hash_of(kDog), hash_of({.bucket = record::BucketId(1), .key = "dog"}));
  EXPECT_NE(hash_of(kDog), hash_of({.bucket = record::BucketId(2), .key = "dog"}));
  EXPECT_NE(hash_of(kDog), hash_of({.bucket = record::BucketId(1), .key = "cat"}));
}

TEST(Revisions, AStampStaysTheSameWhileNothingChanges) {
  const Revisions revisions;
  EXPECT_TRUE(revisions.stamp(7));
  EXPECT_EQ(revisions.stamp(7), revisions.stamp(7));
}

TEST(Revisions, ThereIsNoStampWhileAKeyIsBeingChanged) {
  Revisions revisions;
  revisions.begin_change(7);
  EXPECT_FALSE(revisions.stamp(7));
  EXPECT_TRUE(revisions.stamp(8));
}

TEST(Revisions, AChangeMakesTheStampAnotherOne) {
  Revisions revisions;
  const auto before = revisions.stamp(7);
  const auto beside = revisions.stamp(8);
  revisions.begin_change(7);
  revisions.end_changes();
  ASSERT_TRUE(revisions.stamp(7));
  EXPECT_NE(revisions.stamp(7), before);
  EXPECT_EQ(revisions.stamp(8), beside);
}

TEST(Revisions, TwoChangesOfOneCellInABatchEndTogether) {
  Revisions revisions;
  revisions.begin_change(7);
  revisions.begin_change(7);
  EXPECT_FALSE(revisions.stamp(7));
  revisions.end_changes();
  EXPECT_TRUE(revisions.stamp(7));
  const auto after = revisions.stamp(7);
  revisions.end_changes();
  EXPECT_EQ(revisions.stamp(7), after);
}

}  // namespace
}  // namespace leat::index
