// Vacuum, lint, adoption and rebuilding of datasets on a node in memory.
#include "datasets/control_keys.h"
#include "datasets/datasets_fixture_test.h"
#include "upkeep/adopt.h"
#include "upkeep/lint.h"
#include "upkeep/rebuild.h"
#include "upkeep/vacuum.h"

namespace leat::upkeep {
namespace {

using datasets::Commit;
using datasets::Opened;

class UpkeepTest : public datasets::DatasetsTest {
 protected:
  VacuumReport vacuum_all() {
    auto done = rig_.run(vacuum(*datasets_, name_, {.keep_ms = 0}));
    EXPECT_TRUE(done) << done.error().detail();
    return *std::move(done);
  }
  // A shard of a sample "x", made for the dataset.
  void put_for(const std::string& key, const std::string& name) {
    const store::PutDetails made{.attributes = {{std::string(datasets::kDatasetAttribute), name}}};
    const std::string bytes = test::tar_of({{"x.txt", "1"}});
    ASSERT_TRUE(rig_.run(rig_.store().put_text({.bucket = bucket_, .key = key}, bytes, made)));
  }
  bool is_there(const std::string& key) {
    return rig_.find({.bucket = bucket_, .key = key}).has_value();
  }
  // As if the control store had been lost.
  void forget(const datasets::DatasetName& name) {
    for (const char* prefix :
         {"ds/", "ds-tag/", "ds-txn/", "ds-pin/", "ds-append/", "ds-vacuumed/"}) {
      const auto listing = rig_.run(desk_.list(world_.shard(), prefix + name.text()));
      for (const control::KeyValue& one : listing->entries) {
        control::Txn txn{.then = {{.kind = control::Operation::Kind::erase, .key = one.key}}};
        EXPECT_TRUE(rig_.run(desk_.commit(world_.shard(), std::move(txn))));
      }
    }
  }
  Rebuilt rebuilt() {
    auto all = rig_.run(rebuild(*datasets_, "sets", false));
    EXPECT_TRUE(all) << all.error().detail();
    EXPECT_EQ(all->size(), 1U);
    return all->empty() ? Rebuilt{} : all->front();
  }
  void remove_objects(const std::string& suffix) {
    index::ListRequest request{.bucket = bucket_, .prefix = "train/_leat/", .max = 1000};
    const auto page = rig_.run(rig_.store().list(request));
    for (const index::ListItem& item : page->items) {
      if (!item.name.ends_with(suffix)) continue;
      EXPECT_TRUE(rig_.run(rig_.store().remove({.bucket = bucket_, .key = item.name}, {})));
    }
  }
};

TEST_F(UpkeepTest, VacuumRemovesWhatOnlyOldVersionsNeeded) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 2), put_shard("b.tar", "b", 2)}}));
  ASSERT_TRUE(commit({.remove = {"train/a.tar"}}));
  world_.run_for(std::chrono::seconds(10));
  const auto dry = rig_.run(vacuum(*datasets_, name_, {.keep_ms = 0, .is_dry = true}));
  EXPECT_EQ(dry->objects, 2U);
  EXPECT_TRUE(is_there("train/a.tar"));
  const VacuumReport done = vacuum_all();
  EXPECT_EQ(done.versions, std::vector<std::uint64_t>{1});
  EXPECT_EQ(done.objects, 2U) << "a shard and a snapshot";
  EXPECT_FALSE(is_there("train/a.tar"));
  EXPECT_TRUE(is_there("train/b.tar"));
  EXPECT_EQ(keys(), (Keys{"b0", "b1"}));
  EXPECT_EQ(rig_.run(datasets_->log(*open(), 10))->size(), 2U) << "the log stays";
  EXPECT_EQ(error_of(rig_.run(datasets_->reader(*open("@1")))), Errc::not_found);
  EXPECT_EQ(error_of(rig_.run(datasets_->tag(*open("@1"), "late"))), Errc::not_found);
  EXPECT_EQ(error_of(commit({.restore = 1})), Errc::not_found);
  EXPECT_EQ(vacuum_all().objects, 0U);
}

