#include "datasets/control_keys.h"
#include "datasets/datasets_fixture_test.h"

namespace leat::datasets {
namespace {

TEST_F(DatasetsTest, IsMadeOnceAndIsEmptyAtFirst) {
  EXPECT_EQ(error_of(rig_.run(datasets_->create(name_))), Errc::conflict);
  EXPECT_EQ(open()->record.version, 0U);
  EXPECT_EQ(error_of(open("@1")), Errc::not_found);
  EXPECT_EQ(error_of(rig_.run(datasets_->create({.bucket = "none", .name = "x"}))),
            Errc::not_found);
  EXPECT_EQ(rig_.run(datasets_->list(""))->size(), 1U);
  EXPECT_TRUE(rig_.run(datasets_->list("other"))->empty());
}

TEST_F(DatasetsTest, VersionsAddRemoveAndDelete) {
  const auto first = commit({.add = {put_shard("a.tar", "a", 2)}, .message = "cats"});
  ASSERT_TRUE(first) << first.error().detail();
  EXPECT_EQ(first->record.version, 1U);
  EXPECT_EQ(first->record.samples, 2U);
  EXPECT_EQ(first->record.fields, (Keys{"cls", "jpg"}));
  ASSERT_TRUE(commit({.add = {put_shard("b.tar", "b", 3)}}));
  EXPECT_EQ(keys(), (Keys{"a0", "a1", "b0", "b1", "b2"}));
  ASSERT_TRUE(commit({.delete_samples = {"b1", "a0"}}));
  EXPECT_EQ(keys(), (Keys{"a1", "b0", "b2"}));
  ASSERT_TRUE(commit({.remove = {"train/b.tar"}}));
  EXPECT_EQ(keys(), (Keys{"a1"}));
  EXPECT_EQ(keys("@1"), (Keys{"a0", "a1"}));
  EXPECT_EQ(keys("@2").size(), 5U);
  EXPECT_EQ(keys("@3").size(), 3U);
  EXPECT_EQ(open("@3")->record.deleted_samples, 2U);
  const auto log = rig_.run(datasets_->log(*open(), 10));
  ASSERT_EQ(log->size(), 4U);
  EXPECT_EQ(log->back().message, "cats");
}

TEST_F(DatasetsTest, SamplesAreWhereTheSnapshotSays) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 2), put_shard("b.tar", "b", 2)}}));
  ASSERT_TRUE(commit({.delete_samples = {"a0"}}));
  const auto loaded = rig_.run(datasets_->snapshot(*open()));
  const snapshot::View& view = (*loaded)->view();
  const auto row = view.find("b1");
  ASSERT_TRUE(row && *row);
  const auto sample = view.sample(**row);
  const auto shard = view.shard(sample->shard);
  const auto found = rig_.find({.bucket = bucket_, .key = shard->key});
  EXPECT_EQ(shard->etag, found->version.etag);
  EXPECT_EQ(rig_.read(*found, {sample->fields[0]->offset, sample->fields[0]->size_bytes}).value(),
            "1");
}

TEST_F(DatasetsTest, WhatCannotBeDoneChangesNothing) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 2)}}));
  ASSERT_TRUE(rig_.put({.bucket = bucket_, .key = "plain"}, "no tar"));
  EXPECT_EQ(error_of(commit({.add = {"train/none.tar"}})), Errc::not_found);
  EXPECT_EQ(error_of(commit({.add = {"plain"}})), Errc::bad_request);
  EXPECT_EQ(error_of(commit({.add = {"train/a.tar"}})), Errc::conflict) << "it is there already";
  EXPECT_EQ(error_of(commit({.remove = {"train/none.tar"}})), Errc::not_found);
  EXPECT_EQ(error_of(commit({.delete_samples = {"none"}})), Errc::not_found);
  EXPECT_EQ(error_of(commit({})), Errc::bad_request);
  EXPECT_EQ(error_of(commit({.remove = {"train/a.tar"}, .restore = 1})), Errc::bad_request);
  EXPECT_EQ(open()->record.version, 1U);
  EXPECT_EQ(objects_below("train/_leat/"), 2U) << "nothing is left of what was tried";
}

