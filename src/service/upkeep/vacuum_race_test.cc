// Vacuums and commits that meet, each at a chosen moment of the other.
#include <functional>

#include "datasets/control_keys.h"
#include "datasets/datasets_fixture_test.h"
#include "upkeep/vacuum.h"

namespace leat::upkeep {
namespace {

using control::Operation;
using datasets::Commit;
using datasets::DatasetName;
using datasets::Datasets;

// A control store in which something happens right before or after a change, once.
class Interrupted final : public control::ControlStore {
 public:
  using Act = std::function<rt::Task<void>()>;
  enum class When : std::uint8_t { before, after };

  explicit Interrupted(control::ControlStore& store) : store_(store) {}

  // An error of the act is the answer to the change.
  void at(When when, std::string key, Act act) {
    when_ = when;
    key_ = std::move(key);
    act_ = std::move(act);
  }
  bool has_happened() const { return !act_; }

  rt::Task<control::TxnReply> attempt(control::Txn txn, Duration timeout) override {
    Act act;
    if (act_ && is_it(txn)) std::swap(act, act_);
    if (act && when_ == When::before) {
      auto acting = act();
      LEAT_CO_DO(co_await std::move(acting));
    }
    auto attempting = store_.attempt(std::move(txn), timeout);
    auto reply = co_await std::move(attempting);
    if (act && when_ == When::after) {
      auto acting = act();
      LEAT_CO_DO(co_await std::move(acting));
    }
    co_return reply;
  }
  rt::Task<control::Listing> list(std::string prefix, control::ReadLevel level) override {
    return store_.list(std::move(prefix), level);
  }
  rt::Task<control::Lease> grant_lease(Duration ttl) override { return store_.grant_lease(ttl); }
  rt::Task<Duration> renew_lease(control::LeaseId lease) override {
    return store_.renew_lease(lease);
  }
  rt::Task<void> revoke_lease(control::LeaseId lease) override {
    return store_.revoke_lease(lease);
  }
  std::unique_ptr<control::Watch> watch(std::string prefix, control::Revision from,
                                        control::WatchSink sink) override {
    return store_.watch(std::move(prefix), from, std::move(sink));
  }

 private:
  bool is_it(const control::Txn& txn) const {
    return std::ranges::any_of(txn.then, [this](const Operation& one) {
      return one.kind == Operation::Kind::put && one.key == key_;
    });
  }

  control::ControlStore& store_;
  When when_ = When::before;
  std::string key_;
  Act act_;
};

// The shard a.tar is in no version that is kept. One acts through datasets_, the other, who is
// interrupted, through slow_.
class VacuumRaceTest : public datasets::DatasetsTest {
 protected:
  using When = Interrupted::When;

  VacuumRaceTest() {
    EXPECT_TRUE(rig_.run(datasets_->create(other_)));
    EXPECT_TRUE(commit({.add = {put_shard("a.tar", "a", 1), put_shard("b.tar", "b", 1)}}));
    EXPECT_TRUE(commit({.remove = {kShard}}));
    world_.run_for(std::chrono::seconds(10));
  }

  rt::Task<void> add_to(Datasets& datasets, DatasetName name) {
    std::vector<Commit> commits;
    commits.push_back({.dataset = std::move(name), .add = {kShard}});
    const auto done = co_await datasets.commit(std::move(commits));
    added_ = done ? Errc::internal : done.error().code();
    co_return Status{};
  }
  rt::Task<void> vacuum_beside() {
    auto vacuuming = vacuum(*datasets_, name_, {.keep_ms = 0});
    LEAT_CO_DO(co_await std::move(vacuuming));
    co_return Status{};
  }
  rt::Task<void> be_killed() { co_return fail(Errc::corrupt, "killed"); }

  bool is_there() { return rig_.find({.bucket = bucket_, .key = kShard}).has_value(); }
  bool is_published() { return !rig_.run(datasets_->doomed("sets"))->objects.empty(); }
  std::uint64_t version_of_other() {
    return rig_.run(datasets_->open({.dataset = other_}))->ref.version;
  }
  auto slow_vacuum() { return rig_.run(vacuum(slow_, name_, {.keep_ms = 0})); }