TEST_F(UpkeepTest, VacuumKeepsWhatHasANameOrIsYoung) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}}));
  ASSERT_TRUE(commit({.remove = {"train/a.tar"}}));
  ASSERT_TRUE(commit({.add = {put_shard("b.tar", "b", 1)}}));
  ASSERT_TRUE(commit({.remove = {"train/b.tar"}}));
  ASSERT_TRUE(rig_.run(datasets_->tag(*open("@1"), "best")));
  ASSERT_TRUE(rig_.run(datasets_->pin(*open("@3"), "job", std::chrono::hours(1), {})));
  EXPECT_TRUE(rig_.run(vacuum(*datasets_, name_, {.keep_ms = 3'600'000}))->versions.empty());
  world_.run_for(std::chrono::seconds(10));
  EXPECT_EQ(vacuum_all().versions, std::vector<std::uint64_t>{2});
  EXPECT_EQ(keys("@best"), Keys{"a0"});
  EXPECT_EQ(keys("@3"), Keys{"b0"});
  world_.run_for(std::chrono::hours(2));
  EXPECT_EQ(vacuum_all().versions, std::vector<std::uint64_t>{3}) << "the job is over";
  EXPECT_FALSE(is_there("train/b.tar"));
  EXPECT_TRUE(is_there("train/a.tar"));
}

TEST_F(UpkeepTest, VacuumLeavesWhatIsElsewhereOrOfOthersOrNew) {
  const datasets::DatasetName other{.bucket = "sets", .name = "other"};
  ASSERT_TRUE(rig_.run(datasets_->create(other)));
  ASSERT_TRUE(rig_.put({.bucket = bucket_, .key = "raw/x.tar"}, test::tar_of({{"x.txt", "1"}})));
  const std::string shared = put_shard("shared.tar", "s", 1);
  const std::string again = put_shard("again.tar", "g", 1);
  ASSERT_TRUE(commit({.add = {"raw/x.tar", shared, again}}));
  std::vector<Commit> of_other;
  of_other.push_back({.dataset = other, .add = {shared}});
  ASSERT_TRUE(rig_.run(datasets_->commit(std::move(of_other))));
  ASSERT_TRUE(commit({.remove = {"raw/x.tar", shared, again}}));
  world_.run_for(std::chrono::seconds(10));
  put_shard("again.tar", "h", 1);
  EXPECT_EQ(vacuum_all().objects, 1U) << "the snapshot";
  EXPECT_TRUE(is_there("raw/x.tar"));
  EXPECT_TRUE(is_there(shared));
  EXPECT_TRUE(is_there(again)) << "it was stored anew since";
}

TEST_F(UpkeepTest, VacuumClearsUpAfterCommitsThatWereKilled) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}}));
  ASSERT_TRUE(rig_.put({.bucket = bucket_, .key = "train/_leat/000000000002-0.json"}, "{}"));
  EXPECT_EQ(vacuum_all().objects, 0U) << "somebody may be about to commit it";
  world_.run_for(std::chrono::hours(25));
  EXPECT_EQ(vacuum_all().objects, 1U);
  EXPECT_EQ(keys(), Keys{"a0"});
}

TEST_F(UpkeepTest, VacuumRemovesShardsThatNobodyCommittedForADay) {
  const auto state = rig_.run(datasets_->appends(name_)).value();
  const std::string waiting = append_key(name_, state, "p", 2);
  put_for(waiting, "train");
  put_for("train/left.tar", "train");
  put_for("train/used.tar", "train");
  put_for("train/more/x.tar", "train/more");
  put_shard("plain.tar", "p", 1);
  EXPECT_EQ(vacuum_all().objects, 0U) << "somebody may be about to commit them";
  ASSERT_TRUE(commit({.add = {"train/used.tar"}}));
  world_.run_for(std::chrono::hours(25));
  put_for("train/young.tar", "train");
  EXPECT_EQ(vacuum_all().objects, 1U);
  EXPECT_FALSE(is_there("train/left.tar"));
  for (const std::string& key :
       {waiting, std::string("train/used.tar"), std::string("train/more/x.tar"),
        std::string("train/plain.tar"), std::string("train/young.tar")})
    EXPECT_TRUE(is_there(key)) << key;
}

