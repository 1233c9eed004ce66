#include <gtest/gtest.h>

#include "store/store_fixture_test.h"

namespace leat::store {
namespace {

TEST(VersionNameTest, ANameSurvivesItsText) {
  const record::Version version{
      .id = record::VersionId(0x2a), .is_versioned = true, .modified_ms = 1'763'250'000'002};
  const std::string text = to_text(name_of(version));
  const auto parsed = parse_version_name(text);
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->names(version));
  record::Version other = version;
  other.modified_ms += 1;
  EXPECT_FALSE(parsed->names(other));
  EXPECT_EQ(to_text(name_of(record::Version{})), "null");
  EXPECT_TRUE(parse_version_name("null")->names(record::Version{}));
  EXPECT_FALSE(parse_version_name("null")->names(version));
}

TEST(VersionNameTest, WhatIsNoNameIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("nul"), std::string("NULL"), std::string(31, '0'),
        std::string(33, '0'), std::string(32, 'A'), std::string(32, 'g'),
        "-" + std::string(31, '1'), std::string(16, '0') + "0x" + std::string(14, '0')}) {
    EXPECT_FALSE(parse_version_name(text)) << text;
  }
}

// With one disk and with three.
class VersionsTest : public testing::TestWithParam<std::size_t> {
 protected:
  VersionsTest() {
    EXPECT_TRUE(rig_.open());
    bucket_ = rig_.make_bucket("b", {.versioning = record::Versioning::on});
  }

  record::ObjectKey key(std::string name) const {
    return {.bucket = bucket_, .key = std::move(name)};
  }
  void set_versioning(record::Versioning versioning) {
    const auto change = [versioning](record::Bucket& bucket) { bucket.versioning = versioning; };
    ASSERT_TRUE(rig_.run(rig_.store().change_bucket(bucket_, change)));
  }
  VersionName put(const std::string& name, std::string_view data) {
    const auto version = rig_.put(key(name), data);
    EXPECT_TRUE(version);
    return version ? name_of(*version) : VersionName{};
  }
  std::optional<VersionName> remove(const std::string& name) {
    const auto marker = rig_.run(rig_.store().remove(key(name), {}));
    EXPECT_TRUE(marker);
    if (!marker || !*marker) return std::nullopt;
    EXPECT_TRUE((*marker)->is_marker);
    return name_of(**marker);
  }
  std::string get(const std::string& name, const VersionName& version) {
    const auto found = rig_.run(rig_.store().find_version(key(name), version));
    if (!found) return found.error().message();
    if (found->version.is_marker) return "(marker)";
    const auto read = rig_.read(*found, {.offset = 0, .length = found->version.size_bytes});
    return read ? *read : read.error().message();
  }
  bool remove_version(const std::string& name, const VersionName& version) {
    return rig_.run(rig_.store().remove_version(key(name), version)).has_value();
  }
  // All versions as one line: "name:what", '*' for what the object shows, "X" for a marker.
  std::string list(index::HistoryRequest keys = {}) {
    keys.bucket = bucket_;
    std::string line;
    VersionsRequest request{.keys = keys};
    for (bool more = true; more;) {
      const auto page = rig_.run(rig_.store().list_versions(request));
      EXPECT_TRUE(page);
      if (!page) return line;
      EXPECT_LE(page->items.size(), keys.max);
      for (const VersionItem& item : page->items) {
        line += line.empty() ? "" : " ";
        line += item.name;
        if (!item.version) continue;
        line += item.is_current ? "*" : ":";
        line += item.version->is_marker ? "X" : get(item.name, name_of(*item.version));
      }
      more = page->is_truncated;
      if (!more) break;
      request.keys.after = page->items.back().name;
      request.after.reset();
      if (page->items.back().version) request.after = name_of(*page->items.back().version);
    }
    return line;
  }

  sim::SimWorld world_{1};
  NullSink sink_;
  log::Logger logger_{sink_, world_.clock("log")};
  test::StoreWorld rig_{world_, logger_, GetParam()};
  record::BucketId bucket_{};
};

INSTANTIATE_TEST_SUITE_P(Disks, VersionsTest, testing::Values(1U, 3U));

