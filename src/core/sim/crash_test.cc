#include "sim/crash.h"

#include <gtest/gtest.h>

#include <set>

#include "sim/disk_test_support.h"

namespace leat::sim {
namespace {

using io::OpenMode;

class CrashTest : public DiskTest {};

TEST_F(CrashTest, DropUnsyncedKeepsExactlyWhatWasSynced) {
  write_durably("/f", "old");
  write("/f", "NEW and longer");
  write("/g", "never synced");
  disk.crash(CrashMode::drop_unsynced);
  EXPECT_EQ(read("/f"), "old");
  EXPECT_FALSE(exists("/g"));
}

TEST_F(CrashTest, KeepAllKeepsEverything) {
  write_durably("/f", "old");
  write("/f", "NEW");
  write("/g", "never synced");
  ASSERT_TRUE(disk.rename("/g", "/h"));
  disk.crash(CrashMode::keep_all);
  EXPECT_EQ(read("/f"), "NEW");
  EXPECT_EQ(disk.list("/").value(), (std::vector<std::string>{"f", "h"}));
  EXPECT_EQ(read("/h"), "never synced");
}

TEST_F(CrashTest, SyncedBytesWithoutASyncedNameAreLost) {
  auto file = must_open("/f", OpenMode::create);
  ASSERT_TRUE(file->write_all_at(0, as_bytes("data")));
  ASSERT_TRUE(file->sync_data());
  disk.crash(CrashMode::drop_unsynced);
  EXPECT_FALSE(exists("/f"));
  EXPECT_EQ(disk.space("/").value().available_bytes, SimDisk::kDefaultCapacityBytes);
}

TEST_F(CrashTest, ASyncedNameWithoutSyncedBytesIsAnEmptyFile) {
  write("/f", "data");
  ASSERT_TRUE(disk.sync_directory("/"));
  disk.crash(CrashMode::drop_unsynced);
  EXPECT_EQ(read("/f"), "");
}

TEST_F(CrashTest, AnUnsyncedRenameGoesBackToBothOldNames) {
  write_durably("/new", "2");
  write_durably("/f", "1");
  ASSERT_TRUE(disk.rename("/new", "/f"));
  auto forked = disk.fork();
  disk.crash(CrashMode::drop_unsynced);
  EXPECT_EQ(read("/f"), "1");
  EXPECT_EQ(read("/new"), "2");
  ASSERT_TRUE(forked->sync_directory("/"));
  forked->crash(CrashMode::drop_unsynced);
  EXPECT_EQ(sim::read(*forked, "/f"), "2");
  EXPECT_EQ(forked->list("/").value(), (std::vector<std::string>{"f"}));
}

TEST_F(CrashTest, AnUnsyncedRemoveComesBack) {
  write_durably("/f", "1");
  ASSERT_TRUE(disk.remove("/f"));
  disk.crash(CrashMode::drop_unsynced);
  EXPECT_EQ(read("/f"), "1");
}

TEST_F(CrashTest, AFolderNeedsItsParentSyncedToo) {
  ASSERT_TRUE(disk.make_directories("/a/b"));
  write_durably("/a/b/f", "x");
  ASSERT_TRUE(disk.sync_directory("/a"));
  auto without = disk.fork();
  without->crash(CrashMode::drop_unsynced);
  EXPECT_TRUE(without->list("/").value().empty());
  ASSERT_TRUE(disk.sync_directory("/"));
  disk.crash(CrashMode::drop_unsynced);
  EXPECT_EQ(read("/a/b/f"), "x");
}

TEST_F(CrashTest, SyncingTheTargetOfAMoveSettlesTheSourceAsWell) {
  ASSERT_TRUE(disk.make_directories("/a"));
  ASSERT_TRUE(disk.make_directories("/b"));
  ASSERT_TRUE(disk.sync_directory("/"));
  auto file = must_open("/a/f", OpenMode::create);
  ASSERT_TRUE(file->sync_data());
  ASSERT_TRUE(disk.rename("/a/f", "/b/g"));
  ASSERT_TRUE(disk.sync_directory("/b"));
  disk.crash(CrashMode::keep_all);
  EXPECT_TRUE(disk.list("/a").value().empty());
  EXPECT_EQ(disk.list("/b").value(), (std::vector<std::string>{"g"}));
}

TEST_F(CrashTest, ARemovedFolderTakesNoFileAlongThatWasMovedOutBefore) {
  ASSERT_TRUE(disk.make_directories("/a"));
  ASSERT_TRUE(disk.make_directories("/b"));
  write_durably("/a/f", "x");
  ASSERT_TRUE(disk.sync_directory("/"));
  ASSERT_TRUE(disk.rename("/a/f", "/b/f"));
  ASSERT_TRUE(disk.remove("/a"));
  auto partly = disk.fork();
  ASSERT_TRUE(disk.sync_directory("/"));
  disk.crash(CrashMode::drop_unsynced);
  EXPECT_EQ(read("/b/f"), "x");
  partly->crash_with(
      [](const Unsynced& change) { return Fate{change.call == DiskCall::remove, {}}; });
  EXPECT_EQ(sim::read(*partly, "/a/f"), "x");
}

TEST_F(CrashTest, ARandomSubsetReachesEveryCombinationAndNothingElse) {
  write_durably("/f", "....");
  for (std::uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(must_open("/f", OpenMode::read_write)->write_all_at(i, as_bytes("x")));
  }
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    io::SeededRng rng(seed);
    auto forked = disk.fork();
    forked->crash_with(make_chooser({.mode = CrashMode::keep_random_subset}, rng));
    seen.insert(sim::read(*forked, "/f"));
  }
  const std::set<std::string> all = {"....", "x...", ".x..", "..x.",
                                     "xx..", "x.x.", ".xx.", "xxx."};
  EXPECT_EQ(seen, all);
}

// The length of the new bytes at the front, after checking that the old ones follow.
std::size_t count_new(const std::string& content) {
  const std::size_t kept = content.find_first_not_of('n');
  if (kept == std::string::npos) return content.size();
  EXPECT_EQ(content.substr(kept), std::string(content.size() - kept, 'o'));
  return kept;
}

class TornWrite : public CrashTest, public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(TornWrite, IsCutWhereASectorOrPageEnds) {
  constexpr std::uint64_t kOffset = 100;
  constexpr std::size_t kSize = 20000;
  write_durably("/f", std::string(kOffset + kSize, 'o'));
  const std::string fresh(kSize, 'n');
  ASSERT_TRUE(must_open("/f", OpenMode::read_write)->write_all_at(kOffset, as_bytes(fresh)));
  std::set<std::size_t> cuts;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    io::SeededRng rng(seed);
    auto forked = disk.fork();
    forked->crash_with(make_chooser({.mode = CrashMode::torn, .tear_bytes = GetParam()}, rng));
    const std::size_t kept = count_new(sim::read(*forked, "/f").substr(kOffset));
    if (kept == 0 || kept == kSize) continue;
    EXPECT_EQ((kOffset + kept) % GetParam(), 0U) << kept;
    cuts.insert(kept);
  }
  EXPECT_GE(cuts.size(), 4U);
}