TEST_F(UpkeepTest, AdoptionFindsTarsThatAreNotInYet) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}}));
  put_shard("b.tar", "b", 1);
  ASSERT_TRUE(rig_.put({.bucket = bucket_, .key = "train/plain"}, "x"));
  const auto found = rig_.run(find_tars(*datasets_, name_, "train/"));
  EXPECT_EQ(*found, (Keys{"train/b.tar"}));
}

TEST_F(UpkeepTest, AdoptionBringsNothingBackThatWasRemoved) {
  put_for("train/old.tar", "train");
  ASSERT_TRUE(commit({.add = {"train/old.tar", put_shard("a.tar", "a", 1)}}));
  ASSERT_TRUE(commit({.remove = {"train/old.tar"}}));
  put_for("train/foreign.tar", "other");
  EXPECT_EQ(*rig_.run(find_tars(*datasets_, name_, "train/")), (Keys{"train/foreign.tar"}));
}

TEST_F(UpkeepTest, ShardsAndAppendsAreNoPlainObjects) {
  const auto state = rig_.run(datasets_->appends(name_)).value();
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}}));
  put_for("train/old.tar", "train");
  put_for(append_key(name_, state, "p", 1), "train");
  ASSERT_TRUE(rig_.put({.bucket = bucket_, .key = append_key(name_, state, "p", 2)}, "x"));
  ASSERT_TRUE(rig_.put({.bucket = bucket_, .key = "train/1.jpg"}, "x"));
  const auto found = rig_.run(find_objects(*datasets_, name_, "train/", 1000));
  EXPECT_EQ(found->keys, (Keys{"train/1.jpg"}));
}

TEST_F(UpkeepTest, PlainObjectsBecomeShardsWhereTheyAre) {
  const auto put = [&](const std::string& key, const std::string& bytes) {
    ASSERT_TRUE(rig_.put({.bucket = bucket_, .key = "raw/" + key}, bytes));
  };
  put("a.cls", "1");
  put("a.d/x.jpg", std::string(3000, 'x'));
  put("a.jpg", "meow");
  put("b.jpg", "");
  put("README", "no sample");
  const auto found = rig_.run(find_objects(*datasets_, name_, "raw/", 1000));
  ASSERT_TRUE(found) << found.error().detail();
  EXPECT_EQ(found->passed_over, 1U);
  ASSERT_EQ(found->recipes.size(), 2U) << "the second begins when the first is large enough";
  const auto keys_of_recipes = rig_.run(write_recipes(*datasets_, name_, found->recipes)).value();
  const auto done = commit({.add = keys_of_recipes});
  ASSERT_TRUE(done) << done.error().detail();
  EXPECT_EQ(keys(), (Keys{"a", "a.d/x", "b"}));
  EXPECT_TRUE(rig_.run(find_objects(*datasets_, name_, "raw/", 1000))->recipes.empty());
  const auto reader = rig_.run(datasets_->reader(*open())).value();
  EXPECT_TRUE(reader->catalog().shard(0)->is_recipe);
  const auto sample = rig_.run(reader->find("a")).value();
  // The bytes of the tar that nobody has stored.
  const auto recipe_object = rig_.find({.bucket = bucket_, .key = keys_of_recipes[0]});
  const auto recipe = rig_.run(shards::load_recipe(rig_.store(), *recipe_object)).value();
  const auto read = [&](std::uint64_t offset, std::uint64_t length) {
    shards::RecipeSource source(rig_.store(), recipe, {{offset, length}}, "");
    std::string bytes;
    for (;;) {
      const auto piece = rig_.run(source.next());
      EXPECT_TRUE(piece) << piece.error().detail();
      if (!piece || piece->empty()) return bytes;
      bytes += as_text(*piece);
    }
  };
  const std::string whole = read(0, recipe->layout.size_bytes);
  EXPECT_EQ(whole.size(), recipe->layout.size_bytes);
  shard::ShardScanner scanner;
  scanner.feed(as_bytes(whole));
  EXPECT_EQ(scanner.finish().samples, 2U);
  for (std::uint64_t at = 0; at < whole.size(); at += 257)
    EXPECT_EQ(read(at, 700 < whole.size() - at ? 700 : whole.size() - at), whole.substr(at, 700));
  const auto jpg = *sample->fields[*reader->catalog().field_id("jpg")];
  EXPECT_EQ(whole.substr(jpg.offset, jpg.size_bytes), "meow");
  // It is said when an object is another one.
  put("a.jpg", "woof");
  shards::RecipeSource broken(rig_.store(), recipe, {{0, whole.size()}}, "");
  EXPECT_EQ(error_of(rig_.run(broken.next())), Errc::precondition_failed);
  EXPECT_EQ(rig_.run(lint(*datasets_, *open(), 10))->counts["shard_replaced"], 1U);
  world_.run_for(std::chrono::hours(48));
  EXPECT_EQ(vacuum_all().objects, 0U) << "recipes of the last version stay";
}

