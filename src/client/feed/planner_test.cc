#include "feed/planner.h"

#include <gtest/gtest.h>

#include <set>

#include "feed/small_dataset_test.h"

namespace leat::feed {
namespace {

Source source_of(const SmallDataset& made, const OrderOptions& options) {
  return {.dataset = made.dataset,
          .order = SampleOrder::make(made.dataset, options).value(),
          .fields = {0, 1}};
}

// The rows of all batches, in their order.
std::vector<std::uint64_t> rows_of(const std::vector<Source>& sources, const PlanOptions& options,
                                   Reading reading) {
  PieceStore store(std::make_shared<PieceShelf>());
  Planner planner(sources, options, reading, store);
  std::vector<std::uint64_t> rows;
  std::vector<std::shared_ptr<Cell>> fresh;
  while (true) {
    Batch batch;
    const auto planned = planner.next(batch, fresh);
    EXPECT_TRUE(planned);
    if (!planned || !*planned) return rows;
    EXPECT_EQ(batch.picks.size(), batch.rows.size());
    for (std::size_t i = 0; i < batch.rows.size(); ++i) {
      const Cell& cell = *batch.cells[batch.picks[i].cell];
      EXPECT_EQ(cell.rows[batch.picks[i].slot], batch.rows[i]);
    }
    rows.insert(rows.end(), batch.rows.begin(), batch.rows.end());
  }
}

// The order over all ranks, put together again from what each got.
std::vector<std::uint64_t> put_together(const std::vector<Source>& sources, PlanOptions options,
                                        Reading reading, std::uint64_t size) {
  std::vector<std::uint64_t> order(size, UINT64_MAX);
  PieceStore store(std::make_shared<PieceShelf>());
  CutOptions& cut = options.cut;
  for (cut.rank = 0; cut.rank < cut.world; ++cut.rank) {
    for (cut.worker = 0; cut.worker < cut.workers; ++cut.worker) {
      Planner planner(sources, options, reading, store);
      std::vector<std::shared_ptr<Cell>> fresh;
      Batch batch;
      while (*planner.next(batch, fresh)) {
        for (std::size_t i = 0; i < batch.rows.size(); ++i) {
          EXPECT_EQ(order[batch.position + i], UINT64_MAX) << "twice";
          order[batch.position + i] = batch.rows[i];
        }
        batch.clear();
      }
    }
  }
  return order;
}

TEST(Planner, TheOrderIsTheSameForAnyRanksWorkersStopsAndWaysOfReading) {
  order::Draws draws(3);
  for (std::size_t round = 0; round < 60; ++round) {
    const std::uint64_t size = 1 + draws.below(400);
    const SmallDataset made = small_dataset(size, 1 + draws.below(90), 4096 + draws.below(20000));
    const order::Shuffle shuffle =
        std::array{order::Shuffle::none, order::Shuffle::block, order::Shuffle::full}[round % 3];
    const std::vector<Source> sources = {
        source_of(made, {.shuffle = shuffle, .seed = draws.next(), .window_bytes = 12 * kMiB})};
    PlanOptions alone{.cut = {.tail = Tail::uneven}, .epoch = draws.below(5)};
    const auto order = put_together(sources, alone, Reading::rows, size);
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), size) << "each sample once";
    PlanOptions many = alone;
    many.cut.batch_size = 1 + draws.below(20);
    many.cut.world = 1 + draws.below(5);
    many.cut.workers = 1 + draws.below(3);
    const Reading reading =
        shuffle == order::Shuffle::full || round % 2 == 0 ? Reading::rows : Reading::blocks;
    EXPECT_EQ(put_together(sources, many, reading, size), order) << round;
    // Stopped somewhere and gone on with others.
    const std::uint64_t stop = draws.below(size + 1);
    many.cut.position = stop;
    auto rest = put_together(sources, many, reading, size);
    std::copy_n(order.begin(), stop, rest.begin());
    EXPECT_EQ(rest, order) << round;
  }
}

