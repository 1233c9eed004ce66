#include "control/control_client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "control/sqlite_world_test.h"

namespace leat::control {
namespace {

// What happens to one attempt on its way.
enum class Fate : std::uint8_t {
  arrives,
  refused,      // unavailable: not applied
  answer_lost,  // applied; outcome_unknown
  lost,         // not applied; outcome_unknown
  late,         // outcome_unknown; applied when release() is called
  full,         // no_space: not applied
};

// A store behind a bad road, such as etcd's: each attempt has the next fate of a list.
class BadRoad final : public ControlStore {
 public:
  explicit BadRoad(ControlStore& store) : store_(store) {}

  rt::Task<TxnReply> attempt(Txn txn, Duration timeout) override {
    ++attempts;
    Fate fate = Fate::arrives;
    // Reads have no outcome to be unsure of.
    const bool is_read = std::ranges::all_of(
        txn.then, [](const Operation& one) { return one.kind == Operation::Kind::get; });
    if (!fates.empty() && !is_read) {
      fate = fates.front();
      fates.pop_front();
    }
    if (fate == Fate::refused) co_return fail(Errc::unavailable, "no way");
    if (fate == Fate::full) co_return fail(Errc::no_space, "full");
    if (fate == Fate::late) late_.push_back(txn);
    if (fate == Fate::lost || fate == Fate::late) co_return fail(Errc::outcome_unknown, "silence");
    auto trying = store_.attempt(std::move(txn), timeout);
    auto reply = co_await std::move(trying);
    if (fate == Fate::answer_lost) co_return fail(Errc::outcome_unknown, "silence");
    co_return reply;
  }

  // Lets the late attempts arrive; how many were applied.
  rt::Task<int> release() {
    int held = 0;
    while (!late_.empty()) {
      Txn txn = std::move(late_.front());
      late_.pop_front();
      auto trying = store_.attempt(std::move(txn), std::chrono::seconds(1));
      LEAT_CO_TRY(const TxnReply reply, co_await std::move(trying));
      held += reply.held ? 1 : 0;
    }
    co_return held;
  }

  rt::Task<Listing> list(std::string prefix, ReadLevel level) override {
    return store_.list(std::move(prefix), level);
  }
  rt::Task<Lease> grant_lease(Duration ttl) override { return store_.grant_lease(ttl); }
  rt::Task<Duration> renew_lease(LeaseId lease) override { return store_.renew_lease(lease); }
  rt::Task<void> revoke_lease(LeaseId lease) override { return store_.revoke_lease(lease); }
  std::unique_ptr<Watch> watch(std::string prefix, Revision from, WatchSink sink) override {
    return store_.watch(std::move(prefix), from, std::move(sink));
  }

  std::deque<Fate> fates;
  int attempts = 0;

 private:
  ControlStore& store_;
  std::deque<Txn> late_;
};

class ControlClientTest : public ::testing::Test {
 protected:
  template <class T>
  Result<T> run(rt::Task<T> task) {
    return sqlite_.world().run(std::move(task));
  }
  std::optional<KeyValue> get(std::string key) {
    const auto found = run(client_.get(std::move(key)));
    EXPECT_TRUE(found.has_value()) << found.error().message();
    return found.value_or(std::nullopt);
  }
  static Txn add(std::string key, std::string value) {
    Txn txn;
    txn.then.push_back(put_operation(std::move(key), std::move(value)));
    return txn;
  }