TEST_F(DatasetsTest, AnAppendIsMadeToWhateverIsLastAndOthersAreRefused) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}}));
  ASSERT_TRUE(commit({.base = 1, .add = {put_shard("b.tar", "b", 1)}}));
  ASSERT_TRUE(commit({.base = 1, .add = {put_shard("c.tar", "c", 1)}})) << "rebased";
  const auto stale = commit({.base = 1, .remove = {"train/a.tar"}});
  EXPECT_EQ(error_of(stale), Errc::conflict);
  EXPECT_EQ(stale.error().detail(), "sets/train is at version 3 now, the changes were made for 1");
  EXPECT_EQ(keys(), (Keys{"a0", "b0", "c0"}));
}

TEST_F(DatasetsTest, AnExactCommitIsMadeToItsBaseOrNotAtAll) {
  const std::string a = put_shard("a.tar", "a", 1);
  const std::string b = put_shard("b.tar", "b", 1);
  ASSERT_TRUE(commit({.base = 0, .is_exact = true, .add = {a}, .transaction = "a"}));
  const auto late = commit({.base = 0, .is_exact = true, .add = {b}, .transaction = "b"});
  EXPECT_EQ(error_of(late), Errc::conflict);
  EXPECT_EQ(late.error().detail(), "sets/train is at version 1 now, the changes were made for 0");
  EXPECT_EQ(keys(), Keys{"a0"}) << "they are not merged";
  EXPECT_EQ(error_of(commit({.base = 0, .is_exact = true, .appended = true})), Errc::conflict);
  EXPECT_EQ(error_of(commit({.is_exact = true, .add = {b}})), Errc::bad_request);
  ASSERT_TRUE(commit({.base = 0, .is_exact = true, .add = {a}, .transaction = "a"})) << "was done";
  ASSERT_TRUE(commit({.base = 1, .is_exact = true, .add = {b}}));
}

rt::Task<void> commit_beside(Datasets& datasets, std::vector<Commit> commits) {
  const auto done = co_await datasets.commit(std::move(commits));
  if (!done) co_return fail(done.error());
  co_return Status{};
}

TEST_F(DatasetsTest, OfTwoExactCommitsAtOnceOneIsMade) {
  int ended = 0;
  int made = 0;
  for (const char* key : {"a.tar", "b.tar"}) {
    std::vector<Commit> commits;
    commits.push_back(
        {.dataset = name_, .base = 0, .is_exact = true, .add = {put_shard(key, key, 1)}});
    world_.spawn(commit_beside(*datasets_, std::move(commits)), [&](const Status& done) {
      ++ended;
      made += done ? 1 : 0;
    });
  }
  for (int i = 0; i < 1000 && ended < 2; ++i)
    world_.run_for(std::chrono::milliseconds(10));
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(open()->record.version, 1U);
  EXPECT_EQ(open()->record.samples, 1U);
}

TEST_F(DatasetsTest, AVersionThatNobodyCouldOpenIsNotMade) {
  const std::string shard = put_shard("a.tar", "a", 20);
  const VersionLimits limits[] = {
      {.record_bytes = 100}, {.snapshot_bytes = 100}, {.catalog_bytes = 10}};
  for (const VersionLimits& one : limits) {
    datasets_.emplace(
        Datasets::Parts{.store = rig_.store(), .indexes = *indexes_, .control = desk_}, one);
    EXPECT_EQ(error_of(commit({.add = {shard}})), Errc::too_large);
    EXPECT_EQ(objects_below("train/_leat/"), 0U);
    EXPECT_EQ(open()->ref.version, 0U);
  }
}

TEST_F(DatasetsTest, ATransactionIsDoneOnce) {
  const Commit once{.add = {put_shard("a.tar", "a", 1)}, .transaction = "t1"};
  ASSERT_TRUE(commit(once));
  const auto again = commit(once);
  ASSERT_TRUE(again) << again.error().detail();
  EXPECT_EQ(again->record.version, 1U);
  ASSERT_TRUE(commit({.add = {put_shard("b.tar", "b", 1)}, .transaction = "t2"}));
  EXPECT_EQ(commit(once)->record.version, 1U) << "also after others";
  EXPECT_EQ(open()->record.version, 2U);
}