TEST_P(VersionsTest, WhatIsReplacedStaysAndIsReadByItsName) {
  const VersionName first = put("k", "one");
  const std::string large = pattern(300'000, 7);
  const VersionName second = put("k", large);
  put("k", "three");
  for (int boot = 0; boot < 2; ++boot) {
    EXPECT_EQ(rig_.get(key("k")), "three");
    EXPECT_EQ(get("k", first), "one");
    EXPECT_EQ(get("k", second), large);
    ASSERT_TRUE(rig_.crash());
  }
  const auto counts = rig_.run(rig_.store().counts(bucket_));
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->objects, 1U);
  EXPECT_EQ(counts->kept_versions, 2U);
  EXPECT_EQ(counts->kept_bytes, 300'003U);
}

TEST_P(VersionsTest, ADeletionIsAMarkerAndCanBeTakenBack) {
  put("k", "one");
  const auto marker = remove("k");
  ASSERT_TRUE(marker);
  EXPECT_FALSE(rig_.find(key("k")));
  EXPECT_EQ(list(), "k*X k:one");
  EXPECT_TRUE(*rig_.run(rig_.store().find_marker(key("k"))));
  ASSERT_TRUE(rig_.crash());
  EXPECT_EQ(list(), "k*X k:one");
  EXPECT_TRUE(remove_version("k", *marker));
  EXPECT_EQ(rig_.get(key("k")), "one");
  EXPECT_EQ(list(), "k*one");
  EXPECT_FALSE(*rig_.run(rig_.store().find_marker(key("k"))));
  // Also of what never was there.
  EXPECT_TRUE(remove("nothing"));
  EXPECT_EQ(list(), "k*one nothing*X");
}

TEST_P(VersionsTest, RemovingTheNewestShowsTheOneBefore) {
  const VersionName first = put("k", "one");
  const VersionName second = put("k", "two");
  const auto marker = remove("k");
  const VersionName third = put("k", "three");
  EXPECT_EQ(list(), "k*three k:X k:two k:one");
  EXPECT_TRUE(remove_version("k", third));
  EXPECT_EQ(list(), "k*X k:two k:one");
  EXPECT_FALSE(rig_.find(key("k")));
  EXPECT_TRUE(remove_version("k", first));
  EXPECT_EQ(list(), "k*X k:two");
  EXPECT_TRUE(remove_version("k", *marker));
  EXPECT_EQ(rig_.get(key("k")), "two");
  EXPECT_FALSE(remove_version("k", first));
  EXPECT_TRUE(remove_version("k", second));
  EXPECT_EQ(list(), "");
  ASSERT_TRUE(rig_.run(rig_.store().remove_bucket("b")));
}

TEST_P(VersionsTest, ABucketWithOldVersionsIsNotEmpty) {
  put("k", "one");
  remove("k");
  const auto removed = rig_.run(rig_.store().remove_bucket("b"));
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().code(), Errc::conflict);
  EXPECT_EQ(list(), "k*X k:one");
}

TEST_P(VersionsTest, WhileSuspendedThereIsOneNullVersion) {
  set_versioning(record::Versioning::off);
  const VersionName before = put("k", "before");
  EXPECT_TRUE(before.is_null);
  set_versioning(record::Versioning::on);
  put("k", "one");
  EXPECT_EQ(get("k", before), "before");
  EXPECT_EQ(list(), "k*one k:before");
  set_versioning(record::Versioning::suspended);
  put("k", "null");
  EXPECT_EQ(list(), "k*null k:one");
  put("k", "again");
  EXPECT_EQ(list(), "k*again k:one");
  const auto marker = remove("k");
  ASSERT_TRUE(marker);
  EXPECT_TRUE(marker->is_null);
  EXPECT_EQ(list(), "k*X k:one");
  remove("k");
  EXPECT_EQ(list(), "k*X k:one");
  ASSERT_TRUE(rig_.crash());
  EXPECT_EQ(list(), "k*X k:one");
  EXPECT_TRUE(remove_version("k", {.is_null = true}));
  EXPECT_EQ(list(), "k*one");
}

TEST_P(VersionsTest, AConditionSeesTheCurrentVersion) {
  put("k", "one");
  remove("k");
  const auto make = [this](volume::Precondition precondition) {
    return rig_.run(rig_.store().remove(key("k"), std::move(precondition)));
  };
  EXPECT_EQ(make({.etag = "other"}).error().code(), Errc::precondition_failed);
  const auto again = rig_.put(key("k"), "two", {.precondition = {.must_be_absent = true}});
  EXPECT_TRUE(again);
  EXPECT_EQ(list(), "k*two k:X k:one");
}

