#include "leat/data_directory.h"

#include <gtest/gtest.h>

#include "io/rng.h"
#include "sim/sim_disk.h"
#include "sim/world.h"

namespace leat::programs {
namespace {

TEST(DataDirectory, IsMadeAndThenTakenByOneHolderOnly) {
  sim::SimWorld world(1);
  io::Disk& disk = world.disk("node");
  auto first = DataDirectory::take(disk, "/data/d0");
  ASSERT_TRUE(first.has_value()) << first.error().message();
  const auto second = DataDirectory::take(disk, "/data/d0");
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), Errc::conflict);
  EXPECT_EQ(second.error().detail(),
            "data directory /data/d0 is in use by another leat process: stop that one, or use it; "
            "`leat env /data/d0` tells where it listens");
}

TEST(DataDirectory, IsFreeAgainWhenItsHolderIsGone) {
  sim::SimWorld world(1);
  io::Disk& disk = world.disk("node");
  {
    ASSERT_TRUE(DataDirectory::take(disk, "/d").has_value());
  }
  EXPECT_TRUE(DataDirectory::take(disk, "/d").has_value());
}

TEST(DataDirectory, MakesTheAdminTokenOnceAndKeepsItThroughACrash) {
  sim::SimWorld world(7);
  sim::SimDisk& disk = world.disk("node");
  io::SeededRng rng(1);
  std::string made;
  {
    auto directory = DataDirectory::take(disk, "/d");
    ASSERT_TRUE(directory.has_value());
    const auto token = directory->admin_token(rng);
    ASSERT_TRUE(token.has_value()) << token.error().message();
    made = token->reveal();
    EXPECT_GE(made.size(), 32u);
    ASSERT_TRUE(disk.sync_directory("/").has_value());
  }
  disk.crash(sim::CrashMode::drop_unsynced);
  auto again = DataDirectory::take(disk, "/d");
  ASSERT_TRUE(again.has_value()) << again.error().message();
  EXPECT_EQ(again->admin_token(rng)->reveal(), made);
}

TEST(DataDirectory, ATokenThatNobodyCouldSendIsDamaged) {
  sim::SimWorld world(7);
  sim::SimDisk& disk = world.disk("node");
  io::SeededRng rng(1);
  auto directory = DataDirectory::take(disk, "/d");
  ASSERT_TRUE(directory->admin_token(rng));
  ASSERT_TRUE(disk.flip_bit("/d/admin-token", 3, 7));
  const auto token = directory->admin_token(rng);
  ASSERT_FALSE(token.has_value());
  EXPECT_EQ(token.error().code(), Errc::corrupt);
  EXPECT_NE(token.error().detail().find("remove it"), std::string_view::npos);
}

TEST(DataDirectory, ASecretThatCannotBeReadIsReportedAndNotReplaced) {
  sim::SimWorld world(3);
  sim::SimDisk& disk = world.disk("node");
  io::SeededRng rng(1);
  auto directory = DataDirectory::take(disk, "/d");
  ASSERT_TRUE(directory.has_value());
  const std::string made(directory->admin_token(rng)->reveal());
  for (const int error : {EACCES, EMFILE, EIO}) {
    disk.faults().add({.call = sim::DiskCall::open, .posix_errno = error, .nth = 1});
    EXPECT_EQ(directory->admin_token(rng).error().code(), errc_from_errno(error));
    EXPECT_EQ(directory->admin_token(rng)->reveal(), made);
  }
}

TEST(DataDirectory, AFullDiskIsReportedAndLeavesNoHalfToken) {
  sim::SimWorld world(3);
  sim::SimDisk& disk = world.disk("node");
  io::SeededRng rng(1);
  auto directory = DataDirectory::take(disk, "/d");
  ASSERT_TRUE(directory.has_value());
  disk.set_capacity(0);
  EXPECT_EQ(directory->admin_token(rng).error().code(), Errc::no_space);
  EXPECT_FALSE(disk.info("/d/admin-token").has_value());
}

}  // namespace
}  // namespace leat::programs