  static constexpr const char* kShard = "train/a.tar";
  const DatasetName other_{.bucket = "sets", .name = "other"};
  Errc added_ = Errc::unavailable;  // not yet; internal: it went well
  Interrupted interrupted_{*control_};
  control::ControlClient slow_client_{interrupted_, world_.clock("node"), rng_, "slow"};
  datasets::ControlDesk slow_desk_{world_.shard(), slow_client_};
  Datasets slow_{{.store = rig_.store(), .indexes = *indexes_, .control = slow_desk_}};
};

TEST_F(VacuumRaceTest, ACommitThatFoundAShardBeforeItWasRemovedIsMadeAgain) {
  interrupted_.at(When::before, datasets::pointer_key(other_), [this] { return vacuum_beside(); });
  ASSERT_TRUE(rig_.run(add_to(slow_, other_)));
  EXPECT_TRUE(interrupted_.has_happened());
  EXPECT_EQ(added_, Errc::not_found);
  EXPECT_FALSE(is_there());
  EXPECT_EQ(version_of_other(), 0U);
}

TEST_F(VacuumRaceTest, AVacuumLeavesWhatAnotherDatasetTookSinceItLooked) {
  interrupted_.at(When::before, datasets::doomed_key("sets"),
                  [this] { return add_to(*datasets_, other_); });
  EXPECT_EQ(error_of(slow_vacuum()), Errc::conflict);
  EXPECT_EQ(added_, Errc::internal);
  EXPECT_EQ(version_of_other(), 1U);
  EXPECT_TRUE(is_there());
  EXPECT_FALSE(is_published());
  EXPECT_EQ(slow_vacuum()->objects, 1U) << "the snapshot";
  EXPECT_TRUE(is_there());
}

TEST_F(VacuumRaceTest, AVacuumLeavesWhatItsOwnDatasetTookSinceItTold) {
  interrupted_.at(When::after, datasets::vacuumed_key(name_),
                  [this] { return add_to(*datasets_, name_); });
  EXPECT_EQ(error_of(slow_vacuum()), Errc::conflict);
  EXPECT_EQ(added_, Errc::internal);
  EXPECT_TRUE(is_there());
  EXPECT_EQ(keys(), (Keys{"a0", "b0"}));
}

TEST_F(VacuumRaceTest, WhatIsBeingRemovedIsNotCommitted) {
  interrupted_.at(When::after, datasets::doomed_key("sets"),
                  [this] { return add_to(*datasets_, other_); });
  EXPECT_TRUE(slow_vacuum());
  EXPECT_EQ(added_, Errc::busy);
  EXPECT_FALSE(is_there());
  EXPECT_FALSE(is_published());
}

TEST_F(VacuumRaceTest, AVacuumThatWasKilledIsFinishedByTheNextOne) {
  interrupted_.at(When::after, datasets::doomed_key("sets"), [this] { return be_killed(); });
  EXPECT_EQ(error_of(slow_vacuum()), Errc::corrupt);
  EXPECT_TRUE(is_there() && is_published());
  ASSERT_TRUE(rig_.run(add_to(*datasets_, other_)));
  EXPECT_EQ(added_, Errc::busy);
  // Also by one of another dataset.
  const auto done = rig_.run(vacuum(*datasets_, other_, {.keep_ms = 0}));
  EXPECT_EQ(done->objects, 1U);
  EXPECT_FALSE(is_there() || is_published());
}

TEST_F(VacuumRaceTest, WhatIsStoredAnewIsAnotherObject) {
  interrupted_.at(When::after, datasets::doomed_key("sets"), [this] { return be_killed(); });
  EXPECT_EQ(error_of(slow_vacuum()), Errc::corrupt);
  put_shard("a.tar", "a", 1);
  ASSERT_TRUE(rig_.run(add_to(*datasets_, name_)));
  EXPECT_EQ(added_, Errc::internal);
  EXPECT_TRUE(slow_vacuum());
  EXPECT_TRUE(is_there());
  EXPECT_FALSE(is_published());
  EXPECT_EQ(keys(), (Keys{"a0", "b0"}));
}

TEST_F(VacuumRaceTest, OfTwoVacuumsTheLaterOneGoesOn) {
  interrupted_.at(When::after, datasets::doomed_key("sets"), [this] { return vacuum_beside(); });
  EXPECT_TRUE(slow_vacuum()) << "nothing is left for it";
  EXPECT_FALSE(is_there() || is_published());
}

TEST(Doomed, ComesBackAsItWas) {
  const datasets::Doomed doomed{.objects = {{"a", 5}, {"\xff\n", -1}}};
  EXPECT_EQ(datasets::decode_doomed(encode(doomed))->objects, doomed.objects);
  for (const char* text : {"", "{}", R"({"objects": 1})", R"({"objects": [{"key": "a"}]})"})
    EXPECT_FALSE(datasets::decode_doomed(text)) << text;
  EXPECT_TRUE(doomed.holds("a", 5));
  EXPECT_FALSE(doomed.holds("a", 6));
  EXPECT_FALSE(doomed.holds("b", 5));
}

}  // namespace
}  // namespace leat::upkeep
