// A crash leaves a prefix of what was written, with everything that was flushed.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "kv/kv_world_test.h"
#include "sim/crash.h"

namespace leat::kv {
namespace {

using sim::CrashMode;
using sim::CrashOptions;

constexpr std::uint64_t kSeeds = 4;

constexpr std::array kCrashes = {
    CrashOptions{.mode = CrashMode::drop_unsynced},
    CrashOptions{.mode = CrashMode::keep_all},
    CrashOptions{.mode = CrashMode::keep_random_subset},
    CrashOptions{.mode = CrashMode::torn, .tear_bytes = 512},
    CrashOptions{.mode = CrashMode::torn, .tear_bytes = 512, .garbage = true},
    CrashOptions{.mode = CrashMode::torn, .tear_bytes = 4096, .garbage = true},
};

// How far the history was when the disk had done so many operations.
struct Mark {
  std::size_t operations;
  int flushed;
};

class KvCrash : public KvWorld {};

// A history in which everything happens: flushes of one batch and of several, merges, closing and
// opening. A batch that was lost by closing is written again, with the same content.
std::vector<Mark> run_history(sim::SimDisk& disk, io::Rng& rng) {
  std::vector<Mark> marks;
  int written = 0;
  auto map = must_open(disk);
  disk.start_log();
  for (int step = 0; step < 14; ++step) {
    const std::uint64_t dice = rng.below(10);
    if (dice < 5) {
      EXPECT_TRUE(write_batch(*map, ++written));
    } else if (dice < 9) {
      EXPECT_TRUE(dice < 8 ? map->flush() : map->compact());
      marks.push_back({disk.log().size(), written});
    } else {
      map.reset();
      map = must_open(disk);
      written = marks.empty() ? 0 : marks.back().flushed;
    }
  }
  return marks;
}

int flushed_after(const std::vector<Mark>& marks, std::size_t operations) {
  int flushed = 0;
  for (const Mark& mark : marks) {
    if (mark.operations <= operations) flushed = mark.flushed;
  }
  return flushed;
}

TEST_F(KvCrash, AtEveryOperationLeavesAPrefixWithAllThatWasFlushed) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    io::SeededRng rng(seed);
    sim::SimDisk fresh(clock, seed);
    const auto marks = run_history(fresh, rng);
    const auto walker = fresh.replay_prefix(0);
    for (std::size_t i = 0; i <= fresh.log().size(); ++i) {
      for (const CrashOptions& options : kCrashes) {
        SCOPED_TRACE(fmt::format("seed {}, {} operations, mode {}, torn at {}", seed, i,
                                 static_cast<int>(options.mode), options.tear_bytes));
        const auto crashed = walker->fork();
        crashed->crash_with(make_chooser(options, rng));
        const auto map = must_open(*crashed);
        ASSERT_TRUE(map);
        ASSERT_GE(batches_in(*map), flushed_after(marks, i));
        ASSERT_FALSE(HasFailure());
      }
      if (i < fresh.log().size()) walker->apply(fresh.log()[i]);
    }
  }
}

TEST_F(KvCrash, WhileItIsOpenCutsItOffFromTheDisk) {
  auto map = must_open(disk);
  write_and_flush(*map, 1, 3);
  ASSERT_TRUE(write_batch(*map, 4));
  disk.crash(CrashMode::drop_unsynced);
  const auto successor = must_open(disk);
  write_and_flush(*successor, 4, 6);
  const auto names = disk.list(kFolder).value();
  EXPECT_FALSE(map->flush());
  EXPECT_FALSE(write_batch(*map, 5));
  map.reset();
  EXPECT_EQ(disk.list(kFolder).value(), names) << "the dead one's files are not its own any more";
  EXPECT_EQ(batches_in(*successor), 6);
  EXPECT_TRUE(successor->verify());
}

TEST_F(KvCrash, AfterCrashesItGoesOn) {
  io::SeededRng rng(5);
  int flushed = 0;
  for (int round = 0; round < 60; ++round) {
    auto map = must_open(disk);
    ASSERT_TRUE(map);
    int count = batches_in(*map);
    ASSERT_GE(count, flushed) << "round " << round;
    for (std::uint64_t i = rng.below(5); i > 0; --i) {
      ASSERT_TRUE(write_batch(*map, ++count));
      if (rng.below(3) == 0) {
        ASSERT_TRUE(map->flush());
        flushed = count;
      }
    }
    disk.crash_with(make_chooser(kCrashes[rng.below(kCrashes.size())], rng));
    map.reset();
  }
  EXPECT_GT(flushed, 20);
}

TEST_F(KvCrash, InTheMiddleOfTheFirstOpenIsNoDamage) {
  disk.start_log();
  must_open(disk);
  io::SeededRng rng(1);
  const auto walker = disk.replay_prefix(0);
  for (const sim::Operation& operation : disk.log()) {
    for (const CrashOptions& options : kCrashes) {
      const auto crashed = walker->fork();
      crashed->crash_with(make_chooser(options, rng));
      const auto map = must_open(*crashed);
      ASSERT_TRUE(map);
      ASSERT_EQ(batches_in(*map), 0);
    }
    walker->apply(operation);
  }
}

}  // namespace
}  // namespace leat::kv
