#include "feed/cut.h"

#include <gtest/gtest.h>

#include <vector>

#include "order/permutation.h"

namespace leat::feed {
namespace {

// How often each position is handed out over all ranks and workers.
std::vector<int> handed_out(std::uint64_t size, CutOptions options) {
  std::vector<int> times(size, 0);
  for (options.rank = 0; options.rank < options.world; ++options.rank) {
    for (options.worker = 0; options.worker < options.workers; ++options.worker) {
      const Cut cut(size, options);
      for (std::uint64_t k = 0; k < cut.batches(); ++k) {
        const Slice slice = cut.batch(k);
        for (std::uint64_t i = 0; i < slice.count; ++i)
          ++times[(slice.first + i) % size];
      }
    }
  }
  return times;
}

TEST(Cut, SlicesOfGlobalBatchesGoToRanksAndWholeBatchesToWorkers) {
  const Cut cut(100, {.batch_size = 4, .world = 3, .rank = 1, .workers = 2, .worker = 1});
  EXPECT_EQ(cut.batches(), 4U);  // 8 whole batches of the rank: 1, 3, 5, 7 are this worker's
  EXPECT_EQ(cut.batch(0), (Slice{16, 4}));
  EXPECT_EQ(cut.batch(1), (Slice{40, 4}));
}

TEST(Cut, EachPositionIsHandedOutOnceForAnyNumberOfRanksAndWorkers) {
  order::Draws draws(1);
  for (int round = 0; round < 500; ++round) {
    const std::uint64_t size = draws.below(300);
    CutOptions options{.batch_size = 1 + draws.below(9),
                       .world = 1 + draws.below(7),
                       .workers = 1 + draws.below(4),
                       .position = draws.below(size + 1)};
    const std::uint64_t global = options.batch_size * options.world;
    const std::uint64_t whole = (size - options.position) / global * global;
    options.tail = Tail::uneven;
    const auto uneven = handed_out(size, options);
    options.tail = Tail::drop;
    const auto dropped = handed_out(size, options);
    for (std::uint64_t i = 0; i < size; ++i) {
      EXPECT_EQ(uneven[i], i >= options.position ? 1 : 0) << round;
      const bool is_whole = i >= options.position && i < options.position + whole;
      EXPECT_EQ(dropped[i], is_whole ? 1 : 0) << round;
    }
  }
}

TEST(Cut, PaddedRanksGetAsManyFullBatches) {
  order::Draws draws(2);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t size = 1 + draws.below(100);
    CutOptions options{.batch_size = 1 + draws.below(9),
                       .world = 1 + draws.below(7),
                       .position = draws.below(size + 1),
                       .tail = Tail::pad};
    const auto times = handed_out(size, options);
    for (std::uint64_t i = options.position; i < size; ++i)
      EXPECT_GE(times[i], 1);
    const std::uint64_t batches = Cut(size, options).batches();
    for (options.rank = 0; options.rank < options.world; ++options.rank) {
      EXPECT_EQ(Cut(size, options).batches(), batches);
      for (std::uint64_t k = 0; k < batches; ++k)
        EXPECT_EQ(Cut(size, options).batch(k).count, options.batch_size);
    }
  }
}

TEST(Cut, AnotherNumberOfRanksGoesOnWhereTheFirstStopped) {
  constexpr std::uint64_t kSize = 1000;
  const CutOptions before{.batch_size = 5, .world = 4, .tail = Tail::uneven};
  constexpr std::uint64_t kConsumed = 7 * 20;
  const CutOptions after{.batch_size = 3, .world = 7, .position = kConsumed, .tail = Tail::uneven};
  std::vector<int> times = handed_out(kSize, after);
  for (std::uint64_t rank = 0; rank < before.world; ++rank) {
    CutOptions one = before;
    one.rank = rank;
    for (std::uint64_t k = 0; k < 7; ++k) {
      const Slice slice = Cut(kSize, one).batch(k);
      for (std::uint64_t i = 0; i < slice.count; ++i)
        ++times[slice.first + i];
    }
  }
  EXPECT_EQ(times, std::vector<int>(kSize, 1));
}

}  // namespace
}  // namespace leat::feed
