// The index alone, without a volume around it: how its keys sort, what changes do to it. The model
// test (tests/engine) has it under everything else.
#include "index/index.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "io/rng.h"
#include "sim/sim_disk.h"
#include "sim/timeline.h"

namespace leat::index {
namespace {

using record::ObjectKey;
using record::VersionId;

// Keys.

TEST(IndexKeys, ObjectsSortByBucketThenByTheBytesOfTheirKeys) {
  const std::vector<std::string> names = {std::string("\0", 1),
                                          std::string("\0\0", 2),
                                          "a",
                                          std::string("a\0", 2),
                                          std::string("a\0b", 3),
                                          "aa",
                                          "a\xff",
                                          "b",
                                          "\xff",
                                          "\xff\xff"};
  std::vector<std::string> keys;
  for (const std::uint32_t bucket : {1U, 2U, 256U}) {
    for (const std::string& name : names)
      keys.push_back(object_key({.bucket = record::BucketId(bucket), .key = name}));
  }
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(object_name(keys[i]), names[i]) << i;
}

TEST(IndexKeys, TheTrashOfOneKeyIsNotThatOfAnotherThatBeginsWithIt) {
  const ObjectKey shorter{.bucket = record::BucketId(1), .key = "a"};
  const ObjectKey longer{.bucket = record::BucketId(1), .key = "ab"};
  EXPECT_TRUE(trash_key(shorter, VersionId(1)).starts_with(trash_prefix(shorter)));
  EXPECT_FALSE(trash_key(longer, VersionId(1)).starts_with(trash_prefix(shorter)));
}

TEST(IndexKeys, WhatIsDueSortsByItsTimeAndIsReadBack) {
  std::vector<std::string> keys;
  for (const std::int64_t until : {0L, 1L, 255L, 256L, 1'763'250'000'000L}) {
    const Due due{.until_ms = until,
                  .object = {.bucket = record::BucketId(7), .key = "k\0k"},
                  .version = VersionId(9)};
    keys.push_back(due_key(due));
    const auto back = decode_due(keys.back());
    ASSERT_TRUE(back);
    EXPECT_EQ(back->until_ms, until);
    EXPECT_EQ(back->object, due.object);
    EXPECT_EQ(back->version, due.version);
  }
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  EXPECT_FALSE(decode_due(keys.back().substr(0, 6)));
}

// Changes.

class IndexTest : public testing::Test {
 protected:
  IndexTest() {
    auto opened = kv::Kv::open(disk_, "index", {.cache_bytes = kMiB, .quiet = true});
    kv_ = std::move(*opened);
    index_ = std::make_unique<Index>(*kv_);
    EXPECT_TRUE(index_->load());
    apply(record::PutBucket{{.id = bucket_, .name = "b", .undo_window_ms = 100}});
  }

  void apply(const record::Change& change) {
    const auto before = index_->before(change);
    ASSERT_TRUE(before) << before.error().message();
    kv::Batch batch;
    index_->apply(record::Sequence(++sequence_), change, *before, batch);
    index_->finish({.segment = record::SegmentId(1), .offset = sequence_}, batch);
    ASSERT_TRUE(kv_->write(batch));
  }
  ObjectKey key(std::string name) const { return {.bucket = bucket_, .key = std::move(name)}; }
  record::Version version(std::uint64_t size, record::Place place) {
    return {.id = VersionId(sequence_ + 1),
            .sequence = record::Sequence(sequence_ + 1),
            .size_bytes = size,
            .modified_ms = 1000,
            .etag = "e",
            .place = std::move(place)};
  }
  record::Version small(std::uint64_t size) {
    return version(size, record::SegmentPlace{.segment = record::SegmentId(1), .offset = 64});
  }
  record::Version large(std::uint64_t file, std::uint64_t size) {
    return version(
        size, std::vector<record::FileExtent>{{.file = record::FileId(file), .size_bytes = size}});
  }
  void put(const std::string& name, record::Version fresh) {
    const auto now = index_->find(key(name));
    ASSERT_TRUE(now);
    apply(record::PutObject{.object = key(name),
                            .version = std::move(fresh),
                            .replaced = *now ? (*now)->id : VersionId{}});
  }
  void remove(const std::string& name, std::int64_t at_ms) {
    const auto now = index_->find(key(name));
    ASSERT_TRUE(now && *now);
    apply(record::RemoveObject{.object = key(name), .removed = (*now)->id, .at_ms = at_ms});
  }
  std::vector<std::string> names(ListRequest request) {
    request.bucket = bucket_;
    std::vector<std::string> all;
    const auto page = index_->list(request);
    for (const ListItem& item : page->items)
      all.push_back(item.version ? item.name : "group " + item.name);
    return all;
  }