TEST_F(DatasetsTest, SeveralDatasetsMoveTogetherOrNotAtAll) {
  const DatasetName other{.bucket = "sets", .name = "val"};
  ASSERT_TRUE(rig_.run(datasets_->create(other)));
  const auto both = [&](std::vector<std::string> first, std::vector<std::string> second) {
    std::vector<Commit> commits;
    commits.push_back({.dataset = name_, .add = std::move(first)});
    commits.push_back({.dataset = other, .add = std::move(second)});
    return rig_.run(datasets_->commit(std::move(commits)));
  };
  const std::string a = put_shard("a.tar", "a", 1);
  EXPECT_EQ(error_of(both({a}, {"none"})), Errc::not_found);
  EXPECT_EQ(open()->record.version, 0U);
  ASSERT_TRUE(both({a}, {put_shard("b.tar", "b", 1)}));
  EXPECT_EQ(open()->record.version, 1U);
  EXPECT_EQ(rig_.run(datasets_->open({.dataset = other}))->record.samples, 1U);
  std::vector<Commit> twice(2, Commit{.dataset = name_, .add = {a}});
  EXPECT_EQ(error_of(rig_.run(datasets_->commit(std::move(twice)))), Errc::bad_request);
}

TEST_F(DatasetsTest, TagsAndTimesNameVersions) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}}));
  const std::int64_t first = open()->record.committed_ms;
  world_.run_for(std::chrono::seconds(10));
  ASSERT_TRUE(commit({.add = {put_shard("b.tar", "b", 1)}}));
  ASSERT_TRUE(rig_.run(datasets_->tag(*open("@1"), "best")));
  EXPECT_EQ(open("@best")->record.version, 1U);
  const auto as_of = [&](std::int64_t ms) {
    return rig_.run(datasets_->open({.dataset = name_, .which = AsOf{ms}}));
  };
  EXPECT_EQ(as_of(first)->record.version, 1U);
  EXPECT_EQ(as_of(first + 5000)->record.version, 1U);
  EXPECT_EQ(as_of(first + 60'000)->record.version, 2U);
  EXPECT_EQ(error_of(as_of(first - 1)), Errc::not_found);
  EXPECT_EQ(rig_.run(datasets_->tags(name_))->size(), 1U);
  ASSERT_TRUE(rig_.run(datasets_->remove_tag(name_, "best")));
  EXPECT_EQ(error_of(open("@best")), Errc::not_found);
  EXPECT_EQ(error_of(rig_.run(datasets_->tag(*open(), "7"))), Errc::bad_request);
}

TEST_F(DatasetsTest, ARestoredVersionIsANewOneWithTheOldContent) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}}));
  ASSERT_TRUE(commit({.remove = {"train/a.tar"}}));
  EXPECT_EQ(keys(), Keys{});
  ASSERT_TRUE(commit({.restore = 1}));
  EXPECT_EQ(keys(), Keys{"a0"});
  EXPECT_EQ(open()->record.version, 3U);
  EXPECT_EQ(open()->record.snapshot.fingerprint, open("@1")->record.snapshot.fingerprint);
}

TEST_F(DatasetsTest, ARemovedDatasetIsGoneAndCanBeMadeAnew) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}, .transaction = "t"}));
  ASSERT_TRUE(rig_.run(datasets_->tag(*open(), "best")));
  ASSERT_TRUE(rig_.run(datasets_->remove(name_)));
  EXPECT_EQ(error_of(open()), Errc::not_found);
  EXPECT_TRUE(rig_.find({.bucket = bucket_, .key = "train/a.tar"})) << "shards stay";
  ASSERT_TRUE(rig_.run(datasets_->create(name_)));
  EXPECT_EQ(error_of(open("@best")), Errc::not_found);
  EXPECT_EQ(commit({.add = {"train/a.tar"}, .transaction = "t"})->record.version, 1U);
}

TEST_F(DatasetsTest, ManyVersionsAreAllThere) {
  for (int i = 0; i < 40; ++i)
    ASSERT_TRUE(
        commit({.add = {put_shard(fmt::format("{:02}.tar", i), fmt::format("{:02}-", i), 1)}}));
  for (int version = 1; version <= 40; ++version) {
    const auto opened = open(fmt::format("@{}", version));
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->record.samples, static_cast<std::uint64_t>(version));
  }
}