TEST_P(VersionsTest, PagesOfAnySizeGiveTheSame) {
  for (const char* name : {"a/1", "a/2", "b", "c/1", "d"}) {
    for (const char* data : {"x", "y", "z"})
      put(name, data);
  }
  remove("b");
  remove("c/1");
  const std::string all =
      "a/1*z a/1:y a/1:x a/2*z a/2:y a/2:x b*X b:z b:y b:x c/1*X c/1:z c/1:y c/1:x d*z d:y d:x";
  for (std::size_t max = 1; max <= 20; ++max) {
    EXPECT_EQ(list({.max = max}), all) << max;
    EXPECT_EQ(list({.delimiter = "/", .max = max}), "a/ b*X b:z b:y b:x c/ d*z d:y d:x") << max;
    EXPECT_EQ(list({.prefix = "a/", .delimiter = "/", .max = max}),
              "a/1*z a/1:y a/1:x a/2*z a/2:y a/2:x")
        << max;
  }
}

TEST_P(VersionsTest, AnOldVersionGetsOtherAttributes) {
  const VersionName first = put("k", "one");
  put("k", "two");
  const auto found = rig_.run(rig_.store().find_version(key("k"), first));
  ASSERT_TRUE(found);
  const std::vector<record::Attribute> tags{{.name = "tag", .value = "old"}};
  ASSERT_TRUE(rig_.run(rig_.store().set_attributes(*found, tags)));
  ASSERT_TRUE(rig_.crash());
  const auto after = rig_.run(rig_.store().find_version(key("k"), first));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->version.attributes, tags);
  EXPECT_EQ(list(), "k*two k:one");
}

TEST_P(VersionsTest, UndeletingTakesTheNewestThatIsNoMarker) {
  put("k", "one");
  remove("k");
  remove("k");
  const auto restored = rig_.run(rig_.store().restore(key("k"), std::nullopt));
  ASSERT_TRUE(restored);
  EXPECT_EQ(rig_.get(key("k")), "one");
  EXPECT_EQ(list(), "k*one k:X k:X");
}

TEST_P(VersionsTest, WhoRemovesOnlyThePastNeitherRemovesNorShowsTheObject) {
  const VersionName first = put("k", "one");
  const VersionName second = put("k", "two");
  const auto past = [this](const VersionName& name) {
    return rig_.run(rig_.store().remove_version(key("k"), name, /*must_be_past=*/true));
  };
  EXPECT_EQ(past(second).error().code(), Errc::precondition_failed);
  const auto marker = remove("k");
  EXPECT_EQ(past(*marker).error().code(), Errc::precondition_failed) << "it would show two again";
  EXPECT_TRUE(past(first));
  EXPECT_TRUE(past(second));
  EXPECT_TRUE(past(*marker)) << "nothing is behind it any more";
  EXPECT_EQ(list(), "");
}

TEST_P(VersionsTest, AListingTellsSinceWhenAVersionIsPast) {
  put("k", "old");
  world_.run_for(std::chrono::hours(1));
  put("k", "new");
  world_.run_for(std::chrono::hours(1));
  const std::int64_t now = rig_.store().now_ms();
  // The old one is shown again: the new one is past since now, not since the old one was made.
  ASSERT_TRUE(rig_.run(rig_.store().restore(key("k"), std::nullopt)));
  const VersionsRequest request{.keys = {.bucket = bucket_}};
  const auto page = rig_.run(rig_.store().list_versions(request));
  ASSERT_EQ(page->items.size(), 2U);
  EXPECT_EQ(get("k", name_of(*page->items[1].version)), "new");
  EXPECT_GE(page->items[1].replaced_ms, now);
}

TEST_P(VersionsTest, APageThatEndedAtAVersionThatIsGoneGoesOn) {
  for (const char* data : {"1", "2", "3", "4"})
    put("k", data);
  VersionsRequest request{.keys = {.bucket = bucket_, .max = 2}};
  const auto page = rig_.run(rig_.store().list_versions(request));
  request.keys.after = "k";
  request.after = name_of(*page->items.back().version);
  ASSERT_TRUE(remove_version("k", *request.after));
  const auto rest = rig_.run(rig_.store().list_versions(request));
  ASSERT_EQ(rest->items.size(), 2U);
  EXPECT_EQ(get("k", name_of(*rest->items[0].version)), "2");
}

TEST_P(VersionsTest, AttributesThatWereChangedMeanwhileAreNotOverwritten) {
  put("k", "one");
  const auto found = rig_.find(key("k"));
  const std::vector<record::Attribute> acl{{.name = "acl", .value = "private"}};
  const std::vector<record::Attribute> tags{{.name = "tag", .value = "x"}};
  ASSERT_TRUE(rig_.run(rig_.store().set_attributes(*found, acl)));
  const auto stale = rig_.run(rig_.store().set_attributes(*found, tags));
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code(), Errc::precondition_failed);
  EXPECT_EQ(rig_.find(key("k"))->version.attributes, acl);
}

}  // namespace
}  // namespace leat::store