  SqliteWorld sqlite_;
  BadRoad road_{sqlite_.store()};
  io::SeededRng rng_{7};
  ControlClient client_{road_, sqlite_.world().clock("node"), rng_, "node-1"};
};

TEST_F(ControlClientTest, CreateReplaceAndEraseLookBeforeTheyWrite) {
  const auto made = run(client_.create("k", "1"));
  ASSERT_TRUE(made.has_value()) << made.error().message();
  EXPECT_EQ(get("k")->modified, *made);
  const auto again = run(client_.create("k", "2"));
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code(), Errc::conflict);
  const auto replaced = run(client_.replace("k", "2", *made));
  ASSERT_TRUE(replaced.has_value()) << replaced.error().message();
  const auto stale = run(client_.replace("k", "3", *made));
  ASSERT_FALSE(stale.has_value());
  EXPECT_EQ(stale.error().code(), Errc::precondition_failed);
  EXPECT_EQ(get("k")->value, "2");
  const auto kept = run(client_.erase("k", *made));
  ASSERT_FALSE(kept.has_value());
  EXPECT_EQ(kept.error().code(), Errc::precondition_failed);
  ASSERT_TRUE(run(client_.erase("k", *replaced)));
  EXPECT_EQ(get("k"), std::nullopt);
}

TEST_F(ControlClientTest, APinGoesWithItsLeaseAndARefusedOneLeavesNoLease) {
  const auto pin = run(client_.pin("pin/ds/1/job", "x", std::chrono::seconds(10)));
  ASSERT_TRUE(pin.has_value()) << pin.error().message();
  EXPECT_EQ(get("pin/ds/1/job")->lease, pin->id);
  const auto taken = run(client_.pin("pin/ds/1/job", "y", std::chrono::seconds(10)));
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().code(), Errc::conflict);
  const auto orphan = run(sqlite_.store().renew_lease(LeaseId(pin->id.value() + 1)));
  ASSERT_FALSE(orphan.has_value());
  EXPECT_EQ(orphan.error().code(), Errc::lease_lost);
  sqlite_.pass(std::chrono::seconds(11));
  EXPECT_EQ(get("pin/ds/1/job"), std::nullopt);
}

TEST_F(ControlClientTest, WhatWasAppliedBeforeItsAnswerWasLostIsNotAppliedAgain) {
  ASSERT_TRUE(run(client_.commit(add("k", "0"))));
  road_.fates = {Fate::answer_lost, Fate::refused, Fate::answer_lost};
  const auto done = run(client_.commit(add("k", "1")));
  ASSERT_TRUE(done.has_value()) << done.error().message();
  EXPECT_TRUE(done->held);
  EXPECT_TRUE(done->replayed);
  EXPECT_EQ(get("k")->version, 2) << "put once before, and once";
  EXPECT_EQ(get("k")->modified, done->revision);
}

TEST_F(ControlClientTest, WhatWasLostIsSentAgainAndWhatArrivesLateIsTooLate) {
  road_.fates = {Fate::late, Fate::lost, Fate::arrives, Fate::late};
  const auto done = run(client_.commit(add("k", "1")));
  ASSERT_TRUE(done.has_value()) << done.error().message();
  EXPECT_FALSE(done->replayed);
  EXPECT_EQ(run(road_.release()).value(), 0);
  EXPECT_EQ(get("k")->version, 1);
}

TEST_F(ControlClientTest, ARefusalIsFinalEvenIfAnEarlierAttemptArrivesAfterIt) {
  ASSERT_TRUE(run(client_.create("guard", "1")));
  Txn txn = add("k", "1");
  txn.when.push_back(
      number_condition("guard", Condition::Field::version, Condition::Relation::equal, 2));
  road_.fates = {Fate::late};
  const auto refused = run(client_.commit(txn));
  ASSERT_TRUE(refused.has_value()) << refused.error().message();
  EXPECT_FALSE(refused->held);
  Txn other = add("guard", "2");
  ASSERT_TRUE(run(sqlite_.store().attempt(other, std::chrono::seconds(1))));
  EXPECT_EQ(run(road_.release()).value(), 0) << "its condition holds by now";
  EXPECT_EQ(get("k"), std::nullopt);
}

TEST_F(ControlClientTest, ABudgetEndsAndTheErrorSaysWhetherItMayBeApplied) {
  road_.fates.assign(1000, Fate::refused);
  const auto refused = run(client_.commit(add("k", "1")));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), Errc::unavailable);
  EXPECT_LT(road_.attempts, 40) << "it pauses longer and longer";
  road_.fates.assign(1000, Fate::refused);
  road_.fates.front() = Fate::answer_lost;
  const auto unknown = run(client_.commit(add("k", "2")));
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code(), Errc::outcome_unknown);
  road_.fates.clear();
  const auto next = run(client_.commit(add("k", "3")));
  ASSERT_TRUE(next.has_value()) << next.error().message();
  EXPECT_FALSE(next->replayed);
  EXPECT_EQ(get("k")->value, "3");
  EXPECT_EQ(get("k")->version, 2);
}

