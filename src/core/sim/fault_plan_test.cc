#include "sim/fault_plan.h"

#include <gtest/gtest.h>

#include <functional>

#include "sim/disk_test_support.h"

namespace leat::sim {
namespace {

using io::OpenMode;

class FaultTest : public DiskTest {};

TEST_F(FaultTest, FailsTheNthCallOfItsKindAndNoOther) {
  auto file = must_open("/f", OpenMode::create);
  disk.faults().add({.call = DiskCall::write, .nth = 3});
  EXPECT_TRUE(file->write_at(0, as_bytes("1")));
  EXPECT_TRUE(file->sync_data());
  EXPECT_TRUE(file->write_at(1, as_bytes("2")));
  const auto third = file->write_at(2, as_bytes("3"));
  EXPECT_EQ(third.error().message(), "io: write /f: Input/output error");
  EXPECT_TRUE(file->write_at(2, as_bytes("4")));
  EXPECT_EQ(read("/f"), "124");
  EXPECT_EQ(disk.calls(DiskCall::write), 4U);
}

TEST_F(FaultTest, EveryKindOfCallCanFailWithoutEffect) {
  write_durably("/f", "x");
  auto file = must_open("/f", OpenMode::read_write);
  std::byte byte{};
  const auto status = [](auto result) { return result.has_value(); };
  const std::vector<std::pair<DiskCall, std::function<bool()>>> calls = {
      {DiskCall::open, [&] { return status(disk.open("/new", OpenMode::create)); }},
      {DiskCall::read, [&] { return status(file->read_at(0, std::span(&byte, 1))); }},
      {DiskCall::write, [&] { return status(file->write_at(0, as_bytes("y"))); }},
      {DiskCall::sync, [&] { return status(file->sync_data()); }},
      {DiskCall::truncate, [&] { return status(file->truncate(0)); }},
      {DiskCall::info, [&] { return status(disk.info("/f")); }},
      {DiskCall::lock, [&] { return status(file->lock()); }},
      {DiskCall::rename, [&] { return status(disk.rename("/f", "/g")); }},
      {DiskCall::remove, [&] { return status(disk.remove("/f")); }},
      {DiskCall::make_directories, [&] { return status(disk.make_directories("/d")); }},
      {DiskCall::list, [&] { return status(disk.list("/")); }},
      {DiskCall::sync_directory, [&] { return status(disk.sync_directory("/")); }},
      {DiskCall::space, [&] { return status(disk.space("/")); }},
  };
  ASSERT_EQ(calls.size(), kDiskCallNames.size());
  for (const auto& [call, run] : calls) {
    disk.faults().add({.call = call, .nth = 1});
    EXPECT_FALSE(run()) << name_of(call);
  }
  EXPECT_EQ(disk.list("/").value(), (std::vector<std::string>{"f"}));
  EXPECT_EQ(read("/f"), "x");
}

TEST_F(FaultTest, ABrokenDiskFailsFromThenOnUntilThePlanIsCleared) {
  write("/f", "x");
  disk.faults().add({.call = DiskCall::list, .posix_errno = EACCES, .nth = 2, .and_after = true});
  EXPECT_TRUE(disk.list("/"));
  EXPECT_EQ(disk.list("/").error().code(), Errc::denied);
  EXPECT_EQ(disk.list("/").error().code(), Errc::denied);
  disk.faults().clear();
  EXPECT_TRUE(disk.list("/"));
}

TEST_F(FaultTest, FailsOnlyPathsWithTheGivenPart) {
  disk.faults().add({.call = DiskCall::open, .nth = 1, .path_part = "wal"});
  EXPECT_TRUE(disk.open("/data", OpenMode::create));
  EXPECT_FALSE(disk.open("/wal.1", OpenMode::create));
  EXPECT_TRUE(disk.open("/wal.1", OpenMode::create));
}

TEST_F(FaultTest, FailsByChanceAboutAsOftenAsAsked) {
  auto file = must_open("/f", OpenMode::create);
  disk.faults().add({.call = DiskCall::write, .posix_errno = ENOSPC, .percent = 20});
  int failed = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto written = file->write_at(0, as_bytes("x"));
    if (written) continue;
    EXPECT_EQ(written.error().code(), Errc::no_space);
    ++failed;
  }
  EXPECT_GT(failed, 140);
  EXPECT_LT(failed, 260);
}

TEST_F(FaultTest, ShortWritesMoveAtLeastOneByteAndWriteAllGoesOn) {
  auto file = must_open("/f", OpenMode::create);
  disk.faults().add({.call = DiskCall::write, .effect = FaultEffect::shorten, .percent = 100});
  const std::string text(1000, 'x');
  const std::size_t count = file->write_at(0, as_bytes(text)).value();
  EXPECT_GE(count, 1U);
  EXPECT_LT(count, text.size());
  EXPECT_TRUE(file->write_all_at(0, as_bytes(text)));
  EXPECT_EQ(read("/f"), text);
}

TEST_F(FaultTest, ALostWriteIsAcknowledgedButNeverStored) {
  write_durably("/f", "old");
  disk.faults().add({.call = DiskCall::write, .effect = FaultEffect::lose, .nth = 1});
  auto file = must_open("/f", OpenMode::read_write);
  EXPECT_EQ(file->write_at(1, as_bytes("NEW")).value(), 3U);
  EXPECT_TRUE(file->sync_data());
  EXPECT_EQ(read("/f"), std::string("old\0", 4));
  disk.crash(CrashMode::keep_all);
  EXPECT_EQ(read("/f"), std::string("old\0", 4));
}

TEST_F(FaultTest, ARetriedSyncSucceedsWithoutTheDataOfTheFailedOne) {
  write_durably("/f", "old");
  auto file = must_open("/f", OpenMode::read_write);
  ASSERT_TRUE(file->write_all_at(0, as_bytes("NEW")));
  disk.faults().add({.call = DiskCall::sync, .nth = 1});
  disk.start_log();
  EXPECT_EQ(file->sync_data().error().code(), Errc::io);
  ASSERT_TRUE(file->write_all_at(3, as_bytes("!")));
  EXPECT_TRUE(file->sync_data());
  EXPECT_EQ(read("/f"), "NEW!") << "the cache still shows what the disk has lost";
  auto replayed = disk.replay_prefix(disk.log().size());
  disk.crash(CrashMode::keep_all);
  EXPECT_EQ(read("/f"), "old!");
  replayed->crash(CrashMode::keep_all);
  EXPECT_EQ(sim::read(*replayed, "/f"), "old!");
}

}  // namespace
}  // namespace leat::sim