TEST_F(UpkeepTest, LintNamesWhatReadersStumbleOver) {
  ASSERT_TRUE(
      rig_.put({.bucket = bucket_, .key = "train/odd.tar"}, test::tar_of({{"1.JPG", "x"},
                                                                          {"1.cls", "1"},
                                                                          {"2.cls", "2"},
                                                                          {"3.jpg", "x"},
                                                                          {"3.cls", "3"},
                                                                          {"README", "r"},
                                                                          {"1.jpg", "y"},
                                                                          {"1.cls", "4"}})));
  ASSERT_TRUE(
      commit({.add = {"train/odd.tar", put_shard("a.tar", "a", 3), put_shard("b.tar", "b", 1)}}));
  ASSERT_TRUE(rig_.run(rig_.store().remove({.bucket = bucket_, .key = "train/a.tar"}, {})));
  put_shard("b.tar", "c", 2);
  const auto report = rig_.run(lint(*datasets_, *open(), 10));
  ASSERT_TRUE(report) << report.error().detail();
  const std::map<std::string, std::uint64_t> wanted = {
      {"duplicate_key", 1}, {"field_missing", 1}, {"member_ignored", 1},
      {"name_differs", 1},  {"shard_missing", 1}, {"shard_replaced", 1}};
  EXPECT_EQ(report->counts, wanted);
}

// Readers pass over them, and ?member= refuses them.
TEST_F(UpkeepTest, LintNamesMembersThatAreNoFiles) {
  std::string archive = test::special_member("folder", '5') + test::special_member("1.jpg", '1');
  archive += test::tar_of({{"1.cls", "1"}});
  ASSERT_TRUE(rig_.put({.bucket = bucket_, .key = "train/odd.tar"}, archive));
  ASSERT_TRUE(commit({.add = {"train/odd.tar"}}));
  const auto report = rig_.run(lint(*datasets_, *open(), 10));
  ASSERT_TRUE(report) << report.error().detail();
  const std::map<std::string, std::uint64_t> wanted = {{"member_is_no_file", 1}};
  EXPECT_EQ(report->counts, wanted);
  EXPECT_EQ(report->problems.front().name, "1.jpg");
}

