#include "kv/kv.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kv/kv_world_test.h"
#include "support/temp_folder.h"

namespace leat::kv {
namespace {

// Everything is asked of both: a simulated disk in quiet mode, and the machine's with threads.
class KvTest : public ::testing::TestWithParam<bool> {
 protected:
  KvTest() : map(open()) {}

  std::unique_ptr<Kv> open() {
    if (GetParam()) return must_open(simulated);
    return must_open(real, folder.path("index/of/disk"), KvOptions{});
  }
  void reopen() {
    map.reset();
    map = open();
  }
  io::Disk& disk() { return GetParam() ? static_cast<io::Disk&>(simulated) : real; }

  void put(const std::string& key, const std::string& value) const {
    Batch batch;
    batch.put(key, value);
    ASSERT_TRUE(map->write(batch));
  }
  std::string get(const std::string& key) const {
    return map->get(key).value().value_or("(nothing)");
  }

  sim::Timeline timeline;
  sim::SimClock clock{timeline};
  sim::SimDisk simulated{clock, 1};
  testing::TempFolder folder;
  io::PosixDisk real;
  std::unique_ptr<Kv> map;
};

INSTANTIATE_TEST_SUITE_P(SimulatedAndReal, KvTest, ::testing::Bool(), [](const auto& test) {
  return test.param ? "SimulatedAndQuiet" : "Real";
});

TEST_P(KvTest, GetsWhatWasPutLast) {
  EXPECT_EQ(get("key"), "(nothing)");
  put("key", "old");
  put("key", "new");
  EXPECT_EQ(get("key"), "new");
  Batch batch;
  batch.erase("key");
  ASSERT_TRUE(map->write(batch));
  EXPECT_EQ(get("key"), "(nothing)");
}

TEST_P(KvTest, TakesAnyBytes) {
  const std::string odd("\0\xff/\n", 4);
  put(odd, odd + odd);
  put("", "of the empty key");
  put("empty", "");
  ASSERT_TRUE(map->flush());
  reopen();
  EXPECT_EQ(get(odd), odd + odd);
  EXPECT_EQ(get(""), "of the empty key");
  EXPECT_EQ(get("empty"), "");
}

TEST_P(KvTest, ABatchIsAppliedInItsOrder) {
  Batch batch;
  EXPECT_TRUE(batch.is_empty());
  batch.put("kept", "1");
  batch.put("gone", "1");
  batch.erase("gone");
  batch.erase("kept");
  batch.put("kept", "2");
  EXPECT_FALSE(batch.is_empty());
  EXPECT_GT(batch.size_bytes(), 16U);
  ASSERT_TRUE(map->write(batch));
  EXPECT_EQ(get("gone"), "(nothing)");
  EXPECT_EQ(get("kept"), "2");
  batch.clear();
  EXPECT_TRUE(batch.is_empty());
  EXPECT_TRUE(map->write(batch)) << "an empty one changes nothing";
}

TEST_P(KvTest, CursorsWalkBothWaysInTheOrderOfBytes) {
  for (const char* key : {"b", "a", "B", "\xff", "ab", "c"}) {
    put(key, key);
    if (*key == 'B') {
      ASSERT_TRUE(map->flush());
    }
  }
  std::vector<std::string> keys;
  Cursor cursor = map->cursor();
  for (cursor.seek(""); cursor.is_valid(); cursor.next()) {
    EXPECT_EQ(cursor.key(), cursor.value());
    keys.emplace_back(cursor.key());
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"B", "a", "ab", "b", "c", "\xff"}));
  for (cursor.seek_back("bz"); cursor.is_valid(); cursor.previous()) {
    keys.emplace_back(cursor.key());
  }
  EXPECT_EQ((std::vector<std::string>{keys.begin() + 6, keys.end()}),
            (std::vector<std::string>{"b", "ab", "a", "B"}));
  EXPECT_TRUE(cursor.status());
}

TEST_P(KvTest, SeeksToTheNearestKeyOfItsSide) {
  put("b", "");
  put("d", "");
  Cursor cursor = map->cursor();
  cursor.seek("c");
  EXPECT_EQ(cursor.key(), "d");
  cursor.seek("d");
  EXPECT_EQ(cursor.key(), "d");
  cursor.seek("e");
  EXPECT_FALSE(cursor.is_valid());
  cursor.seek_back("c");
  EXPECT_EQ(cursor.key(), "b");
  cursor.seek_back("b");
  EXPECT_EQ(cursor.key(), "b");
  cursor.seek_back("a");
  EXPECT_FALSE(cursor.is_valid());
  EXPECT_TRUE(cursor.status());
}