TEST_F(DatasetsTest, ATransactionThatWasDoneForSomeIsNotDoneForOthers) {
  const DatasetName other{.bucket = "sets", .name = "val"};
  ASSERT_TRUE(rig_.run(datasets_->create(other)));
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}, .transaction = "t"}));
  std::vector<Commit> both;
  both.push_back({.dataset = name_, .add = {"train/a.tar"}, .transaction = "t"});
  both.push_back({.dataset = other, .add = {"train/a.tar"}, .transaction = "t"});
  EXPECT_EQ(error_of(rig_.run(datasets_->commit(std::move(both)))), Errc::conflict);
}

TEST_F(DatasetsTest, AForgedSnapshotIsNotBelieved) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}}));
  const std::string first = open()->record.snapshot.key;
  ASSERT_TRUE(commit({.add = {put_shard("b.tar", "b", 1)}}));
  const auto found = rig_.find({.bucket = bucket_, .key = open()->record.snapshot.key});
  const std::string other = rig_.read(*found, {0, found->version.size_bytes}).value();
  ASSERT_TRUE(rig_.put({.bucket = bucket_, .key = first}, other));
  EXPECT_EQ(error_of(rig_.run(datasets_->snapshot(*open("@1")))), Errc::corrupt);
  EXPECT_EQ(error_of(rig_.run(datasets_->reader(*open("@1")))), Errc::corrupt);
}

TEST_F(DatasetsTest, AForgedRecordLeadsNobodyInCircles) {
  for (const char* key : {"a.tar", "b.tar", "c.tar"})
    ASSERT_TRUE(commit({.add = {put_shard(key, key, 1)}}));
  // Version 1 says that it is the third, which leads back to it.
  const CommitRecord forged = open()->record;
  ASSERT_TRUE(rig_.put({.bucket = bucket_, .key = open("@1")->ref.record}, encode(forged)));
  EXPECT_EQ(error_of(open("@1")), Errc::corrupt);
  EXPECT_EQ(error_of(rig_.run(datasets_->log(*open(), 1000))), Errc::corrupt);
}

TEST_F(DatasetsTest, ASnapshotReadByRangesSaysTheSame) {
  ASSERT_TRUE(commit({.add = {put_shard("b.tar", "b", 30), put_shard("a.tar", "a", 30)}}));
  ASSERT_TRUE(commit({.delete_samples = {"a3", "a4", "b29"}}));
  const auto loaded = rig_.run(datasets_->snapshot(*open()));
  const snapshot::View& view = (*loaded)->view();
  const ReaderPtr reader = rig_.run(datasets_->reader(*open())).value();
  ASSERT_EQ(reader->sample_count(), view.sample_count());
  for (snapshot::Row row = 0; row < view.sample_count(); ++row) {
    const std::string key = view.key(row).value();
    EXPECT_EQ(rig_.run(reader->sample(row)).value(), view.sample(row).value());
    EXPECT_EQ(rig_.run(reader->key(row)).value(), key);
    EXPECT_EQ(rig_.run(reader->find(key)).value()->row, view.find(key).value());
  }
  EXPECT_FALSE(rig_.run(reader->find("none")).value());
  EXPECT_EQ(rig_.run(reader->list("a", "a1", 3))->page.front().key, "a10");
  EXPECT_TRUE(rig_.run(reader->list("a", "a1", 3))->is_truncated);
  EXPECT_EQ(rig_.run(reader->list("", "", 1000))->page.size(), 57U);
  EXPECT_EQ(rig_.run(reader->samples_of(0))->size(), 1U) << "neighbours are one range";
  EXPECT_EQ(rig_.run(reader->samples_of(1))->size(), 2U) << "two samples are missing";
}