TEST_F(UpkeepTest, ALostPointerIsFoundByTheRecords) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 2)}, .transaction = "t"}));
  ASSERT_TRUE(commit({.delete_samples = {"a0"}}));
  forget(name_);
  EXPECT_EQ(error_of(open()), Errc::not_found);
  const auto dry = rig_.run(rebuild(*datasets_, "sets", true));
  EXPECT_EQ(dry->size(), 1U);
  EXPECT_EQ(error_of(open()), Errc::not_found);
  const Rebuilt found = rebuilt();
  EXPECT_EQ(found.by, Rebuilt::By::record);
  EXPECT_EQ(found.version, 2U);
  EXPECT_EQ(keys(), Keys{"a1"});
  EXPECT_EQ(keys("@1").size(), 2U);
  EXPECT_EQ(commit({.add = {"train/a.tar"}, .transaction = "t"})->record.version, 1U)
      << "transactions are known again";
  EXPECT_TRUE(rig_.run(rebuild(*datasets_, "sets", false))->empty()) << "it has a pointer";
}

TEST_F(UpkeepTest, OfADatasetThatWasMadeAgainTheLastLifeIsFound) {
  for (const char* key : {"a.tar", "b.tar"})
    ASSERT_TRUE(commit({.add = {put_shard(key, key, 1)}}));
  ASSERT_TRUE(rig_.run(datasets_->remove(name_)));
  ASSERT_TRUE(rig_.run(datasets_->create(name_)));
  world_.run_for(std::chrono::seconds(10));
  ASSERT_TRUE(commit({.add = {put_shard("c.tar", "c", 1)}}));
  remove_objects(".removed");  // the first Leats wrote none
  forget(name_);
  const Rebuilt found = rebuilt();
  EXPECT_EQ(found.version, 1U);
  EXPECT_EQ(keys(), Keys{"c0"});
  EXPECT_TRUE(std::ranges::any_of(found.unknown, [](const std::string& one) {
    return one.starts_with("which of 2 histories is the dataset's");
  }));
}

TEST_F(UpkeepTest, ADatasetThatWasRemovedStaysSoAfterARebuild) {
  put_for("train/a.tar", "train");
  ASSERT_TRUE(commit({.add = {"train/a.tar"}}));
  ASSERT_TRUE(commit({.add = {put_shard("b.tar", "b", 1)}}));
  ASSERT_TRUE(rig_.run(datasets_->remove(name_)));
  forget(name_);
  const Rebuilt told = rebuilt();
  EXPECT_EQ(word_of(told.by), "removed");
  EXPECT_EQ(told.version, 0U);
  EXPECT_EQ(told.unknown.size(), 1U);
  EXPECT_EQ(error_of(open()), Errc::not_found);

  // Who deletes the tombstone has it back.
  remove_objects(".removed");
  EXPECT_EQ(rebuilt().version, 2U);
  EXPECT_EQ(keys(), (Keys{"b0", "x"}));
}

TEST_F(UpkeepTest, ADatasetThatWasMadeAgainIsRebuiltWithoutItsFormerLife) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 2)}}));
  ASSERT_TRUE(rig_.run(datasets_->remove(name_)));
  ASSERT_TRUE(rig_.run(datasets_->create(name_)));
  EXPECT_TRUE(rig_.run(rebuild(*datasets_, "sets", false))->empty()) << "it lacks nothing";
  ASSERT_TRUE(commit({.add = {"train/a.tar"}}));
  ASSERT_TRUE(commit({.add = {put_shard("b.tar", "b", 1)}}));
  forget(name_);
  EXPECT_EQ(rebuilt().version, 2U);
  EXPECT_EQ(keys(), (Keys{"a0", "a1", "b0"}));
}

// Whoever is killed between the tombstone and the pointer has removed nothing.
TEST_F(UpkeepTest, ATombstoneOfADatasetThatWentOnIsVoid) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}}));
  const datasets::Tombstone tombstone{.record = open()->ref.record,
                                      .removed_ms = rig_.store().now_ms()};
  ASSERT_TRUE(rig_.put({.bucket = bucket_, .key = "train/_leat/0.removed"}, encode(tombstone)));
  ASSERT_TRUE(commit({.add = {put_shard("b.tar", "b", 1)}}));
  forget(name_);
  EXPECT_EQ(rebuilt().version, 2U);
  EXPECT_EQ(keys(), (Keys{"a0", "b0"}));
}