TEST_P(KvTest, ACursorSeesTheMapAsItWas) {
  write_and_flush(*map, 1, 5);
  Cursor cursor = map->cursor();
  write_and_flush(*map, 6, 9);
  ASSERT_TRUE(map->compact());
  Content seen;
  for (cursor.seek(""); cursor.is_valid(); cursor.next()) {
    seen.emplace(cursor.key(), cursor.value());
  }
  EXPECT_TRUE(cursor.status());
  EXPECT_EQ(seen, content_after(5));
  EXPECT_EQ(batches_in(*map), 9);
}

TEST_P(KvTest, ClosingForgetsWhatWasNotFlushed) {
  write_and_flush(*map, 1, 4);
  ASSERT_TRUE(write_batch(*map, 5));
  EXPECT_EQ(batches_in(*map), 5);
  reopen();
  EXPECT_EQ(batches_in(*map), 4);
}

TEST_P(KvTest, MergingKeepsTheContentAndDropsWhatWasErased) {
  const std::string value(1000, 'v');
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 200; ++i) {
      put(fmt::format("{}", i), fmt::format("{} {} {}", round, i * 7919 % 1000, value));
    }
    ASSERT_TRUE(map->flush());
  }
  Batch batch;
  for (int i = 1; i < 200; ++i) {
    batch.erase(fmt::format("{}", i));
  }
  ASSERT_TRUE(map->write(batch));
  const std::uint64_t before = map->file_bytes();
  ASSERT_TRUE(map->compact());
  EXPECT_LT(map->file_bytes(), before / 3);
  EXPECT_EQ(get("0"), "2 0 " + value);
  EXPECT_EQ(get("1"), "(nothing)");
  ASSERT_TRUE(map->compact()) << "again, with nothing to do";
  ASSERT_TRUE(map->verify());
  reopen();
  EXPECT_EQ(get("0"), "2 0 " + value);
  EXPECT_EQ(read_all(*map).value().size(), 1U);
}

TEST_P(KvTest, GetCachedNeverReadsTheDisk) {
  put("flushed", "value");
  EXPECT_EQ(map->get_cached("flushed").value(), "value") << "still in memory";
  ASSERT_TRUE(map->flush());
  reopen();
  const std::uint64_t reads = simulated.calls(sim::DiskCall::read);
  EXPECT_EQ(map->get_cached("flushed").error().code(), Errc::would_block);
  EXPECT_EQ(simulated.calls(sim::DiskCall::read), reads);
  EXPECT_EQ(get("flushed"), "value");
  EXPECT_EQ(map->get_cached("flushed").value(), "value");
  EXPECT_EQ(map->get_cached("no such key").value(), std::nullopt);
}

TEST_P(KvTest, MemoryAndFilesAreCounted) {
  const std::uint64_t empty = map->memory_bytes();
  write_and_flush(*map, 1, 1);
  EXPECT_GT(map->file_bytes(), 0U);
  put("big", std::string(kMiB, 'x'));
  EXPECT_GT(map->memory_bytes(), empty + kMiB);
  EXPECT_GE(map->resident_bytes(), map->memory_bytes());
  ASSERT_TRUE(map->flush());
  EXPECT_LT(map->memory_bytes(), empty + kMiB);
}

TEST_P(KvTest, AFolderIsOpenOnce) {
  const std::string path = GetParam() ? kFolder : folder.path("index/of/disk");
  const auto second = Kv::open(disk(), path, kQuiet);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Errc::conflict) << second.error().message();
  put("key", "value");
  EXPECT_TRUE(map->flush()) << "the first one is not harmed";
}

TEST_P(KvTest, VerifyPassesOverAGoodMap) {
  EXPECT_TRUE(map->verify());
  write_and_flush(*map, 1, 9);
  EXPECT_TRUE(map->verify());
}

class QuietKv : public KvWorld {};

TEST_F(QuietKv, MoreThanFitsInMemoryIsFlushedByTheWriterItself) {
  const auto map = must_open(disk);
  const std::string value(64 * kKiB, 'v');
  for (int i = 0; i < 512; ++i) {
    Batch batch;
    batch.put(fmt::format("{}", i), value + std::to_string(i));
    ASSERT_TRUE(map->write(batch));
    ASSERT_LE(map->memory_bytes(), kQuiet.memory_bytes);
  }
  for (int i = 0; i < 512; ++i) {
    ASSERT_EQ(map->get(fmt::format("{}", i)).value(), value + std::to_string(i));
  }
}

TEST_F(QuietKv, AFlushWithoutChangesTouchesNothing) {
  const auto map = must_open(disk);
  write_and_flush(*map, 1, 1);
  disk.start_log();
  ASSERT_TRUE(map->flush());
  EXPECT_TRUE(disk.log().empty());
}

TEST_F(QuietKv, OpeningAgainAndAgainLeavesNothingBehind) {
  write_and_flush(*must_open(disk), 1, 1);
  const std::size_t files = disk.list(kFolder).value().size();
  for (int i = 0; i < 20; ++i) {
    must_open(disk);
  }
  EXPECT_EQ(disk.list(kFolder).value().size(), files);
}

}  // namespace
}  // namespace leat::kv
