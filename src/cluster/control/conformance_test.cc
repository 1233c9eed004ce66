#include "control/conformance_test.h"

#include <fmt/format.h>

namespace leat::control {

using Field = Condition::Field;
using Relation = Condition::Relation;
constexpr Duration kPatience = std::chrono::seconds(5);

Operation put_operation(std::string key, std::string value, LeaseId lease) {
  return {.kind = Operation::Kind::put,
          .key = std::move(key),
          .value = std::move(value),
          .lease = lease};
}

Operation get_operation(std::string key) {
  return {.kind = Operation::Kind::get, .key = std::move(key)};
}

Operation erase_operation(std::string key) {
  return {.kind = Operation::Kind::erase, .key = std::move(key)};
}

Condition number_condition(std::string key, Field field, Relation relation, std::int64_t number) {
  return {.key = std::move(key), .field = field, .relation = relation, .number = number};
}

Condition value_condition(std::string key, Relation relation, std::string bytes) {
  return {.key = std::move(key),
          .field = Field::value,
          .relation = relation,
          .bytes = std::move(bytes)};
}

WatchSink Seen::sink() {
  return {.on_events =
              [this](std::vector<Event> some, Revision revision) {
                events.insert(events.end(), some.begin(), some.end());
                up_to = revision;
              },
          .on_broken = [this](const Error& error) { broken = error.code(); }};
}

std::string Seen::text() const {
  std::string all;
  for (const Event& one : events) {
    if (!all.empty()) all += ' ';
    all += one.erased ? "-" + one.entry.key : fmt::format("+{}={}", one.entry.key, one.entry.value);
  }
  return all;
}

TxnReply Conformance::attempt(Txn txn) {
  auto reply = run(store().attempt(std::move(txn), kPatience));
  if (reply) return std::move(*reply);
  ADD_FAILURE() << reply.error().message();
  return {};
}

Errc Conformance::refused(Txn txn) {
  const auto reply = run(store().attempt(std::move(txn), kPatience));
  EXPECT_FALSE(reply.has_value());
  return reply ? Errc::internal : reply.error().code();
}

Revision Conformance::put(std::string key, std::string value, LeaseId lease) {
  Txn txn;
  txn.then.push_back(put_operation(std::move(key), std::move(value), lease));
  return attempt(std::move(txn)).revision;
}

void Conformance::erase(std::string key) {
  Txn txn;
  txn.then.push_back(erase_operation(std::move(key)));
  attempt(std::move(txn));
}

std::optional<KeyValue> Conformance::get(std::string key) {
  Txn txn;
  txn.then.push_back(get_operation(std::move(key)));
  const TxnReply reply = attempt(std::move(txn));
  return reply.reads.size() == 1 ? reply.reads.front() : std::nullopt;
}

std::vector<std::string> Conformance::keys(std::string prefix) {
  const auto listing = run(store().list(std::move(prefix), ReadLevel::linearizable));
  std::vector<std::string> found;
  if (!listing) {
    ADD_FAILURE() << listing.error().message();
    return found;
  }
  for (const KeyValue& one : listing->entries)
    found.push_back(one.key);
  return found;
}

Lease Conformance::grant(Duration ttl) {
  const auto lease = run(store().grant_lease(ttl));
  EXPECT_TRUE(lease.has_value()) << lease.error().message();
  return lease.value_or(Lease{});
}

namespace {

using Names = std::vector<std::string>;

TEST_P(Conformance, APutIsFoundWithItsRevisionsAndCounted) {
  const Revision first = put("a", "1");
  const Revision other = put("b", "2");
  const Revision second = put("a", "3");
  EXPECT_LT(first, other);
  EXPECT_LT(other, second);
  const KeyValue expected{
      .key = "a", .value = "3", .created = first, .modified = second, .version = 2};
  EXPECT_EQ(get("a"), expected);
  EXPECT_EQ(get("c"), std::nullopt);
}

TEST_P(Conformance, AKeyThatWasErasedBeginsAnew) {
  put("a", "1");
  erase("a");
  EXPECT_EQ(get("a"), std::nullopt);
  const Revision again = put("a", "2");
  EXPECT_EQ(get("a")->created, again);
  EXPECT_EQ(get("a")->version, 1);
}

TEST_P(Conformance, OnlyAChangeTakesARevisionAndEachTakesTheNext) {
  const Revision first = put("a", "1");
  erase("nothing is there");
  get("a");
  Txn not_held;
  not_held.when.push_back(number_condition("a", Field::version, Relation::equal, 7));
  not_held.then.push_back(put_operation("a", "2"));
  EXPECT_EQ(attempt(not_held).revision, first);
  EXPECT_EQ(put("a", "1").value(), first.value() + 1) << "the same value is a change, too";
}

TEST_P(Conformance, AFailedConditionIsAnAnswerAndRunsTheOtherBranch) {
  put("a", "1");
  Txn create;
  create.when.push_back(number_condition("a", Field::created, Relation::equal, 0));
  create.then.push_back(put_operation("a", "new"));
  create.otherwise.push_back(get_operation("a"));
  create.otherwise.push_back(put_operation("lost", "yes"));
  create.otherwise.push_back(get_operation("lost"));
  const TxnReply reply = attempt(create);
  EXPECT_FALSE(reply.held);
  ASSERT_EQ(reply.reads.size(), 2U);
  EXPECT_EQ(reply.reads[0]->value, "1");
  EXPECT_EQ(reply.reads[1]->value, "yes") << "an operation sees what those before it did";
  EXPECT_EQ(reply.reads[1]->modified, reply.revision);
  EXPECT_EQ(get("a")->value, "1");
}

TEST_P(Conformance, AllChangesOfATransactionHaveOneRevision) {
  put("gone", "1");
  Txn txn;
  txn.then.push_back(put_operation("x", "1"));
  txn.then.push_back(erase_operation("gone"));
  txn.then.push_back(put_operation("y", "2"));
  txn.then.push_back(get_operation("gone"));
  const TxnReply reply = attempt(txn);
  EXPECT_TRUE(reply.held);
  ASSERT_EQ(reply.reads.size(), 1U);
  EXPECT_EQ(reply.reads[0], std::nullopt);
  EXPECT_EQ(get("x")->modified, reply.revision);
  EXPECT_EQ(get("y")->modified, reply.revision);
}

TEST_P(Conformance, EveryFieldIsComparedByEveryRelation) {
  put("before", "");
  put("k", "m");
  put("k", "m");
  const KeyValue entry = *get("k");
  const std::pair<Field, std::int64_t> numbers[] = {{Field::created, entry.created.value()},
                                                    {Field::modified, entry.modified.value()},
                                                    {Field::version, entry.version}};
  const auto holds = [this](Condition condition) {
    Txn txn;
    txn.when.push_back(std::move(condition));
    return attempt(std::move(txn)).held;
  };
  for (const auto& [field, number] : numbers) {
    for (const std::int64_t by : {-1, 0, 1}) {
      SCOPED_TRACE(fmt::format("field {} by {}", static_cast<int>(field), by));
      const std::int64_t with = number + by;
      EXPECT_EQ(holds(number_condition("k", field, Relation::equal, with)), by == 0);
      EXPECT_EQ(holds(number_condition("k", field, Relation::not_equal, with)), by != 0);
      EXPECT_EQ(holds(number_condition("k", field, Relation::less, with)), by > 0);
      EXPECT_EQ(holds(number_condition("k", field, Relation::greater, with)), by < 0);
    }
    EXPECT_TRUE(holds(number_condition("absent", field, Relation::equal, 0)));
    EXPECT_TRUE(holds(number_condition("absent", field, Relation::less, 1)));
    EXPECT_FALSE(holds(number_condition("absent", field, Relation::not_equal, 0)));
  }
  for (const std::string with : {"a", "m", "m\x01", "\xff"}) {
    SCOPED_TRACE(with);
    EXPECT_EQ(holds(value_condition("k", Relation::equal, with)), with == "m");
    EXPECT_EQ(holds(value_condition("k", Relation::not_equal, with)), with != "m");
    EXPECT_EQ(holds(value_condition("k", Relation::less, with)), with > "m");
    EXPECT_EQ(holds(value_condition("k", Relation::greater, with)), with < "m");
    EXPECT_FALSE(holds(value_condition("absent", Relation::not_equal, with)));
  }
}

TEST_P(Conformance, AllConditionsMustHold) {
  put("a", "1");
  put("b", "2");
  Txn txn;
  txn.when.push_back(value_condition("a", Relation::equal, "1"));
  txn.when.push_back(number_condition("b", Field::version, Relation::equal, 1));
  EXPECT_TRUE(attempt(txn).held);
  txn.when.push_back(value_condition("b", Relation::equal, "1"));
  EXPECT_FALSE(attempt(txn).held);
}

TEST_P(Conformance, AListingIsInTheOrderOfBytesAndOfOneRevision) {
  for (const char* key : {"p/b", "p/a", "q", "p/\xff", "p/\x01", "o", "p"})
    put(key, "v");
  const auto listing = run(store().list("p/", ReadLevel::linearizable));
  ASSERT_TRUE(listing.has_value());
  Names found;
  for (const KeyValue& one : listing->entries) {
    found.push_back(one.key);
    EXPECT_LE(one.modified, listing->revision);
  }
  EXPECT_EQ(found, (Names{"p/\x01", "p/a", "p/b", "p/\xff"}));
  EXPECT_EQ(listing->revision, get("p")->modified);
  EXPECT_EQ(keys("").size(), 7U);
  EXPECT_EQ(keys("nothing"), Names{});
}

TEST_P(Conformance, APrefixMayEndInTheHighestByte) {
  const std::string highest = "\xff\xff";
  put("a\xff", "1");
  put("a\xff\xff", "2");
  put("b", "3");
  put(highest, "4");
  put(highest + "z", "5");
  EXPECT_EQ(keys("a\xff"), (Names{"a\xff", "a\xff\xff"}));
  EXPECT_EQ(keys(highest), (Names{highest, highest + "z"}));
}

TEST_P(Conformance, AnyBytesMayBeKeysAndValuesAndAValueMayHaveNone) {
  const std::string odd("\0key\0\xfe", 6);
  put(odd, std::string("\0\0", 2));
  put("empty", "");
  EXPECT_EQ(get(odd)->value, std::string("\0\0", 2));
  ASSERT_TRUE(get("empty").has_value());
  EXPECT_EQ(get("empty")->value, "");
  Txn txn;
  txn.when.push_back(value_condition("empty", Relation::equal, ""));
  EXPECT_TRUE(attempt(txn).held);
}

TEST_P(Conformance, WhatIsTooLargeIsRefusedWhole) {
  Txn fits;
  fits.then.push_back(put_operation("big", std::string(kValueMax, 'x')));
  EXPECT_TRUE(attempt(fits).held);
  EXPECT_EQ(get("big")->value.size(), kValueMax);
  Txn large;
  large.then.push_back(put_operation("small", "1"));
  large.then.push_back(put_operation("big", std::string(kValueMax + 1, 'x')));
  EXPECT_EQ(refused(large), Errc::too_large);
  EXPECT_EQ(get("small"), std::nullopt);
  Txn together;
  together.then.push_back(put_operation("a", std::string(kTxnBytesMax / 2, 'x')));
  together.then.push_back(put_operation("b", std::string(kTxnBytesMax / 2, 'x')));
  EXPECT_EQ(refused(together), Errc::too_large);
  Txn many;
  for (std::size_t i = 0; i <= kTxnPartsMax; ++i)
    many.then.push_back(get_operation("a"));
  EXPECT_EQ(refused(many), Errc::too_large);
  Txn long_key;
  long_key.then.push_back(get_operation(std::string(kKeyMax + 1, 'k')));
  EXPECT_EQ(refused(long_key), Errc::too_large);
}

TEST_P(Conformance, AKeyWithoutBytesAndAKeyChangedTwiceAreBadRequests) {
  Txn nameless;
  nameless.then.push_back(put_operation("", "1"));
  EXPECT_EQ(refused(nameless), Errc::bad_request);
  Txn twice;
  twice.then.push_back(put_operation("a", "1"));
  twice.then.push_back(erase_operation("a"));
  EXPECT_EQ(refused(twice), Errc::bad_request);
}

TEST_P(Conformance, ALeaseTakesItsKeysWithIt) {
  const Lease lease = grant(std::chrono::seconds(10));
  EXPECT_EQ(lease.ttl, std::chrono::seconds(10));
  put("pin/1", "a", lease.id);
  put("pin/2", "b", lease.id);
  put("stays", "c");
  EXPECT_EQ(get("pin/1")->lease, lease.id);
  backend_->pass(std::chrono::seconds(9));
  EXPECT_EQ(keys("pin/").size(), 2U);
  Seen seen;
  const auto watch = store().watch("", Revision(), seen.sink());
  backend_->pass(std::chrono::seconds(2));
  EXPECT_EQ(keys(""), Names{"stays"});
  EXPECT_TRUE(wait_for([&] { return seen.events.size() == 2; }));
  EXPECT_EQ(seen.text(), "-pin/1 -pin/2");
  EXPECT_EQ(seen.events[0].entry.modified, seen.events[1].entry.modified) << "in one transaction";
}

TEST_P(Conformance, ALeaseThatIsRenewedStays) {
  const Lease lease = grant(std::chrono::seconds(4));
  put("pin", "a", lease.id);
  for (int i = 0; i < 4; ++i) {
    backend_->pass(std::chrono::seconds(3));
    const auto left = run(store().renew_lease(lease.id));
    ASSERT_TRUE(left.has_value()) << left.error().message();
    EXPECT_EQ(*left, lease.ttl);
  }
  EXPECT_TRUE(get("pin").has_value());
}

TEST_P(Conformance, ADeadLeaseIsLostForEveryCall) {
  const Lease expired = grant(std::chrono::seconds(2));
  const Lease revoked = grant(std::chrono::seconds(100));
  put("r", "1", revoked.id);
  ASSERT_TRUE(run(store().revoke_lease(revoked.id)));
  EXPECT_EQ(get("r"), std::nullopt);
  backend_->pass(std::chrono::seconds(4));
  for (const LeaseId dead : {expired.id, revoked.id, LeaseId(987654321)}) {
    SCOPED_TRACE(dead.value());
    const auto renewed = run(store().renew_lease(dead));
    ASSERT_FALSE(renewed.has_value());
    EXPECT_EQ(renewed.error().code(), Errc::lease_lost);
    const auto ended = run(store().revoke_lease(dead));
    ASSERT_FALSE(ended.has_value());
    EXPECT_EQ(ended.error().code(), Errc::lease_lost);
    Txn txn;
    txn.then.push_back(put_operation("before", "1"));
    txn.then.push_back(put_operation("k", "1", dead));
    EXPECT_EQ(refused(txn), Errc::lease_lost);
  }
  EXPECT_EQ(keys(""), Names{});
}

TEST_P(Conformance, AKeyThatLeftItsLeaseStaysWhenTheLeaseGoes) {
  const Lease lease = grant(std::chrono::seconds(100));
  const Lease other = grant(std::chrono::seconds(100));
  put("free", "1", lease.id);
  put("free", "2");
  put("moved", "1", lease.id);
  put("moved", "2", other.id);
  ASSERT_TRUE(run(store().revoke_lease(lease.id)));
  EXPECT_EQ(keys(""), (Names{"free", "moved"}));
}

TEST_P(Conformance, LeasesAreGrantedInWholeSecondsWithinTheLimits) {
  EXPECT_EQ(grant(std::chrono::milliseconds(1)).ttl, kLeaseMin);
  EXPECT_EQ(grant(std::chrono::milliseconds(2500)).ttl, std::chrono::seconds(3));
  EXPECT_EQ(grant(Duration::max()).ttl, kLeaseMax);
  EXPECT_EQ(grant(Duration::min()).ttl, kLeaseMin);
}

TEST_P(Conformance, AWatchSeesTheChangesOfItsPrefixInOrder) {
  put("p/old", "0");
  Seen seen;
  const auto watch = store().watch("p/", Revision(), seen.sink());
  put("p/a", "1");
  put("q/a", "1");
  Txn txn;
  txn.then.push_back(put_operation("p/b", "2"));
  txn.then.push_back(put_operation("q/b", "2"));
  txn.then.push_back(erase_operation("p/a"));
  attempt(txn);
  erase("p/old");
  EXPECT_TRUE(wait_for([&] { return seen.events.size() == 4; }));
  EXPECT_EQ(seen.text(), "+p/a=1 +p/b=2 -p/a -p/old");
  EXPECT_EQ(seen.events[1].entry, *get("p/b"));
  EXPECT_EQ(seen.broken, std::nullopt);
}

TEST_P(Conformance, AWatchGoesOnFromAnyRevisionThatIsKept) {
  std::vector<Revision> revisions;
  for (int i = 0; i < 20; ++i)
    revisions.push_back(put("k", std::to_string(i)));
  for (const std::size_t first : {0U, 7U, 19U}) {
    Seen seen;
    const auto watch = store().watch("k", revisions[first], seen.sink());
    EXPECT_TRUE(wait_for([&] { return seen.events.size() == 20 - first; }));
    for (std::size_t i = 0; i < seen.events.size(); ++i)
      EXPECT_EQ(seen.events[i].entry.modified, revisions[first + i]);
    EXPECT_EQ(seen.up_to, revisions.back());
  }
  Seen later;
  const auto watch = store().watch("k", Revision(revisions.back().value() + 2), later.sink());
  put("k", "not yet");
  put("k", "now");
  EXPECT_TRUE(wait_for([&] { return !later.events.empty(); }));
  EXPECT_EQ(later.text(), "+k=now");
}

TEST_P(Conformance, AWatchOfForgottenHistoryBreaksAndSaysSo) {
  const Revision first = put("k", "1");
  put("k", "2");
  backend_->compact();
  Seen seen;
  const auto watch = store().watch("k", first, seen.sink());
  EXPECT_TRUE(wait_for([&] { return seen.broken.has_value(); }));
  EXPECT_EQ(seen.broken, Errc::compacted);
  EXPECT_TRUE(seen.events.empty());
  const auto listing = run(store().list("k", ReadLevel::linearizable));
  ASSERT_TRUE(listing.has_value());
  Seen resumed;
  const auto again = store().watch("k", Revision(listing->revision.value() + 1), resumed.sink());
  put("k", "3");
  EXPECT_TRUE(wait_for([&] { return !resumed.events.empty(); }));
  EXPECT_EQ(resumed.text(), "+k=3");
}

TEST_P(Conformance, ASinkMayEndItsOwnWatchAndOthersAndCallTheStore) {
  std::unique_ptr<Watch> own;
  std::unique_ptr<Watch> other;
  std::unique_ptr<Watch> made;
  Seen ended;
  Seen made_seen;
  int calls = 0;
  bool wrote = false;
  WatchSink sink{.on_events =
                     [&](const std::vector<Event>& events, Revision) {
                       ++calls;
                       own.reset();
                       other.reset();
                       made = store().watch("k", events.front().entry.modified, made_seen.sink());
                       Txn txn;
                       txn.then.push_back(put_operation("from sink", "1"));
                       auto result = std::make_shared<std::optional<Result<TxnReply>>>();
                       backend_->spawn(keep(store().attempt(txn, kPatience), result));
                       wrote = true;
                     },
                 .on_broken = [](const Error&) {}};
  own = store().watch("k", Revision(), sink);
  other = store().watch("k", Revision(), ended.sink());
  put("k", "1");
  EXPECT_TRUE(wait_for([&] { return wrote && !made_seen.events.empty(); }));
  put("k", "2");
  EXPECT_TRUE(wait_for([&] { return made_seen.events.size() == 2; }));
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(ended.events.empty()) << "a watch that was destroyed is not called";
  EXPECT_EQ(made_seen.text(), "+k=1 +k=2");
  EXPECT_TRUE(get("from sink").has_value());
}

}  // namespace
}  // namespace leat::control