TEST(Planner, ASubsetIsVisitedOnceAndNothingElse) {
  const SmallDataset made = small_dataset(500, 100, 8192);
  std::vector<std::uint64_t> subset;
  for (std::uint64_t row = 3; row < 500; row += 1 + row % 11)
    subset.push_back(row);
  for (const Reading reading : {Reading::blocks, Reading::rows}) {
    const std::vector<Source> sources = {source_of(made, {.seed = 4, .rows = subset})};
    auto rows = rows_of(sources, {.cut = {.batch_size = 7, .tail = Tail::uneven}}, reading);
    std::ranges::sort(rows);
    EXPECT_EQ(rows, subset);
  }
  EXPECT_FALSE(SampleOrder::make(made.dataset, {.rows = {{500}}}));
  EXPECT_FALSE(SampleOrder::make(made.dataset, {.rows = {{5, 5}}}));
}

TEST(Planner, AMixHasItsProportionsAndEachSourceItsOwnOrder) {
  const SmallDataset first = small_dataset(300, 100, 8192);
  const SmallDataset second = small_dataset(90, 100, 8192);
  const std::vector<Source> sources = {source_of(first, {.seed = 1}),
                                       source_of(second, {.seed = 1})};
  const PlanOptions options{.cut = {.batch_size = 10}, .weights = {3, 1}};
  PieceStore store(std::make_shared<PieceShelf>());
  Planner planner(sources, options, Reading::blocks, store);
  EXPECT_EQ(planner.samples(), 362U) << "until the second is used up, and the first is not";
  std::vector<std::shared_ptr<Cell>> fresh;
  Batch batch;
  std::vector<std::set<std::uint64_t>> seen(2);
  while (*planner.next(batch, fresh)) {
    ASSERT_EQ(batch.sources.size(), 10U);
    const auto of_second = std::ranges::count(batch.sources, 1U);
    EXPECT_TRUE(of_second == 2 || of_second == 3);
    for (std::size_t i = 0; i < 10; ++i)
      EXPECT_TRUE(seen[batch.sources[i]].insert(batch.rows[i]).second);
    batch.clear();
  }
  EXPECT_EQ(seen[1].size(), 90U);
}

TEST(Planner, RepeatedEpochsHaveOrdersOfTheirOwn) {
  const SmallDataset made = small_dataset(64, 64, 8192);
  const std::vector<Source> sources = {source_of(made, {.seed = 1})};
  PieceStore store(std::make_shared<PieceShelf>());
  Planner planner(sources, {.cut = {.batch_size = 32, .position = 32}, .repeats = true},
                  Reading::blocks, store);
  std::vector<std::shared_ptr<Cell>> fresh;
  std::vector<std::uint64_t> epochs;
  std::vector<std::vector<std::uint64_t>> rows;
  for (int i = 0; i < 5; ++i) {
    Batch batch;
    ASSERT_TRUE(*planner.next(batch, fresh));
    epochs.push_back(batch.epoch);
    rows.push_back(batch.rows);
  }
  EXPECT_EQ(epochs, (std::vector<std::uint64_t>{0, 1, 1, 2, 2}));
  EXPECT_NE(rows[1], rows[3]);
}

TEST(Planner, CellsOfAWindowAreLetGoWhenItIsOver) {
  const SmallDataset made = small_dataset(400, 400, 4 * kMiB);
  const std::vector<Source> sources = {
      source_of(made, {.shuffle = order::Shuffle::none, .window_bytes = 1})};
  PieceStore store(std::make_shared<PieceShelf>());
  Planner planner(sources, {.cut = {.batch_size = 100}}, Reading::blocks, store);
  std::vector<std::shared_ptr<Cell>> fresh;
  while (true) {
    Batch batch;
    if (!*planner.next(batch, fresh)) break;
  }
  for (const auto& cell : fresh)
    EXPECT_LE(cell.use_count(), 2);
}

}  // namespace
}  // namespace leat::feed
