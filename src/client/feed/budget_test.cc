#include "feed/budget.h"

#include <gtest/gtest.h>

#include "feed/small_dataset_test.h"

namespace leat::feed {
namespace {

// Of small samples; images of 150 528 bytes each if they are decoded.
FeedOptions options(std::uint64_t batch_size, bool has_images) {
  const SmallDataset made = small_dataset(1000, 300, 16 * kKiB);
  FeedOptions options;
  options.sources = {{.dataset = made.dataset,
                      .order = SampleOrder::make(made.dataset, {.window_bytes = 16 * kMiB}).value(),
                      .fields = {0}}};
  options.plan.cut.batch_size = batch_size;
  options.fill.columns = {{.field = "txt"}};
  if (has_images) {
    options.fill.columns[0].decode = {.to = decode::To::rgb8, .height = 224, .width = 224};
  }
  options.fill.threads = 15;
  return options;
}

TEST(Budget, SmallBatchesAreReadyByTheDozen) {
  for (const std::uint64_t memory : {std::uint64_t{0}, 64 * kMiB}) {
    FeedOptions small = options(32, /*has_images=*/false);
    small.memory_bytes = memory;
    EXPECT_EQ(budget_of(small, Reading::blocks).batches, 16U) << memory;
  }
}

TEST(Budget, LargeBatchesAreCharged) {
  FeedOptions large = options(512, /*has_images=*/true);
  large.memory_bytes = 512 * kMiB;
  const Budget budget = budget_of(large, Reading::blocks);
  EXPECT_EQ(budget.batch_bytes, 512U * 224 * 224 * 3);
  EXPECT_EQ(budget.batches, 2U);
  EXPECT_LE(budget.cells_bytes + budget.batches * budget.batch_bytes, large.memory_bytes);

  large.memory_bytes = 2 * kGiB;
  EXPECT_EQ(budget_of(large, Reading::blocks).batches, 6U);
}

TEST(Budget, TwoBatchesAreAlwaysAllowedAndLeaveCellsSomething) {
  FeedOptions large = options(512, /*has_images=*/true);
  large.memory_bytes = 64 * kMiB;
  const Budget budget = budget_of(large, Reading::rows);
  EXPECT_EQ(budget.batches, 2U);
  EXPECT_EQ(budget.cells_bytes, 16 * kMiB);
}

TEST(Budget, NothingSaidIsTwoWindowsAndTheBatches) {
  const FeedOptions large = options(512, /*has_images=*/true);
  const Budget blocks = budget_of(large, Reading::blocks);
  EXPECT_GE(static_cast<double>(blocks.cells_bytes), 2 * window_bytes(large));
  EXPECT_EQ(blocks.total_bytes, blocks.cells_bytes + blocks.batches * blocks.batch_bytes);
  const Budget rows = budget_of(large, Reading::rows);
  EXPECT_LE(rows.total_bytes, 512 * kMiB);
}

TEST(Budget, AWindowThatDoesNotFitBesideTheBatchesIsReadByRows) {
  FeedOptions large = options(512, /*has_images=*/true);
  large.memory_bytes = 2 * static_cast<std::uint64_t>(window_bytes(large));
  EXPECT_EQ(choose_reading(large), Reading::rows);
  large.memory_bytes = kGiB;
  EXPECT_EQ(choose_reading(large), Reading::blocks);
}

TEST(Budget, NothingSaidIsAtMostHalfOfTheMachine) {
  FeedOptions large = options(32, /*has_images=*/false);
  large.machine_bytes = 4 * kGiB;
  EXPECT_LT(budget_of(large, Reading::blocks).total_bytes, kGiB);
  EXPECT_EQ(choose_reading(large), Reading::blocks);
  // A machine in which no window fits.
  large.machine_bytes = static_cast<std::uint64_t>(window_bytes(large));
  EXPECT_EQ(budget_of(large, Reading::blocks).total_bytes, large.machine_bytes / 2);
  EXPECT_EQ(choose_reading(large), Reading::rows);
}

}  // namespace
}  // namespace leat::feed