INSTANTIATE_TEST_SUITE_P(SectorAndPage, TornWrite, ::testing::Values(512, 4096));

TEST_F(CrashTest, AShortWriteWithinASectorIsNeverTorn) {
  write_durably("/f", "oooo");
  write("/f", "nnnn");
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    io::SeededRng rng(seed);
    auto forked = disk.fork();
    forked->crash_with(make_chooser({.mode = CrashMode::torn}, rng));
    const std::string content = sim::read(*forked, "/f");
    EXPECT_TRUE(content == "oooo" || content == "nnnn") << content;
  }
}

TEST_F(CrashTest, GarbageFillsOnlyTheFirstSectorThatWasNotWritten) {
  write_durably("/f", std::string(2048, 'o'));
  write("/f", std::string(2048, 'n'));
  int torn = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    io::SeededRng rng(seed);
    auto forked = disk.fork();
    forked->crash_with(make_chooser({.mode = CrashMode::torn, .garbage = true}, rng));
    const std::string content = sim::read(*forked, "/f");
    const std::size_t kept = content.find_first_not_of('n') / 512 * 512;
    if (content.find_first_not_of('n') == std::string::npos || kept == 0) continue;
    ++torn;
    EXPECT_NE(content.substr(kept, 512), std::string(512, 'o'));
    EXPECT_EQ(content.substr(kept + 512), std::string(2048 - kept - 512, 'o'));
  }
  EXPECT_GT(torn, 5);
}