TEST_F(DatasetsTest, ALargeSnapshotIsReadPageByPage) {
  constexpr snapshot::Row kRows = 60'000;
  snapshot::Builder builder;
  ASSERT_TRUE(
      builder.begin_shard({.bucket = "sets", .key = "large.tar", .size_bytes = kRows * 2048}));
  for (snapshot::Row row = 0; row < kRows; ++row) {
    const std::uint64_t start = std::uint64_t{row} * 2048;
    // Some are odd: they stand elsewhere in the snapshot.
    const std::uint64_t lead = row % 1000 == 7 ? 1024 : 512;
    const snapshot::FieldOf field{.name = "jpg", .place = {start + lead, row % 900}};
    ASSERT_TRUE(builder.add_sample(fmt::format("{:05}", (row * 7919) % kRows), start, start + 2048,
                                   std::span(&field, 1)));
  }
  const std::string bytes = builder.finish().value();
  const auto view = snapshot::View::open(as_bytes(bytes)).value();
  ASSERT_TRUE(rig_.put({.bucket = bucket_, .key = "large"}, bytes));
  const store::Found found = rig_.find({.bucket = bucket_, .key = "large"}).value();
  PageCache few_pages(256 * kKiB);
  const SnapshotReader::Parts parts{.store = rig_.store(), .cache = few_pages};
  const ReaderPtr reader = rig_.run(SnapshotReader::open(parts, found, 1)).value();
  for (snapshot::Row row = 7; row < kRows; row += 997) {
    const std::string key = view.key(row).value();
    EXPECT_EQ(rig_.run(reader->key(row)).value(), key);
    EXPECT_EQ(rig_.run(reader->find(key)).value().value(), view.sample(row).value());
  }
  EXPECT_LE(few_pages.size_bytes(), 256 * kKiB);
  std::string after;
  for (snapshot::Row rank = 0; rank < kRows;) {
    const auto page = rig_.run(reader->list("", after, 10'000)).value();
    ASSERT_FALSE(page.page.empty());
    for (const KeyEntry& one : page.page)
      ASSERT_EQ(one.key, fmt::format("{:05}", rank++));
    EXPECT_EQ(page.is_truncated, rank < kRows);
    after = page.page.back().key;
  }
}

TEST_F(DatasetsTest, WhatWasAppendedIsTakenOnceAndUpToTheFirstGap) {
  AppendState state = rig_.run(datasets_->appends(name_)).value();
  const auto append = [&](const std::string& producer, std::uint64_t sequence) {
    const std::string key = append_key(name_, state, producer, sequence);
    const std::string sample = fmt::format("{}-{}.txt", producer, sequence);
    ASSERT_TRUE(rig_.put({.bucket = bucket_, .key = key}, test::tar_of({{sample, "x"}})));
  };
  EXPECT_EQ(commit({.appended = true})->record.version, 0U) << "nothing waits";
  append("p", 1);
  append("p", 2);
  append("p", 4);
  append("q", 1);
  EXPECT_EQ(commit({.appended = true})->record.version, 1U);
  EXPECT_EQ(keys(), (Keys{"p-1", "p-2", "q-1"}));
  EXPECT_EQ(commit({.appended = true})->record.version, 1U);
  append("p", 3);
  EXPECT_EQ(commit({.appended = true})->record.samples, 5U);
  state = rig_.run(datasets_->appends(name_)).value();
  EXPECT_EQ(state.committed_of("p"), 4U);
  // One that was removed does not come back, and a new life takes nothing of the former one.
  ASSERT_TRUE(commit({.remove = {append_key(name_, state, "p", 1)}}));
  EXPECT_EQ(commit({.appended = true})->record.samples, 4U);
  ASSERT_TRUE(rig_.run(datasets_->remove(name_)));
  ASSERT_TRUE(rig_.run(datasets_->create(name_)));
  EXPECT_EQ(commit({.appended = true})->record.version, 0U);
}

TEST_F(DatasetsTest, TooManyProducersAreLeftOutAndTheOthersCommitted) {
  AppendState state = rig_.run(datasets_->appends(name_)).value();
  for (std::size_t i = 0; i + 1 < kProducersMax; ++i)
    state.committed[fmt::format("{:0100}", i)] = 1;
  control::Txn txn{.then = {{.kind = control::Operation::Kind::put,
                             .key = appends_key(name_),
                             .value = encode(state)}}};
  ASSERT_TRUE(rig_.run(desk_.commit(world_.shard(), std::move(txn))));
  for (const char* producer : {"p", "q"}) {
    const std::string key = append_key(name_, state, producer, 1);
    ASSERT_TRUE(rig_.put({.bucket = bucket_, .key = key},
                         test::tar_of({{fmt::format("{}.txt", producer), "x"}})));
  }
  ASSERT_TRUE(commit({.appended = true}));
  EXPECT_EQ(keys(), Keys{"p"});
  EXPECT_EQ(rig_.run(datasets_->appends(name_))->committed.size(), kProducersMax);
}

TEST_F(DatasetsTest, PinsEndByThemselves) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}}));
  ASSERT_TRUE(rig_.run(datasets_->pin(*open(), "job", std::chrono::seconds(10), {})));
  EXPECT_EQ(rig_.run(datasets_->pins(name_))->size(), 1U);
  world_.run_for(std::chrono::seconds(60));
  EXPECT_TRUE(rig_.run(datasets_->pins(name_))->empty());
  ASSERT_TRUE(rig_.run(datasets_->pin(*open(), "job", std::chrono::hours(1), {})));
  ASSERT_TRUE(rig_.run(datasets_->remove_pin(name_, "job", {})));
  EXPECT_TRUE(rig_.run(datasets_->pins(name_))->empty());
}

