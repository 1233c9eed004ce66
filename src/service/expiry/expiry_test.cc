#include <gtest/gtest.h>

#include "expiry/object_tags.h"
#include "expiry/sweeper.h"
#include "log/sink.h"
#include "support/store_world.h"

namespace leat::expiry {
namespace {

class NullSink final : public log::Sink {
 public:
  Status write(std::string_view /*lines*/) override { return {}; }
};

constexpr Duration kDay = std::chrono::hours(24);

class ExpiryTest : public ::testing::Test {
 protected:
  ExpiryTest() {
    EXPECT_TRUE(rig_.open());
    bucket_ = rig_.make_bucket("b");
    sweeper_ = std::make_unique<Sweeper>(
        rig_.store(),
        SweeperTools{.clock = world_.clock("sweeper"), .logger = logger_, .metrics = metrics_},
        SweeperOptions());
  }

  record::ObjectKey key(const std::string& name) const { return {.bucket = bucket_, .key = name}; }

  void set_rules(const std::string& rules) {
    const std::string text = "<LifecycleConfiguration>" + rules + "</LifecycleConfiguration>";
    ASSERT_TRUE(lifecycle::parse_lifecycle(text));
    ASSERT_TRUE(
        rig_.run(rig_.store().set_property(bucket_, std::string(lifecycle::kProperty), text)));
  }
  static std::string rule(const std::string& filter, const std::string& action) {
    return "<Rule><Filter>" + filter + "</Filter><Status>Enabled</Status>" + action + "</Rule>";
  }
  static std::string days(int count) {
    return "<Expiration><Days>" + std::to_string(count) + "</Days></Expiration>";
  }
  void put(const std::string& name, const std::string& tags = "") {
    store::PutDetails details;
    if (!tags.empty()) details.attributes.push_back({.name = "x-amz-tagging", .value = tags});
    ASSERT_TRUE(rig_.put(key(name), "x", details));
  }
  bool has(const std::string& name) { return rig_.find(key(name)).has_value(); }
  Swept sweep() { return rig_.run(sweeper_->sweep()).value(); }

  sim::SimWorld world_{1};
  NullSink sink_;
  log::Logger logger_{sink_, world_.clock("log")};
  metrics::Registry metrics_;
  test::StoreWorld rig_{world_, logger_, 2};
  record::BucketId bucket_{};
  std::unique_ptr<Sweeper> sweeper_;
};

TEST_F(ExpiryTest, ObjectsGoWhenTheyAreDueAndNotBefore) {
  set_rules(rule("<Prefix>tmp/</Prefix>", days(2)));
  put("tmp/a");
  put("keep");
  EXPECT_EQ(sweep().objects, 0U);
  world_.run_for(kDay);
  put("tmp/b");
  EXPECT_EQ(sweep().objects, 0U);
  world_.run_for(2 * kDay);
  EXPECT_EQ(sweep().objects, 1U);
  EXPECT_FALSE(has("tmp/a"));
  EXPECT_TRUE(has("tmp/b"));
  EXPECT_TRUE(has("keep"));
  EXPECT_EQ(sweep().objects, 0U);
}

TEST_F(ExpiryTest, FiltersSeeTheTagsOfObjects) {
  set_rules(rule("<Tag><Key>a b</Key><Value>1&amp;2</Value></Tag>", days(1)));
  put("tagged", "a%20b=1%262&c=3");
  put("other", "a%20b=2");
  put("plain");
  world_.run_for(3 * kDay);
  EXPECT_EQ(sweep().objects, 1U);
  EXPECT_FALSE(has("tagged"));
}

TEST_F(ExpiryTest, ManyPagesAreLookedAt) {
  set_rules(rule("<Prefix>o</Prefix>", days(1)));
  for (int i = 0; i < 600; ++i)
    put("o" + std::to_string(i));
  put("p");
  world_.run_for(3 * kDay);
  EXPECT_EQ(sweep().objects, 600U);
  EXPECT_TRUE(has("p"));
}

TEST_F(ExpiryTest, Abuse59UploadsThatNobodyCompletedAreAborted) {
  set_rules(rule("<Prefix>up/</Prefix>",
                 "<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation>"
                 "</AbortIncompleteMultipartUpload>"));
  ASSERT_TRUE(rig_.run(rig_.store().begin_upload(key("up/a"), {})));
  ASSERT_TRUE(rig_.run(rig_.store().begin_upload(key("other"), {})));
  EXPECT_EQ(sweep().uploads, 0U);
  world_.run_for(3 * kDay);
  EXPECT_EQ(sweep().uploads, 1U);
  const auto left = rig_.run(rig_.store().list_uploads({.bucket = bucket_}));
  ASSERT_EQ(left->size(), 1U);
  EXPECT_EQ(left->front().object.key, "other");
}

TEST_F(ExpiryTest, ItRunsByItselfAndStopsWhenItIsTold) {
  set_rules(rule("", days(1)));
  put("a");
  sweeper_->start();
  world_.run_for(3 * kDay);
  EXPECT_FALSE(has("a"));
  ASSERT_TRUE(rig_.run(sweeper_->stop()));
  put("b");
  world_.run_for(3 * kDay);
  EXPECT_TRUE(has("b"));
}

TEST_F(ExpiryTest, WithoutRulesNothingGoes) {
  set_rules(rule("", days(1)));
  put("a");
  world_.run_for(3 * kDay);
  ASSERT_TRUE(rig_.run(
      rig_.store().set_property(bucket_, std::string(lifecycle::kProperty), std::nullopt)));
  EXPECT_EQ(sweep().objects, 0U);
  EXPECT_TRUE(has("a"));
}

TEST(ObjectTags, WhatCannotBeReadFitsNoRule) {
  EXPECT_TRUE(tags_of({{.name = "x-amz-tagging", .value = "a=%zz"}}).empty());
  EXPECT_TRUE(tags_of({{.name = "other", .value = "a=1"}}).empty());
  EXPECT_EQ(tags_of({{.name = "x-amz-tagging", .value = "a=1&b="}}),
            (std::vector<lifecycle::Tag>{{"a", "1"}, {"b", ""}}));
}

TEST_F(ExpiryTest, OldVersionsAndLonelyMarkersGo) {
  const auto keep = [](record::Bucket& bucket) { bucket.versioning = record::Versioning::on; };
  ASSERT_TRUE(rig_.run(rig_.store().change_bucket(bucket_, keep)));
  set_rules(rule("",
                 "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker>"
                 "</Expiration><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>"
                 "<NewerNoncurrentVersions>1</NewerNoncurrentVersions>"
                 "</NoncurrentVersionExpiration>"));
  for (int i = 0; i < 300; ++i)  // more than a page
    put("many");
  put("deleted");
  ASSERT_TRUE(rig_.run(rig_.store().remove(key("deleted"), {})));
  ASSERT_TRUE(rig_.run(rig_.store().remove(key("lonely"), {})));
  const auto kept = [this] { return rig_.run(rig_.store().counts(bucket_))->kept_versions; };
  EXPECT_EQ(sweep().versions, 1U) << "the lonely marker alone: the rest is too young";
  world_.run_for(3 * kDay);
  EXPECT_EQ(sweep().versions, 298U) << "but for the newest of those that were replaced";
  EXPECT_TRUE(has("many"));
  EXPECT_EQ(kept(), 3U) << "one of many, the marker and its version";
  EXPECT_EQ(sweep().total(), 0U);
}

}  // namespace
}  // namespace leat::expiry