// The way a file is replaced safely: after a crash anywhere it holds the old or the new content
// whole.
void replace(SimDisk& disk, const std::string& text) {
  {
    auto file = disk.open("/d/tmp", OpenMode::create_new).value();
    EXPECT_TRUE(file->write_all_at(0, as_bytes(text)));
    EXPECT_TRUE(file->sync_data());
  }
  EXPECT_TRUE(disk.rename("/d/tmp", "/d/f"));
  EXPECT_TRUE(disk.sync_directory("/d"));
}

TEST_F(CrashTest, EveryPrefixOfTheLogInEveryModeKeepsTheOldOrTheNewFile) {
  const std::string old_text(5000, 'o');
  const std::string new_text(9000, 'n');
  ASSERT_TRUE(disk.make_directories("/d"));
  ASSERT_TRUE(disk.sync_directory("/"));
  replace(disk, old_text);
  disk.start_log();
  replace(disk, new_text);
  ASSERT_EQ(disk.log().size(), 5U);

  auto walk = disk.replay_prefix(0);
  std::set<std::string> seen;
  for (std::size_t count = 0;; ++count) {
    for (const CrashMode mode : {CrashMode::drop_unsynced, CrashMode::keep_all,
                                 CrashMode::keep_random_subset, CrashMode::torn}) {
      auto crashed = walk->fork();
      crashed->crash(mode);
      seen.insert(sim::read(*crashed, "/d/f"));
      auto replayed = disk.replay_prefix(count);
      replayed->crash(mode);
      EXPECT_EQ(replayed->list("/d").value(), crashed->list("/d").value());
    }
    if (count == disk.log().size()) break;
    walk->apply(disk.log()[count]);
  }
  EXPECT_EQ(seen, (std::set<std::string>{old_text, new_text}));
  walk->crash(CrashMode::drop_unsynced);
  EXPECT_EQ(sim::read(*walk, "/d/f"), new_text);
}

TEST_F(CrashTest, AForkIsADiskOfItsOwn) {
  write_durably("/f", "one");
  auto forked = disk.fork();
  write("/f", "TWO");
  EXPECT_EQ(sim::read(*forked, "/f"), "one");
  ASSERT_TRUE(forked->remove("/f"));
  EXPECT_EQ(read("/f"), "TWO");
}

TEST_F(CrashTest, TheLogNamesCallPathOffsetAndLength) {
  disk.start_log();
  auto file = must_open("/f", OpenMode::create);
  ASSERT_TRUE(file->write_all_at(7, as_bytes("abc")));
  ASSERT_TRUE(file->sync_data());
  ASSERT_TRUE(disk.rename("/f", "/g"));
  const auto& log = disk.log();
  ASSERT_EQ(log.size(), 4U);
  EXPECT_EQ(log[0].call, DiskCall::open);
  EXPECT_EQ(log[1].call, DiskCall::write);
  EXPECT_EQ(log[1].path, "/f");
  EXPECT_EQ(log[1].offset, 7U);
  EXPECT_EQ(log[1].length, 3U);
  EXPECT_EQ(log[2].call, DiskCall::sync);
  EXPECT_EQ(log[3].to, "/g");
}

}  // namespace
}  // namespace leat::sim