TEST_F(ControlClientTest, WhatWaitingDoesNotCureIsNotTriedAgain) {
  road_.fates = {Fate::full};
  const auto full = run(client_.commit(add("k", "1")));
  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(full.error().code(), Errc::no_space);
  EXPECT_EQ(road_.attempts, 1);
}

TEST_F(ControlClientTest, ANewClientTakesTheSessionOverAndFencesTheOldOne) {
  ASSERT_TRUE(run(client_.commit(add("k", "1"))));
  road_.fates = {Fate::late};
  road_.fates.insert(road_.fates.end(), 1000, Fate::refused);
  ASSERT_FALSE(run(client_.commit(add("k", "late"))));
  road_.fates.clear();
  ControlClient heir(road_, sqlite_.world().clock("node"), rng_, "node-1");
  const auto done = run(heir.commit(add("k", "2")));
  ASSERT_TRUE(done.has_value()) << done.error().message();
  EXPECT_FALSE(done->replayed);
  EXPECT_EQ(run(road_.release()).value(), 0);
  EXPECT_EQ(get("k")->value, "2");
  const auto sessions = run(sqlite_.store().list("sess/", ReadLevel::linearizable));
  EXPECT_EQ(sessions->entries.size(), 1U);
}

TEST_F(ControlClientTest, ReadsOfBothBranchesAreHandedOn) {
  ASSERT_TRUE(run(client_.create("k", "1")));
  Txn txn;
  txn.when.push_back(value_condition("k", Condition::Relation::equal, "1"));
  txn.then.push_back(get_operation("k"));
  txn.otherwise.push_back(get_operation("absent"));
  const auto held = run(client_.commit(txn));
  ASSERT_TRUE(held.has_value() && held->reads.size() == 1U);
  EXPECT_EQ(held->reads[0]->value, "1");
  txn.when[0].bytes = "2";
  const auto not_held = run(client_.commit(txn));
  ASSERT_TRUE(not_held.has_value() && not_held->reads.size() == 1U);
  EXPECT_FALSE(not_held->held);
  EXPECT_EQ(not_held->reads[0], std::nullopt);
}

rt::Task<void> add_one(ControlClient& client, int* done) {
  for (;;) {
    auto reading = client.get("counter");
    LEAT_CO_TRY(const auto found, co_await std::move(reading));
    const int count = found ? std::stoi(found->value) : 0;
    const Revision at = found ? found->modified : Revision();
    auto writing = client.replace("counter", std::to_string(count + 1), at);
    const auto written = co_await std::move(writing);
    if (written) break;
    if (written.error().code() != Errc::precondition_failed) co_return fail(written.error());
  }
  ++*done;
  co_return Status{};
}

TEST_F(ControlClientTest, ManyWhoCountOverABadRoadCountExactly) {
  constexpr int kTasks = 30;
  for (int i = 0; i < 4000; ++i) {
    const Fate fates[] = {Fate::arrives, Fate::arrives, Fate::answer_lost, Fate::lost};
    road_.fates.push_back(fates[rng_.below(std::size(fates))]);
  }
  const ClientOptions patient{.budget = std::chrono::hours(1)};
  ControlClient one(road_, sqlite_.world().clock("node"), rng_, "node-1", patient);
  ControlClient other(road_, sqlite_.world().clock("node"), rng_, "node-2", patient);
  int done = 0;
  for (int i = 0; i < kTasks; ++i)
    sqlite_.spawn(add_one(i % 2 == 0 ? one : other, &done));
  ASSERT_TRUE(sqlite_.run_until([&] { return done == kTasks; }));
  EXPECT_EQ(get("counter")->value, std::to_string(kTasks));
}

}  // namespace
}  // namespace leat::control
