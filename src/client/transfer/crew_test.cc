#include "transfer/crew.h"

#include <gtest/gtest.h>

#include "sim/world.h"
#include "transfer/memory_budget.h"

namespace leat::transfer {
namespace {

class CrewTest : public ::testing::Test {
 protected:
  CrewTest()
      : watchdog_(world_.clock("here"), std::chrono::milliseconds(100)),
        client_(
            {world_.shard(), world_.network("here"), world_.clock("here"), watchdog_, world_.rng()},
            {}),
        memory_(kMiB),
        tools_{world_.shard(), client_, world_.disk("here"), world_.file_io("here"),
               pool_,          memory_, counters_,           options_} {}

  rt::Task<void> remove_files(Crew& crew, int count) {
    crew.start();
    for (int i = 0; i < count; ++i) {
      Job job{.action = Action::remove_file};
      job.path = "f" + std::to_string(i);
      const Status added = co_await crew.add(std::move(job));
      if (!added) break;
    }
    co_return co_await crew.finish();
  }

  sim::SimWorld world_{5};
  io::Watchdog watchdog_;
  s3client::S3Client client_;
  rt::BlockingPool pool_{"test", 0, 1};
  MemoryBudget memory_;
  Counters counters_;
  TransferOptions options_;
  Tools tools_;
};

TEST_F(CrewTest, DoesEveryJobOnceAndTellsHowItEnded) {
  for (int i = 0; i < 10; i += 2) {
    ASSERT_TRUE(world_.disk("here").open("f" + std::to_string(i), io::OpenMode::create));
  }
  int good = 0;
  int bad = 0;
  Crew crew({&tools_}, {.workers = 3, .queue_max = 2},
            [&](const Job&, const Result<Outcome>& outcome) { ++(outcome ? good : bad); });
  ASSERT_TRUE(world_.run(remove_files(crew, 10)));
  EXPECT_EQ(good, 5);
  EXPECT_EQ(bad, 5);
  EXPECT_EQ(counters_.files_total, 10U);
  EXPECT_EQ(counters_.files_done, 5U);
  EXPECT_EQ(counters_.files_failed, 5U);
  EXPECT_TRUE(counters_.is_planned);
}

TEST_F(CrewTest, GivesUpWhenNothingWorks) {
  int told = 0;
  Crew crew({&tools_}, {.workers = 1, .queue_max = 1, .failures_max = 4},
            [&](const Job&, const Result<Outcome>&) { ++told; });
  ASSERT_TRUE(world_.run(remove_files(crew, 1000)));
  EXPECT_TRUE(crew.has_given_up());
  EXPECT_LT(told, 10);
}

TEST_F(CrewTest, MemoryIsLentInTurnAndOneLeaseMayExceedIt) {
  std::vector<int> order;
  const auto borrow = [](MemoryBudget& memory, std::size_t size, int name,
                         std::vector<int>& told) -> rt::Task<void> {
    LEAT_CO_TRY(const auto lease, co_await memory.lease(size));
    told.push_back(name);
    LEAT_CO_DO(co_await rt::yield());
    co_return Status{};
  };
  world_.spawn(borrow(memory_, 10 * kMiB, 1, order), [](const Status&) {});
  world_.spawn(borrow(memory_, kMiB, 2, order), [](const Status&) {});
  world_.spawn(borrow(memory_, 1, 3, order), [](const Status&) {});
  EXPECT_TRUE(world_.run_until_idle());
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
  EXPECT_EQ(memory_.in_use(), 0U);
}

// Where the bytes of a lease are, once it is over.
rt::Task<const std::byte*> borrow_once(MemoryBudget& memory, std::size_t size) {
  LEAT_CO_TRY(const auto lease, co_await memory.lease(size));
  co_return lease.bytes().data();
}

TEST_F(CrewTest, MemoryOfLargePiecesIsUsedAgain) {
  MemoryBudget memory(8 * kMiB);
  const std::byte* first = world_.run(borrow_once(memory, 4 * kMiB)).value();
  EXPECT_EQ(world_.run(borrow_once(memory, 4 * kMiB)).value(), first);
  EXPECT_EQ(world_.run(borrow_once(memory, 2 * kMiB)).value(), first);
  EXPECT_NE(world_.run(borrow_once(memory, 8 * kMiB)).value(), nullptr);
  EXPECT_EQ(memory.in_use(), 0U);
}

}  // namespace
}  // namespace leat::transfer