TEST_F(UpkeepTest, WhatWasVacuumedStaysSoAfterARebuild) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}}));
  ASSERT_TRUE(commit({.remove = {"train/a.tar"}}));
  world_.run_for(std::chrono::seconds(10));
  vacuum_all();
  forget(name_);
  rebuilt();
  EXPECT_EQ(error_of(rig_.run(datasets_->tag(*open("@1"), "late"))), Errc::not_found);
  EXPECT_TRUE(rig_.run(datasets_->tag(*open("@2"), "good")));
}

TEST_F(UpkeepTest, LostSnapshotsAreMadeOfTheShardsThatRecordsName) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 2), put_shard("b.tar", "b", 1)}}));
  ASSERT_TRUE(commit({.remove = {"train/b.tar"}}));
  ASSERT_TRUE(commit({.add = {put_shard("c.tar", "c", 1)}}));
  ASSERT_TRUE(commit({.restore = 2}));
  ASSERT_TRUE(commit({.delete_samples = {"a1"}}));
  forget(name_);
  remove_objects(".snapshot");
  const Rebuilt found = rebuilt();
  EXPECT_EQ(found.by, Rebuilt::By::log);
  EXPECT_EQ(found.version, 6U);
  EXPECT_EQ(keys(), (Keys{"a0", "a1"})) << "a deleted sample is back, and said to be";
  EXPECT_TRUE(std::ranges::any_of(found.unknown, [](const std::string& one) {
    return one == "which 1 samples were deleted: they are back";
  }));
}

TEST_F(UpkeepTest, WithoutAnyRecordShardsSayWhoseTheyAre) {
  const store::PutDetails mine{.attributes = {{std::string(datasets::kDatasetAttribute), "train"}}};
  for (const char* key : {"train/b.tar", "train/a.tar"}) {
    const std::string bytes = test::tar_of({{std::string(key).substr(6, 1) + ".txt", "1"}});
    ASSERT_TRUE(rig_.run(rig_.store().put_text({.bucket = bucket_, .key = key}, bytes, mine)));
  }
  put_shard("other.tar", "o", 1);
  ASSERT_TRUE(commit({.add = {"train/a.tar"}}));
  forget(name_);
  remove_objects("");
  const Rebuilt found = rebuilt();
  EXPECT_EQ(found.by, Rebuilt::By::shards);
  EXPECT_EQ(keys(), (Keys{"a", "b"}));
}

TEST_F(UpkeepTest, ProducersGoOnWhereTheyWereAfterARebuild) {
  const auto state = rig_.run(datasets_->appends(name_)).value();
  const auto append = [&](std::uint64_t sequence) {
    const std::string key = append_key(name_, state, "p", sequence);
    ASSERT_TRUE(rig_.put({.bucket = bucket_, .key = key},
                         test::tar_of({{fmt::format("{}.txt", sequence), "x"}})));
  };
  append(1);
  append(2);
  ASSERT_TRUE(commit({.appended = true}));
  append(3);
  forget(name_);
  rebuilt();
  EXPECT_EQ(rig_.run(datasets_->appends(name_))->committed_of("p"), 2U);
  EXPECT_EQ(commit({.appended = true})->record.samples, 3U);
}

TEST_F(UpkeepTest, AppendsThatNoCommitTookAreFoundByTheirKeys) {
  const auto state = rig_.run(datasets_->appends(name_)).value();
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}}));
  const std::string waiting = append_key(name_, state, "p", 1);
  put_for(waiting, "train");
  forget(name_);
  rebuilt();
  EXPECT_EQ(rig_.run(datasets_->appends(name_))->id, state.id);
  world_.run_for(std::chrono::hours(25));
  vacuum_all();
  EXPECT_TRUE(is_there(waiting));
  EXPECT_EQ(commit({.appended = true})->record.samples, 2U);
}

