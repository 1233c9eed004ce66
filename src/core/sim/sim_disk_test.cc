#include "sim/sim_disk.h"

#include <gtest/gtest.h>

#include "sim/disk_test_support.h"

namespace leat::sim {
namespace {

using io::OpenMode;

class SimDiskTest : public DiskTest {};

TEST_F(SimDiskTest, ReadsBackWhatWasWrittenAndZerosInHoles) {
  auto file = must_open("/f", OpenMode::create_new);
  ASSERT_TRUE(file->write_all_at(5000, as_bytes("late")));
  ASSERT_TRUE(file->write_all_at(0, as_bytes("early")));
  EXPECT_EQ(file->info().value().size_bytes, 5004U);
  const std::string content = read("/f");
  EXPECT_EQ(content.substr(0, 5), "early");
  EXPECT_EQ(content.substr(5, 4995), std::string(4995, '\0'));
  EXPECT_EQ(content.substr(5000), "late");
}

TEST_F(SimDiskTest, EmptyNamesInAFoldersPathAreSkipped) {
  EXPECT_TRUE(disk.make_directories("/b//c///d//"));
  EXPECT_TRUE(disk.info("b/c/d").value().is_directory);
}

TEST_F(SimDiskTest, TruncatedBytesDoNotComeBack) {
  auto file = must_open("/f", OpenMode::create);
  ASSERT_TRUE(file->write_all_at(0, as_bytes("secret")));
  ASSERT_TRUE(file->truncate(2));
  ASSERT_TRUE(file->truncate(6));
  EXPECT_EQ(read("/f"), std::string("se\0\0\0\0", 6));
}

TEST_F(SimDiskTest, OpenModesAskForAndForbidExistence) {
  EXPECT_EQ(disk.open("/f", OpenMode::read).error().code(), Errc::not_found);
  EXPECT_EQ(disk.open("/f", OpenMode::read_write).error().code(), Errc::not_found);
  EXPECT_EQ(disk.open("/none/f", OpenMode::create).error().code(), Errc::not_found);
  EXPECT_TRUE(disk.open("/f", OpenMode::create_new));
  EXPECT_EQ(disk.open("/f", OpenMode::create_new).error().code(), Errc::conflict);
  EXPECT_TRUE(disk.open("/f", OpenMode::create));
  auto reader = must_open("/f", OpenMode::read);
  EXPECT_EQ(reader->write_at(0, as_bytes("x")).error().code(), Errc::io);
}

TEST_F(SimDiskTest, UncachedReadsMustBeAligned) {
  write("/f", std::string(1024, 'x'));
  auto file = must_open("/f", OpenMode::read_uncached);
  alignas(512) std::array<std::byte, 1024> buffer{};
  EXPECT_EQ(file->read_at(512, std::span(buffer).first(512)).value(), 512U);
  EXPECT_EQ(file->read_at(1, std::span(buffer).first(512)).error().code(), Errc::bad_request);
  EXPECT_EQ(file->read_at(0, std::span(buffer).first(100)).error().code(), Errc::bad_request);
}

TEST_F(SimDiskTest, FoldersListRenameAndRemoveLikePosix) {
  ASSERT_TRUE(disk.make_directories("/a/b"));
  write("/a/z", "1");
  write("/a/c", "2");
  EXPECT_EQ(disk.list("/a").value(), (std::vector<std::string>{"b", "c", "z"}));
  EXPECT_FALSE(disk.remove("/a"));
  EXPECT_EQ(disk.rename("/a", "/a/b/a").error().code(), Errc::bad_request);
  EXPECT_FALSE(disk.rename("/a/c", "/a/b"));
  ASSERT_TRUE(disk.rename("/a/c", "/a/z"));
  EXPECT_EQ(read("/a/z"), "2");
  ASSERT_TRUE(disk.remove("/a/b"));
  EXPECT_EQ(disk.list("/a").value(), (std::vector<std::string>{"z"}));
  EXPECT_TRUE(disk.info("/a").value().is_directory);
}

TEST_F(SimDiskTest, ARemovedFileLivesOnWhileItIsOpen) {
  write_durably("/f", "still here");
  auto file = must_open("/f", OpenMode::read);
  ASSERT_TRUE(disk.remove("/f"));
  ASSERT_TRUE(disk.sync_directory("/"));
  EXPECT_EQ(read(*file), "still here");
}

TEST_F(SimDiskTest, OnlyOneHandleHoldsTheLockUntilItIsClosed) {
  auto first = must_open("/lock", OpenMode::create);
  auto second = must_open("/lock", OpenMode::create);
  ASSERT_TRUE(first->lock());
  EXPECT_TRUE(first->lock());
  EXPECT_EQ(second->lock().error().code(), Errc::conflict);
  first.reset();
  EXPECT_TRUE(second->lock());
}

TEST_F(SimDiskTest, ACrashFreesLocksAndKillsHandles) {
  auto old = must_open("/lock", OpenMode::create);
  ASSERT_TRUE(old->lock());
  ASSERT_TRUE(disk.sync_directory("/"));
  disk.crash(CrashMode::keep_all);
  EXPECT_EQ(old->lock().error().code(), Errc::io);
  EXPECT_EQ(old->write_at(0, as_bytes("x")).error().detail(), "/lock: disk was rebooted");
  EXPECT_EQ(old->sync_data().error().code(), Errc::io);
  auto again = must_open("/lock", OpenMode::read_write);
  EXPECT_TRUE(again->lock());
  old.reset();
  auto third = must_open("/lock", OpenMode::read_write);
  EXPECT_EQ(third->lock().error().code(), Errc::conflict);
}

TEST_F(SimDiskTest, AFullDiskTakesWhatFitsAndRecoversAfterARemove) {
  disk.set_capacity(10);
  write("/old", "12345678");
  auto file = must_open("/new", OpenMode::create);
  EXPECT_EQ(file->write_at(0, as_bytes("abcd")).value(), 2U);
  EXPECT_EQ(file->write_at(2, as_bytes("cd")).error().code(), Errc::no_space);
  EXPECT_EQ(file->truncate(3).error().code(), Errc::no_space);
  EXPECT_TRUE(file->write_all_at(0, as_bytes("AB")));
  EXPECT_EQ(disk.space("/").value().available_bytes, 0U);
  ASSERT_TRUE(disk.remove("/old"));
  EXPECT_TRUE(file->write_all_at(2, as_bytes("cd")));
  EXPECT_EQ(disk.space("/").value().available_bytes, 6U);
}

TEST_F(SimDiskTest, RottenBitsAreReadAndSurviveACrash) {
  write_durably("/f", "A");
  ASSERT_TRUE(disk.flip_bit("/f", 0, 1));
  EXPECT_EQ(read("/f"), "C");
  disk.crash(CrashMode::drop_unsynced);
  EXPECT_EQ(read("/f"), "C");
  EXPECT_EQ(disk.flip_bit("/f", 1, 0).error().code(), Errc::bad_request);
  EXPECT_EQ(disk.flip_bit("/g", 0, 0).error().code(), Errc::not_found);
}

TEST_F(SimDiskTest, ModifiedIsTheHostsWallTime) {
  write("/f", "x");
  EXPECT_EQ(disk.info("/f").value().modified, SimClock::kWallStart);
  clock.jump_wall(std::chrono::hours(1));
  write("/f", "y");
  EXPECT_EQ(disk.info("/f").value().modified, SimClock::kWallStart + std::chrono::hours(1));
}

TEST_F(SimDiskTest, NamesThatAreDurablyGoneCostNoMemory) {
  DiskState state;
  const std::size_t empty = state.inode_count();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(state.create_file("/tmp", {}));
    ASSERT_TRUE(state.rename("/tmp", "/f"));
    state.sync_directory(state.find("/").value(), {});
  }
  EXPECT_EQ(state.inode_count(), empty + 1);
}

}  // namespace
}  // namespace leat::sim
