#include "fsck/fsck.h"

#include <gtest/gtest.h>

#include "log/sink.h"
#include "support/volume_world.h"

namespace leat::fsck {
namespace {

class NullSink final : public log::Sink {
 public:
  Status write(std::string_view /*lines*/) override { return {}; }
};

class FsckTest : public testing::Test {
 protected:
  FsckTest() {
    EXPECT_TRUE(world_.open());
    EXPECT_TRUE(world_.run(
        world_.volume().put_bucket({.id = bucket_, .name = "b", .undo_window_ms = 60'000})));
    for (int i = 0; i < 30; ++i)
      EXPECT_TRUE(world_.put(key(std::to_string(i % 20)), std::string(9'000, 'x')));
    EXPECT_TRUE(world_.put(key("large"), std::string(300'000, 'L')));
    EXPECT_TRUE(world_.run(world_.volume().remove(key("7"), {})));
    EXPECT_TRUE(world_.close());
  }

  record::ObjectKey key(std::string name) const {
    return {.bucket = bucket_, .key = std::move(name)};
  }
  volume::RecoveryTools tools() {
    return {.disk = world_.disk(), .clock = world_.world().clock("node"), .rng = rng_};
  }
  Report check_now() {
    auto report = check(tools(), folders_, [](const Report&) {});
    EXPECT_TRUE(report);
    return report ? *report : Report{};
  }
  std::string object_file() {
    const std::string shelf = "d/files/" + world_.disk().list("d/files")->front();
    return shelf + '/' + world_.disk().list(shelf)->front();
  }

  const record::BucketId bucket_{1};
  const volume::Folders folders_{"d"};
  io::SeededRng rng_{1};
  NullSink sink_;
  sim::Timeline log_time_;
  sim::SimClock log_clock_{log_time_};
  log::Logger logger_{sink_, log_clock_};
  test::VolumeWorld world_{1, logger_};
};

TEST_F(FsckTest, ASoundDiskIsClean) {
  const Report report = check_now();
  EXPECT_TRUE(report.is_clean()) << report.findings.front().where << report.findings.front().what;
  EXPECT_EQ(report.objects, 20U);
  EXPECT_EQ(report.versions, 31U);  // ten were replaced, one was removed: all can be had back
  EXPECT_EQ(report.files, 3U);
  EXPECT_EQ(report.orphans, 0U);
  EXPECT_GE(report.records, 33U);
}

TEST_F(FsckTest, DamageIsNamedWhereverItIs) {
  const std::vector<std::pair<std::string, std::uint64_t>> places = {
      {object_file(), 1000},
      {"d/segments/0000000000000001.seg", 100},
      {"d/segments/0000000000000001.seg", 30'000},
      {"d/segments/0000000000000001.seg", 10},
  };
  for (const auto& [path, offset] : places) {
    ASSERT_TRUE(world_.disk().flip_bit(path, offset, 3));
    EXPECT_FALSE(check_now().is_clean()) << path << ' ' << offset;
    ASSERT_TRUE(world_.disk().flip_bit(path, offset, 3));
  }
  EXPECT_TRUE(check_now().is_clean());
}

TEST_F(FsckTest, AnOrphanIsCountedAndNoFinding) {
  ASSERT_TRUE(world_.disk().make_directories("d/files/aa"));
  ASSERT_TRUE(world_.disk().open("d/files/aa/aa00000000000001", io::OpenMode::create));
  const Report report = check_now();
  EXPECT_TRUE(report.is_clean());
  EXPECT_EQ(report.orphans, 1U);
}

TEST_F(FsckTest, WhatTheIndexDoesNotKnowYetIsToldAndNoFinding) {
  EXPECT_EQ(check_now().pending, 0U);
  ASSERT_TRUE(world_.open());
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(world_.put(key("new" + std::to_string(i)), "x"));
  world_.kill();
  const Report report = check_now();
  EXPECT_TRUE(report.is_clean());
  EXPECT_EQ(report.pending, 5U);
}

TEST_F(FsckTest, ALostIndexIsFoundAndRebuilt) {
  const auto names = world_.disk().list("d/index");
  for (const std::string& name : *names) {
    if (!name.ends_with(".sst")) continue;
    ASSERT_TRUE(world_.disk().remove("d/index/" + name));
  }
  EXPECT_FALSE(check_now().is_clean());
  const auto rebuilt = rebuild(tools(), folders_, volume::Loss::refused);
  ASSERT_TRUE(rebuilt) << rebuilt.error().message();
  EXPECT_EQ(rebuilt->objects, 20U);
  EXPECT_EQ(rebuilt->old_index, "d/index.old1");
  EXPECT_TRUE(check_now().is_clean());
  ASSERT_TRUE(world_.open());
  EXPECT_EQ(world_.get(key("large")).value()->size(), 300'000U);
  EXPECT_TRUE(world_.run(world_.volume().restore(key("7"), std::nullopt)));
}

TEST_F(FsckTest, ADamagedSegmentIsRebuiltOnlyWhenLossIsAccepted) {
  // In the header of a record that something follows.
  ASSERT_TRUE(world_.disk().flip_bit("d/segments/0000000000000001.seg", 20'000, 0));
  ASSERT_TRUE(world_.disk().flip_bit("d/segments/0000000000000001.seg", 64 + 8, 0));
  EXPECT_EQ(rebuild(tools(), folders_, volume::Loss::refused).error().code(), Errc::corrupt);
  const auto rebuilt = rebuild(tools(), folders_, volume::Loss::accepted);
  ASSERT_TRUE(rebuilt) << rebuilt.error().message();
  EXPECT_GT(rebuilt->damaged_bytes, 0U);
  EXPECT_TRUE(world_.open());
}

TEST_F(FsckTest, GoodFilesWhoseRecordIsLostArePutAsideAndNotRemoved) {
  // Of the last object that was put, whose record has no data: the record of the put is damaged.
  ASSERT_TRUE(world_.open());
  ASSERT_TRUE(world_.put(key("found"), std::string(300'000, 'F')));
  const auto segments = world_.disk().list("d/segments");
  const std::string last = "d/segments/" + segments->back();
  const std::uint64_t end = world_.disk().info(last)->size_bytes;
  ASSERT_TRUE(world_.put(key("torn"), std::string(300'000, 'T')));
  ASSERT_EQ(world_.disk().list("d/segments")->size(), segments->size());
  ASSERT_TRUE(world_.put(key("behind"), "x"));
  ASSERT_TRUE(world_.close());
  ASSERT_TRUE(world_.disk().flip_bit(last, end + record::kBatchHeaderBytes + 40, 1));
  ASSERT_EQ(rebuild(tools(), folders_, volume::Loss::refused).error().code(), Errc::corrupt);
  const auto rebuilt = rebuild(tools(), folders_, volume::Loss::accepted);
  ASSERT_TRUE(rebuilt) << rebuilt.error().message();
  ASSERT_EQ(rebuilt->lost.size(), 3U);
  std::uint64_t bytes = 0;
  for (const volume::LostFile& one : rebuilt->lost) {
    EXPECT_EQ(one.owner, key("torn"));
    bytes += one.size_bytes;
  }
  EXPECT_EQ(bytes, 300'000U);
  ASSERT_TRUE(world_.open());
  EXPECT_EQ(world_.run(world_.volume().collect_orphans()).value(), 0U);
  for (const volume::LostFile& one : rebuilt->lost)
    EXPECT_TRUE(world_.disk().info(one.path)) << one.path;
  EXPECT_EQ(world_.get(key("found")).value()->size(), 300'000U);
  EXPECT_FALSE(world_.get(key("torn")).value());
}

}  // namespace
}  // namespace leat::fsck
