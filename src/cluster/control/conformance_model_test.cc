// The part of the suite that makes up its own calls: many at once, and random ones against a map.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "control/conformance_test.h"
#include "io/rng.h"

namespace leat::control {
namespace {

using Field = Condition::Field;
using Relation = Condition::Relation;
constexpr Duration kPatience = std::chrono::seconds(5);

// One task: reads, adds one, writes if nobody did meanwhile; again until it succeeds.
rt::Task<void> add_one(ControlStore& store, int* losses, int* done) {
  for (;;) {
    Txn read;
    read.then.push_back(get_operation("counter"));
    auto reading = store.attempt(std::move(read), kPatience);
    LEAT_CO_TRY(const TxnReply found, co_await std::move(reading));
    const auto& entry = found.reads.front();
    const std::int64_t at = entry ? entry->modified.value() : 0;
    const int count = entry ? std::stoi(entry->value) : 0;
    Txn write;
    write.when.push_back(number_condition("counter", Field::modified, Relation::equal, at));
    write.then.push_back(put_operation("counter", std::to_string(count + 1)));
    auto writing = store.attempt(std::move(write), kPatience);
    LEAT_CO_TRY(const TxnReply written, co_await std::move(writing));
    if (written.held) break;
    ++*losses;
  }
  ++*done;
  co_return Status{};
}

TEST_P(Conformance, OfManyWhoCompareAndSwapExactlyOneWins) {
  constexpr int kTasks = 40;
  int losses = 0;
  int done = 0;
  for (int i = 0; i < kTasks; ++i)
    backend_->spawn(add_one(store(), &losses, &done));
  ASSERT_TRUE(wait_for([&] { return done == kTasks; }));
  EXPECT_EQ(get("counter")->value, std::to_string(kTasks));
  EXPECT_EQ(get("counter")->version, kTasks);
  EXPECT_GT(losses, 0) << "they did not even meet";
}

// The store as it should be, in memory.
class Model {
 public:
  TxnReply apply(const Txn& txn) {
    TxnReply reply{
        .held = std::ranges::all_of(txn.when, [this](const Condition& one) { return holds(one); })};
    bool changes = false;
    for (const Operation& one : reply.held ? txn.then : txn.otherwise) {
      const auto found = entries.find(one.key);
      switch (one.kind) {
        case Operation::Kind::get:
          reply.reads.push_back(found == entries.end() ? std::nullopt
                                                       : std::optional(found->second));
          break;
        case Operation::Kind::erase: changes = entries.erase(one.key) > 0 || changes; break;
        case Operation::Kind::put: {
          KeyValue& entry = entries[one.key];
          entry.key = one.key;
          entry.value = one.value;
          entry.modified = Revision(revision + 1);
          if (entry.version++ == 0) entry.created = entry.modified;
          changes = true;
          break;
        }
      }
    }
    revision += changes ? 1 : 0;
    reply.revision = Revision(revision);
    return reply;
  }

  std::map<std::string, KeyValue> entries;
  std::int64_t revision = 0;

 private:
  bool holds(const Condition& one) const {
    const auto found = entries.find(one.key);
    const bool is_there = found != entries.end();
    if (one.field == Field::value) {
      return is_there && compare(found->second.value.compare(one.bytes), 0, one.relation);
    }
    const KeyValue entry = is_there ? found->second : KeyValue{};
    const std::int64_t number = one.field == Field::created    ? entry.created.value()
                                : one.field == Field::modified ? entry.modified.value()
                                                               : entry.version;
    return compare(number, one.number, one.relation);
  }

  static bool compare(std::int64_t a, std::int64_t b, Relation relation) {
    return (relation == Relation::equal && a == b) || (relation == Relation::not_equal && a != b) ||
           (relation == Relation::less && a < b) || (relation == Relation::greater && a > b);
  }
};

std::string any_key(io::Rng& rng) {
  return fmt::format("{}/{}", rng.chance(1, 2) ? "a" : "b", rng.below(6));
}

std::vector<Operation> any_branch(io::Rng& rng) {
  std::vector<Operation> branch;
  std::map<std::string, bool> changed;
  for (std::uint64_t i = rng.below(5); i > 0; --i) {
    std::string key = any_key(rng);
    const std::uint64_t kind = changed[key] ? 0 : rng.below(4);
    changed[key] = changed[key] || kind > 0;
    if (kind == 0) {
      branch.push_back(get_operation(std::move(key)));
    } else if (kind == 1) {
      branch.push_back(erase_operation(std::move(key)));
    } else {
      branch.push_back(put_operation(std::move(key), std::to_string(rng.below(4))));
    }
  }
  return branch;
}

Txn any_txn(io::Rng& rng, std::int64_t revision) {
  Txn txn;
  for (std::uint64_t i = rng.below(3); i > 0; --i) {
    const auto relation = static_cast<Relation>(rng.below(4));
    const auto field = static_cast<Field>(rng.below(4));
    if (field == Field::value) {
      txn.when.push_back(value_condition(any_key(rng), relation, std::to_string(rng.below(4))));
    } else {
      const auto bound = static_cast<std::uint64_t>(field == Field::version ? 4 : revision + 1);
      const auto number = static_cast<std::int64_t>(rng.below(bound));
      txn.when.push_back(number_condition(any_key(rng), field, relation, number));
    }
  }
  txn.then = any_branch(rng);
  txn.otherwise = any_branch(rng);
  return txn;
}

TEST_P(Conformance, AThousandRandomTransactionsDoWhatAMapWouldDo) {
  constexpr int kSeeds = 4;
  constexpr int kEach = 250;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SetUp();
    io::SeededRng rng(seed);
    Model model;
    model.revision = run(store().list("", ReadLevel::linearizable))->revision.value();
    for (int i = 0; i < kEach; ++i) {
      const Txn txn = any_txn(rng, model.revision);
      const TxnReply expected = model.apply(txn);
      const TxnReply reply = attempt(txn);
      ASSERT_EQ(reply.held, expected.held) << i;
      ASSERT_EQ(reply.revision, expected.revision) << i;
      ASSERT_EQ(reply.reads, expected.reads) << i;
    }
    const auto listing = run(store().list("", ReadLevel::linearizable));
    ASSERT_TRUE(listing.has_value());
    ASSERT_EQ(listing->entries.size(), model.entries.size());
    auto expected = model.entries.begin();
    for (const KeyValue& one : listing->entries)
      EXPECT_EQ(one, (expected++)->second);
  }
}

}  // namespace
}  // namespace leat::control