  const record::BucketId bucket_{3};
  sim::Timeline timeline_;
  sim::SimClock clock_{timeline_};
  sim::SimDisk disk_{clock_, 1};
  std::unique_ptr<kv::Kv> kv_;
  std::unique_ptr<Index> index_;
  std::uint64_t sequence_ = 0;
};

TEST_F(IndexTest, CountsFollowEveryChangeAndSurviveALoad) {
  put("a", small(10));
  put("b", large(5, 1000));
  put("a", small(30));
  EXPECT_EQ(index_->counts(bucket_),
            (Counts{.objects = 2, .bytes = 1030, .trashed_objects = 1, .trashed_bytes = 10}));
  remove("b", 2000);
  const Counts now{.objects = 1, .bytes = 30, .trashed_objects = 2, .trashed_bytes = 1010};
  EXPECT_EQ(index_->counts(bucket_), now);
  Index again(*kv_);
  ASSERT_TRUE(again.load());
  EXPECT_EQ(again.counts(bucket_), now);
  EXPECT_EQ(again.live_bytes(), index_->live_bytes());
  EXPECT_EQ(again.applied()->value().offset, sequence_);
}

TEST_F(IndexTest, AFileIsKnownUntilItsVersionIsPurgedAndThenGarbageAndThenNobodys) {
  put("b", large(5, 1000));
  EXPECT_TRUE(*index_->is_known(record::FileId(5)));
  remove("b", 2000);
  const auto due = index_->find_due(2100, 10);
  ASSERT_EQ(due->size(), 1U);
  EXPECT_EQ((*due)[0].until_ms, 2100) << "removed at 2000, kept for the window of 100";
  EXPECT_TRUE(index_->find_due(2099, 10)->empty());
  EXPECT_TRUE(index_->find_garbage(10)->empty());
  apply(record::PurgeVersion{.object = (*due)[0].object, .purged = (*due)[0].version});
  EXPECT_EQ(index_->find_garbage(10)->size(), 1U);
  EXPECT_TRUE(*index_->is_known(record::FileId(5)));
  EXPECT_FALSE(*index_->is_known(record::FileId(6)));
  EXPECT_EQ(index_->counts(bucket_), Counts{});
}

TEST_F(IndexTest, ListingsGroupByAnyDelimiterAndGoOnBehindAGroup) {
  for (const char* name : {"a", "a--b", "a--c", "a-d", "b--x--y", "b--x--z", "c"})
    put(name, small(1));
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({.delimiter = "--"}), (Names{"a", "group a--", "a-d", "group b--", "c"}));
  EXPECT_EQ(names({.prefix = "b--", .delimiter = "--"}), (Names{"group b--x--"}));
  EXPECT_EQ(names({.delimiter = "--", .after = "a--"}), (Names{"a-d", "group b--", "c"}));
  EXPECT_EQ(names({.after = "a--b", .max = 2}), (Names{"a--c", "a-d"}));
}

// Invariant 1: the same changes give the same index, so a rebuild cannot differ.
TEST_F(IndexTest, TheSameChangesGiveTheSameEntries) {
  const auto entries = [](const kv::Kv& kv) {
    std::vector<std::pair<std::string, std::string>> all;
    kv::Cursor cursor = kv.cursor();
    for (cursor.seek(""); cursor.is_valid(); cursor.next())
      all.emplace_back(cursor.key(), cursor.value());
    return all;
  };
  const auto run = [this](std::uint64_t seed) {
    io::SeededRng rng(seed);
    for (int i = 0; i < 300; ++i) {
      const std::string name = "k" + std::to_string(rng.below(20));
      const auto now = index_->find(key(name));
      if (rng.below(3) == 0 && now && *now) {
        remove(name, 2000 + i);
      } else if (rng.below(2) == 0) {
        put(name, small(rng.below(1000)));
      } else {
        put(name, large(1000 + static_cast<std::uint64_t>(i), 5000));
      }
    }
  };
  run(42);
  const auto first = entries(*kv_);
  index_.reset();
  kv_.reset();
  sequence_ = 0;
  auto fresh = kv::Kv::open(disk_, "second", {.cache_bytes = kMiB, .quiet = true});
  kv_ = std::move(*fresh);
  index_ = std::make_unique<Index>(*kv_);
  ASSERT_TRUE(index_->load());
  apply(record::PutBucket{{.id = bucket_, .name = "b", .undo_window_ms = 100}});
  run(42);
  EXPECT_TRUE(entries(*kv_) == first);
}

}  // namespace
}  // namespace leat::index