TEST_F(DatasetsTest, APinIsMovedAndRemovedByItsOwnerOrByWhoMayWrite) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}}));
  ASSERT_TRUE(commit({.add = {put_shard("b.tar", "b", 1)}}));
  const auto pin = [&](const std::string& which, Datasets::PinHolder holder) {
    return rig_.run(datasets_->pin(*open(which), "job", std::chrono::hours(1), std::move(holder)));
  };
  ASSERT_TRUE(pin("@1", {.id = "ours"}));
  EXPECT_EQ(error_of(pin("@2", {.id = "theirs"})), Errc::denied);
  EXPECT_EQ(error_of(rig_.run(datasets_->remove_pin(name_, "job", {.id = "theirs"}))),
            Errc::denied);
  EXPECT_EQ(error_of(pin("@2", {})), Errc::denied);
  EXPECT_EQ(rig_.run(datasets_->pins(name_))->front().version, 1U);
  EXPECT_TRUE(pin("@2", {.id = "ours"}));
  EXPECT_EQ(rig_.run(datasets_->pins(name_))->front().version, 2U);
  EXPECT_TRUE(rig_.run(datasets_->remove_pin(name_, "job", {.id = "writer", .may_write = true})));
  EXPECT_TRUE(rig_.run(datasets_->pins(name_))->empty());
}

TEST_F(DatasetsTest, PinsLeaveNoLeasesBehind) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}}));
  const auto pin = [&](const Datasets::PinHolder& holder) {
    return rig_.run(datasets_->pin(*open(), "job", std::chrono::hours(1), holder));
  };
  const auto lease_of = [&] {
    return rig_.run(desk_.get(world_.shard(), pin_key(name_, "job"))).value()->lease;
  };
  const auto has_ended = [&](control::LeaseId lease) {
    return error_of(rig_.run(control_->renew_lease(lease))) == Errc::lease_lost;
  };
  ASSERT_TRUE(pin({.id = "a"}));
  const control::LeaseId first = lease_of();
  ASSERT_TRUE(pin({.id = "a"}));
  const control::LeaseId second = lease_of();
  EXPECT_TRUE(has_ended(first)) << "it was renewed";
  EXPECT_FALSE(pin({.id = "b"}));
  EXPECT_TRUE(has_ended(control::LeaseId(second.value() + 1))) << "that of who was refused";
  EXPECT_FALSE(has_ended(second));
  ASSERT_TRUE(rig_.run(datasets_->remove_pin(name_, "job", {.id = "a"})));
  EXPECT_TRUE(has_ended(second));
  ASSERT_TRUE(pin({.id = "a"}));
  const control::LeaseId last = lease_of();
  ASSERT_TRUE(rig_.run(datasets_->remove(name_)));
  EXPECT_TRUE(has_ended(last)) << "it went with the dataset";
}

TEST(Appends, KeysTellWhoAndWhich) {
  const DatasetName name{.bucket = "b", .name = "d/n"};
  const AppendState state{.id = "f00d"};
  const std::string key = append_key(name, state, "p.1", 12);
  EXPECT_EQ(key, "d/n/append/f00d/p.1/000000000012.tar");
  EXPECT_EQ(parse_append_key(name, key),
            (AppendName{.id = "f00d", .producer = "p.1", .sequence = 12}));
  for (const char* other : {"d/n/append/f00d/p/x.tar", "d/n/append/1.tar", "d/n/000.tar", ""})
    EXPECT_FALSE(parse_append_key(name, other)) << other;
  const auto again = decode_appends(encode(AppendState{.id = "x", .committed = {{"p", 3}}}));
  EXPECT_EQ(again->committed_of("p"), 3U);
  EXPECT_FALSE(decode_appends("{}"));
}

}  // namespace
}  // namespace leat::datasets