TEST_F(UpkeepTest, AppendsOfSeveralLivesAreNamedAndStay) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}}));
  put_for("train/append/0000000000000001/p/000000000001.tar", "train");
  put_for("train/append/0000000000000002/p/000000000001.tar", "train");
  forget(name_);
  const Rebuilt found = rebuilt();
  EXPECT_TRUE(std::ranges::any_of(found.unknown, [](const std::string& one) {
    return one.ends_with("stay: 0000000000000001 0000000000000002");
  }));
  world_.run_for(std::chrono::hours(25));
  vacuum_all();
  EXPECT_TRUE(is_there("train/append/0000000000000001/p/000000000001.tar"));
  EXPECT_TRUE(is_there("train/append/0000000000000002/p/000000000001.tar"));
}

TEST_F(UpkeepTest, WithoutRecordsProducersGoOnAfterWhatIsIn) {
  const auto state = rig_.run(datasets_->appends(name_)).value();
  for (const std::uint64_t sequence : {2U, 3U, 5U})
    put_for(append_key(name_, state, "p", sequence), "train");
  forget(name_);
  EXPECT_EQ(rebuilt().samples, 2U);
  EXPECT_EQ(rig_.run(datasets_->appends(name_))->committed_of("p"), 3U);
  put_for(append_key(name_, state, "p", 4), "train");
  EXPECT_EQ(commit({.appended = true})->record.samples, 4U);
}

TEST_F(UpkeepTest, ARebuildOutOfShardsThatWasKilledIsEndedByTheNext) {
  put_for("train/a.tar", "train");
  // It had made the dataset and not committed.
  EXPECT_EQ(open()->record.version, 0U);
  EXPECT_EQ(rebuilt().by, Rebuilt::By::shards);
  EXPECT_EQ(keys(), Keys{"x"});
  EXPECT_TRUE(rig_.run(rebuild(*datasets_, "sets", false))->empty());
}

TEST_F(UpkeepTest, ARebuildOutOfTheLogThatWasKilledIsEndedByTheNext) {
  ASSERT_TRUE(commit({.add = {put_shard("a.tar", "a", 1)}}));
  ASSERT_TRUE(commit({.add = {put_shard("b.tar", "b", 1)}}));
  // It had restored the pointer, to a version whose snapshot is lost.
  remove_objects(".snapshot");
  const Rebuilt found = rebuilt();
  EXPECT_EQ(found.by, Rebuilt::By::log);
  EXPECT_EQ(found.version, 3U);
  EXPECT_EQ(keys(), (Keys{"a0", "b0"}));
}

TEST_F(UpkeepTest, WhatWaitsForItsFirstCommitIsNotLost) {
  const auto state = rig_.run(datasets_->appends(name_)).value();
  put_for(append_key(name_, state, "p", 1), "train");
  EXPECT_TRUE(rig_.run(rebuild(*datasets_, "sets", false))->empty());
  EXPECT_EQ(commit({.appended = true})->record.samples, 1U);
}

TEST_F(UpkeepTest, ADatasetThatCannotBeRebuiltKeepsNobodyFromTheOthers) {
  const datasets::DatasetName other{.bucket = "sets", .name = "other"};
  ASSERT_TRUE(rig_.run(datasets_->create(other)));
  put_for("other/a.tar", "other");
  std::vector<Commit> commits;
  commits.push_back({.dataset = other, .add = {"other/a.tar"}});
  const auto done = rig_.run(datasets_->commit(std::move(commits))).value();
  const std::string record = done.front().ref.record;
  ASSERT_TRUE(rig_.run(rig_.store().remove({.bucket = bucket_, .key = record}, {})));
  put_for("train/a.tar", "train");
  forget(name_);
  const auto all = rig_.run(rebuild(*datasets_, "sets", false));
  ASSERT_TRUE(all) << all.error().detail();
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ(all->front().by, Rebuilt::By::nothing);
  EXPECT_NE(all->front().unknown.front().find("could not be rebuilt"), std::string::npos);
  EXPECT_EQ(keys(), Keys{"x"});
}

}  // namespace
}  // namespace leat::upkeep
