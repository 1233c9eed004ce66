// Batches and datasets over HTTP: who may, what the answers look like, and how they end.
#include "training/training.h"

#include "control/sqlite_store.h"
#include "frames/frames.h"
#include "io/disk.h"
#include "s3/s3_fixture_test.h"
#include "shard/recipe.h"
#include "snapshot/builder.h"
#include "support/tar_maker.h"
#include "support/temp_folder.h"

namespace leat::training {
namespace {

using s3::Reply;
using Named = std::pair<std::string_view, std::string_view>;

class TrainingTest : public s3::S3Test {
 protected:
  TrainingTest() {
    api_of_jobs_.install(http_.dispatcher);
    EXPECT_EQ(
        put("a.tar", test::tar_of({{"1.cls", "7"}, {"1.jpg", "meow"}, {"2.cls", "8"}})).status,
        200);
    EXPECT_EQ(put("plain", "bytes").status, 200);
  }

  ~TrainingTest() override {
    http_.stop();
    EXPECT_TRUE(http_.world.run(control_->stop()));
  }

  Reply batch(const std::string& body) { return ask("POST", "/_/v1/batch", {}, body); }

  static std::vector<frames::Frame> frames_of(const Reply& answer) {
    frames::Reader reader;
    reader.feed(as_bytes(answer.body));
    std::vector<frames::Frame> all;
    for (;;) {
      auto one = reader.next();
      EXPECT_TRUE(one) << one.error().detail();
      if (!one || !*one) break;
      all.push_back(std::move(**one));
    }
    EXPECT_TRUE(reader.has_ended());
    return all;
  }

  // Another snapshot in the place of the last version's, and a record that says so.
  void replace_snapshot(const std::string& dataset, const std::string& bytes) {
    const auto reference = datasets::parse_reference(dataset).value();
    auto opened = http_.world.run(datasets_.open(reference)).value();
    opened.record.snapshot.size_bytes = bytes.size();
    opened.record.snapshot.fingerprint =
        to_hex(Bytes(snapshot::View::open(as_bytes(bytes))->fingerprint()));
    EXPECT_EQ(put(opened.record.snapshot.key, bytes).status, 200);
    EXPECT_EQ(put(opened.ref.record, encode(opened.record)).status, 200);
  }
  // A dataset photos/NAME of one shard.
  void make_dataset(const std::string& name, const std::string& shard) {
    const std::string path = "/_/v1/datasets/photos/" + name;
    EXPECT_EQ(ask("PUT", path).status, 201);
    const Reply done =
        ask("POST", path + "?commit", {}, fmt::format(R"({{"add": ["{}"]}})", shard));
    EXPECT_EQ(done.status, 200) << done.body;
  }
  // A snapshot of one sample "1", all of the shard, with one field.
  static std::string snapshot_of(const snapshot::ShardEntry& shard, std::string_view field,
                                 std::string_view key = "1") {
    snapshot::Builder builder;
    EXPECT_TRUE(builder.begin_shard(shard));
    const snapshot::FieldOf all[] = {
        {.name = field, .place = {.offset = 512, .size_bytes = shard.size_bytes - 512}}};
    EXPECT_TRUE(builder.add_sample(key, 0, shard.size_bytes, all));
    return builder.finish().value();
  }

  const testing::TempFolder folder_;
  io::PosixDisk disk_;
  control::SqliteTools sqlite_{.shard = http_.world.shard(),
                               .pool = pool_,
                               .disk = disk_,
                               .clock = http_.world.clock("server")};
  std::unique_ptr<control::SqliteStore> control_ =
      control::SqliteStore::open(sqlite_, folder_.path(), {}).value();
  control::ControlClient client_{*control_, http_.world.clock("server"), rng_, "node"};
  datasets::ControlDesk desk_{http_.world.shard(), client_};
  datasets::Datasets datasets_{{.store = rig_.store(), .indexes = *indexes_, .control = desk_}};
  TrainingApi api_of_jobs_{{.s3 = api_->tools(), .datasets = datasets_}};
};

TEST_F(TrainingTest, ABatchIsFramesInOrderAndAnEnd) {
  const Reply answer = batch(R"({"object": "photos/a.tar", "items": [
    {"sample": "1"}, {"member": "2.cls"}, {"object": "photos/plain", "range": [1, 2]}]})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.field("content-type"), frames::kMediaType);
  const auto all = frames_of(answer);
  ASSERT_EQ(all.size(), 4U);
  const auto fields = all[0].fields();
  ASSERT_TRUE(fields);
  EXPECT_EQ((*fields)[0], Named("cls", "7"));
  EXPECT_EQ((*fields)[1], Named("jpg", "meow"));
  EXPECT_EQ(all[1].payload, "8");
  EXPECT_EQ(all[2].payload, "yt");
  EXPECT_EQ(all[3].payload, R"({"bytes":8,"complete":true,"failed":0,"items":3})");
}

TEST_F(TrainingTest, AnErrorAtTheBeginningIsTheAnswer) {
  const Reply missing =
      batch(R"({"items": [{"object": "photos/plain"}, {"object": "photos/no"}]})");
  EXPECT_EQ(missing.status, 404);
  EXPECT_NE(missing.body.find("item 1: there is no photos/no"), std::string::npos) << missing.body;
  EXPECT_EQ(batch("{").status, 400);
  EXPECT_EQ(batch(R"({"items": [{}]})").status, 400);
}

TEST_F(TrainingTest, AnErrorLaterEndsTheAnswerOrIsPassedOver) {
  // More than the first lot takes.
  ASSERT_EQ(put("big", std::string(300'000, 'x')).status, 200);
  const std::string items = R"("items": [{"object": "photos/big"}, {"object": "photos/no"},)"
                            R"( {"object": "photos/plain"}]})";
  const auto failed = frames_of(batch("{" + items));
  ASSERT_EQ(failed.size(), 3U);
  EXPECT_EQ(failed[0].payload.size(), 300'000U);
  EXPECT_EQ(failed[1].header.kind, frames::Kind::error);
  EXPECT_EQ(failed[1].header.status, 404);
  EXPECT_EQ(failed[2].payload, R"({"bytes":300000,"complete":false,"failed":1,"items":2})");
  const auto skipped = frames_of(batch(R"({"on_error": "skip", )" + items));
  ASSERT_EQ(skipped.size(), 4U);
  EXPECT_EQ(skipped[2].payload, "bytes");
  EXPECT_EQ(skipped[3].payload, R"({"bytes":300005,"complete":false,"failed":1,"items":3})");
}

TEST_F(TrainingTest, WhatIsTooLargeForMemoryDoesNotEndTheAnswer) {
  const std::string large(5'000'000, 'x');
  ASSERT_EQ(put("large.tar", test::tar_of({{"1.a", large}, {"1.b", ""}, {"1.c", "7"}})).status,
            200);
  const auto all = frames_of(batch(R"({"items": [{"object": "photos/large.tar", "sample": "1"},
    {"object": "photos/plain"}]})"));
  ASSERT_EQ(all.size(), 3U);
  const auto fields = all[0].fields();
  ASSERT_TRUE(fields);
  EXPECT_EQ((*fields)[0].second.size(), large.size());
  EXPECT_EQ((*fields)[1], Named("b", ""));
  EXPECT_EQ((*fields)[2], Named("c", "7"));
  EXPECT_EQ(all[1].payload, "bytes");
}

TEST_F(TrainingTest, ATarOfABatchEndsWithWhatBecameOfIt) {
  const Reply answer = batch(R"({"format": "tar", "on_error": "skip", "object": "photos/a.tar",
    "items": [{"sample": "1"}, {"sample": "no"}, {"object": "photos/plain"}]})");
  EXPECT_EQ(answer.field("content-type"), "application/x-tar");
  const std::string end = R"({"bytes":10,"complete":false,"errors":[{"error":"not_found","item":1,)"
                          R"("message":"the shard has no sample \"no\""}],"failed":1,"items":3})"
                          "\n";
  EXPECT_EQ(answer.body,
            test::tar_of(
                {{"1.cls", "7"}, {"1.jpg", "meow"}, {"plain", "bytes"}, {"__leat__/batch", end}}));
}

TEST_F(TrainingTest, ATarThatFailsLaterIsBrokenOff) {
  ASSERT_EQ(put("big", std::string(300'000, 'x')).status, 200);
  const std::string body =
      R"({"format": "tar", "items": [{"object": "photos/big"}, {"object": "photos/no"}]})";
  s3::RawClient client(http_);
  client.send(signed_head("POST", "/_/v1/batch", body) + body);
  ASSERT_TRUE(client.wait_end());
  EXPECT_GT(client.received().size(), 300'000U) << "it had begun";
  EXPECT_FALSE(client.received().ends_with("0\r\n\r\n")) << "the last chunk would make it whole";
}

TEST_F(TrainingTest, EachItemIsJudgedByTheRulesOfTheKey) {
  const sigv4::Signer reader =
      key_with({{.bucket = "photos", .prefix = "pl", .rights = {keys::Right::read}}});
  const std::string body = R"({"on_error": "skip",
    "items": [{"object": "photos/plain"}, {"object": "photos/a.tar"}, {"object": "photos/no"}]})";
  const auto all = frames_of(ask_as(reader, "POST", "/_/v1/batch", {}, body));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].payload, "bytes");
  EXPECT_EQ(all[1].header.status, 403);
  EXPECT_EQ(all[2].header.status, 403) << "who may not list does not learn what is there";
}

TEST_F(TrainingTest, WithoutACredentialThereIsNoBatch) {
  const std::string body = R"({"items": []})";
  EXPECT_EQ(send("POST", "/_/v1/batch", {{"Host", "server"}}, body).status, 401);
  EXPECT_EQ(
      send("POST", "/_/v1/batch", {{"Host", "server"}, {"Authorization", "Bearer the-token"}}, body)
          .status,
      200);
  sigv4::Signer forger = signer_;
  forger.secret = "guess";
  EXPECT_EQ(ask_as(forger, "POST", "/_/v1/batch", {}, body).status, 403);
  EXPECT_EQ(ask("GET", "/_/v1/batch").status, 405);
}

TEST_F(TrainingTest, ABodyThatIsNotTheSignedOneIsRefused) {
  const Reply answer = ask_as(signer_, "POST", "/_/v1/batch", {}, R"({"items": []})",
                              to_hex(hash::Sha256::of(as_bytes("another"))));
  EXPECT_EQ(answer.status, 400) << answer.body;
}

TEST_F(TrainingTest, AnArchiveWithOddNamesIsReadAndTheyAreTold) {
  const std::string odd = test::tar_of({{"1.a\nb", "x"}, {"1.a\nb", "y"}});
  ASSERT_EQ(put("odd.tar", odd).status, 200);
  const Reply read = ask("GET", "/photos/odd.tar");
  EXPECT_EQ(read.status, 200) << read.body;
  EXPECT_EQ(read.field("x-leat-shard-problem"), "a sample has a field twice: 1.a\\x0ab");
  EXPECT_EQ(ask("HEAD", "/photos/odd.tar").status, 200);
}

// Datasets.

TEST_F(TrainingTest, ADatasetIsMadeCommittedAndRead) {
  const std::string path = "/_/v1/datasets/photos/train";
  const Reply made = ask("PUT", path);
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(ask("PUT", path).status, 409);
  const Reply first = ask("POST", path + "?commit", {}, R"({"add": ["a.tar"], "message": "cats"})");
  ASSERT_EQ(first.status, 200) << first.body;
  EXPECT_NE(first.body.find(R"("samples":2)"), std::string::npos) << first.body;
  EXPECT_NE(ask("GET", path).body.find(R"("version":1)"), std::string::npos);
  EXPECT_NE(ask("GET", path + "@1?log").body.find(R"("message":"cats")"), std::string::npos);
  const Reply sample = ask("GET", path + "?sample=1");
  EXPECT_NE(sample.body.find(R"("jpg":{"offset":1536,"size":4})"), std::string::npos)
      << sample.body;
  EXPECT_EQ(ask("GET", path + "?sample=none").status, 404);
  EXPECT_EQ(ask("GET", path + "?samples&max=1").body,
            R"({"next":"1","page":[{"row":0,"sample":"1"}],"samples":2})"
            "\n");
  EXPECT_NE(ask("GET", path + "?shards").body.find(R"("key":"a.tar")"), std::string::npos);
  EXPECT_EQ(ask("POST", path + "@1?tag=best").status, 200);
  EXPECT_NE(ask("GET", path + "?tags").body.find(R"("best":1)"), std::string::npos);
  EXPECT_EQ(ask("POST", path + "?commit", {}, R"({"delete": ["2"], "base": 1})").status, 200);
  EXPECT_EQ(ask("POST", path + "?commit", {}, R"({"delete": ["1"], "base": 1})").status, 409);
  const Reply late =
      ask("POST", path + "?commit", {}, R"({"add": ["a.tar"], "base": 1, "exact": true})");
  EXPECT_EQ(late.status, 409);
  EXPECT_NE(late.body.find("is at version 2 now, the changes were made for 1"), std::string::npos)
      << late.body;
  EXPECT_NE(ask("GET", path + "?diff=best").body.find(R"("removed":1)"), std::string::npos);
  EXPECT_NE(ask("GET", "/_/v1/datasets").body.find("photos/train"), std::string::npos);
  EXPECT_EQ(ask("DELETE", path).status, 204);
  EXPECT_EQ(ask("GET", path).status, 404);
}

TEST_F(TrainingTest, ASnapshotIsReadWholeInPartsAndOnlyIfItIsAnother) {
  const std::string path = "/_/v1/datasets/photos/train";
  ask("PUT", path);
  EXPECT_EQ(ask("GET", path + "?snapshot").status, 404);
  ask("POST", path + "?commit", {}, R"({"add": ["a.tar"]})");
  const Reply whole = ask("GET", path + "?snapshot");
  ASSERT_EQ(whole.status, 200);
  EXPECT_EQ(whole.field("x-leat-dataset-version"), "1");
  EXPECT_TRUE(snapshot::View::open(as_bytes(whole.body)));
  EXPECT_EQ(ask("GET", path + "?snapshot", {{"Range", "bytes=2-5"}}).body, whole.body.substr(2, 4));
  EXPECT_EQ(ask("GET", path + "?snapshot", {{"If-None-Match", whole.field("etag")}}).status, 304);
}

TEST_F(TrainingTest, ABatchOfADatasetIsOfItsVersion) {
  const std::string path = "/_/v1/datasets/photos/train";
  ask("PUT", path);
  ask("POST", path + "?commit", {}, R"({"add": ["a.tar"]})");
  ask("POST", path + "?commit", {}, R"({"delete": ["1"]})");
  const std::string items = R"("items": [{"sample": "1"}, {"row": 1}, {"row": 9},
    {"sample": "1", "fields": ["jpg"]}, {"sample": "1", "fields": ["png"]}]})";
  const auto old =
      frames_of(batch(R"({"dataset": "photos/train@1", "on_error": "skip", )" + items));
  ASSERT_EQ(old.size(), 6U);
  EXPECT_EQ((*old[0].fields())[1], Named("jpg", "meow"));
  EXPECT_EQ((*old[1].fields())[0], Named("cls", "8"));
  EXPECT_EQ(old[2].header.status, 404);
  EXPECT_EQ(old[3].fields()->size(), 1U);
  EXPECT_EQ(old[4].header.status, 404);
  const auto now = frames_of(batch(R"({"dataset": "photos/train", "on_error": "skip", )" + items));
  EXPECT_EQ(now[0].header.status, 404) << "it was deleted";
  EXPECT_EQ(now[1].header.status, 404);
  ASSERT_EQ(put("a.tar", test::tar_of({{"1.cls", "another"}})).status, 200);
  const auto replaced =
      frames_of(batch(R"({"dataset": "photos/train@1", "on_error": "skip", )" + items));
  EXPECT_EQ(replaced[0].header.status, 412) << "never bytes of another shard";
  EXPECT_EQ(batch(R"({"dataset": "photos/none", "items": []})").status, 404);
}

// Recipes and snapshots are objects: whoever may write them may write anything.
TEST_F(TrainingTest, ARecipeThatLiesAboutASizeGivesNoBytes) {
  const Reply stored = put("d/a.txt", "0123456789");
  const std::string etag(s3::without_quotes(stored.field("etag")));
  for (const std::uint64_t size : {std::uint64_t{11}, 1 * kMiB, 64 * kMiB}) {
    const shard::Recipe recipe{
        .members = {{.name = "a.txt", .key = "d/a.txt", .etag = etag, .size_bytes = size}}};
    const s3::Fields type = {{"Content-Type", std::string(shard::kRecipeType)}};
    ASSERT_EQ(ask("PUT", "/photos/lie", type, encode(recipe)).status, 200);
    const std::string name = fmt::format("photos/lie{}", size);
    ask("PUT", "/_/v1/datasets/" + name);
    ask("POST", "/_/v1/datasets/" + name + "?commit", {}, R"({"add": ["lie"]})");
    const auto all = frames_of(batch(
        fmt::format(R"({{"dataset": "{}", "on_error": "skip", "items": [{{"row": 0}}]}})", name)));
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].header.status, 412) << all[0].payload;
  }
}

TEST_F(TrainingTest, ASnapshotThatLiesAboutAShardGivesNoBytes) {
  make_dataset("train", "a.tar");
  const Reply shard = ask("HEAD", "/photos/a.tar");
  const std::string etag(s3::without_quotes(shard.field("etag")));
  const std::uint64_t tebi = std::uint64_t{1} << 40;
  replace_snapshot(
      "photos/train",
      snapshot_of({.bucket = "photos", .key = "a.tar", .etag = etag, .size_bytes = tebi}, "jpg"));
  const auto all =
      frames_of(batch(R"({"dataset": "photos/train", "on_error": "skip", "items": [{"row": 0}]})"));
  EXPECT_EQ(all[0].header.status, 412) << all[0].payload;
  EXPECT_EQ(ask("GET", "/_/v1/datasets/photos/train@1/shards/000000.tar").status, 412);
}

TEST_F(TrainingTest, ASnapshotLeadsNobodyToWhatHeMayNotRead) {
  ASSERT_EQ(ask("PUT", "/secret").status, 200);
  const std::string hidden = test::tar_of({{"1.txt", "hidden"}});
  const Reply stored = ask("PUT", "/secret/s.tar", {}, hidden);
  const std::string etag(s3::without_quotes(stored.field("etag")));
  make_dataset("train", "a.tar");
  replace_snapshot(
      "photos/train",
      snapshot_of({.bucket = "secret", .key = "s.tar", .etag = etag, .size_bytes = hidden.size()},
                  "txt"));
  const sigv4::Signer reader =
      key_with({{.bucket = "photos", .prefix = "", .rights = {keys::Right::read}}});
  const std::string path = "/_/v1/datasets/photos/train@1/shards/000000.tar";
  EXPECT_EQ(ask("GET", path).status, 200) << "who may read it may";
  EXPECT_EQ(ask_as(reader, "GET", path).status, 403);
  EXPECT_EQ(ask_as(reader, "HEAD", path).status, 403);
  const std::string body = R"({"dataset": "photos/train", "items": [{"row": 0}]})";
  EXPECT_EQ(ask_as(reader, "POST", "/_/v1/batch", {}, body).status, 403);
  const Reply lint = ask_as(reader, "GET", "/_/v1/datasets/photos/train?lint");
  EXPECT_NE(lint.body.find("another bucket"), std::string::npos) << lint.body;
}

TEST_F(TrainingTest, NamesThatNoTarHoldsAreChanged) {
  make_dataset("train", "a.tar");
  const Reply shard = ask("HEAD", "/photos/a.tar");
  const std::string etag(s3::without_quotes(shard.field("etag")));
  const std::uint64_t size = std::stoull(shard.field("content-length"));
  const std::string name("k\0y", 3);
  const std::string field("t\0t/", 4);
  replace_snapshot(
      "photos/train",
      snapshot_of({.bucket = "photos", .key = "a.tar", .etag = etag, .size_bytes = size}, field,
                  name));
  const Reply answer = batch(R"({"dataset": "photos/train", "format": "tar",
    "items": [{"row": 0}]})");
  ASSERT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.body.starts_with(std::string("k_y.t_t") + '\0'));
}

TEST_F(TrainingTest, ADatasetThatCannotBeReadFailsItsOwnItemsOnly) {
  make_dataset("train", "a.tar");
  ask("PUT", "/_/v1/datasets/photos/empty");
  const std::string items = R"("items": [{"dataset": "photos/none", "row": 0},
    {"dataset": "photos/train", "sample": "1", "fields": ["jpg"]},
    {"dataset": "photos/train@7", "row": 0}, {"dataset": "photos/empty", "row": 0},
    {"dataset": "other/train", "row": 0}, {"object": "photos/plain"}]})";
  const auto all = frames_of(batch(R"({"on_error": "skip", )" + items));
  ASSERT_EQ(all.size(), 7U);
  EXPECT_EQ(all[0].header.status, 404);
  EXPECT_EQ((*all[1].fields())[0], Named("jpg", "meow"));
  EXPECT_EQ(all[2].header.status, 404);
  EXPECT_EQ(all[3].header.status, 404);
  EXPECT_EQ(all[4].header.status, 404);
  EXPECT_EQ(all[5].payload, "bytes");
  EXPECT_EQ(batch("{" + items).status, 404);
  const sigv4::Signer reader =
      key_with({{.bucket = "photos", .prefix = "pl", .rights = {keys::Right::read}}});
  const auto judged =
      frames_of(ask_as(reader, "POST", "/_/v1/batch", {}, R"({"on_error": "skip", )" + items));
  ASSERT_EQ(judged.size(), 7U);
  EXPECT_EQ(judged[1].header.status, 403);
  EXPECT_EQ(judged[5].payload, "bytes");
}

TEST_F(TrainingTest, ARecipeThatIsLostFailsItsOwnItemsOnly) {
  const Reply stored = put("d/a.txt", "0123456789");
  const std::string etag(s3::without_quotes(stored.field("etag")));
  const shard::Recipe recipe{
      .members = {{.name = "a.txt", .key = "d/a.txt", .etag = etag, .size_bytes = 10}}};
  const s3::Fields type = {{"Content-Type", std::string(shard::kRecipeType)}};
  ASSERT_EQ(ask("PUT", "/photos/recipe", type, encode(recipe)).status, 200);
  make_dataset("both", "recipe");
  ask("POST", "/_/v1/datasets/photos/both?commit", {}, R"({"add": ["a.tar"]})");
  const std::string body = R"({"dataset": "photos/both", "on_error": "skip",
    "items": [{"sample": "a"}, {"row": 0}, {"sample": "1"}]})";
  const auto whole = frames_of(batch(body));
  ASSERT_EQ(whole.size(), 4U);
  EXPECT_EQ((*whole[0].fields())[0], Named("txt", "0123456789"));
  EXPECT_EQ(whole[1].payload, whole[0].payload);
  ASSERT_EQ(ask("DELETE", "/photos/recipe").status, 204);
  const auto broken = frames_of(batch(body));
  ASSERT_EQ(broken.size(), 4U);
  EXPECT_EQ(broken[0].header.status, 404);
  EXPECT_EQ(broken[1].header.status, 404);
  EXPECT_EQ((*broken[2].fields())[1], Named("jpg", "meow"));
}

TEST_F(TrainingTest, SeveralDatasetsAreCommittedTogether) {
  ask("PUT", "/_/v1/datasets/photos/a");
  ask("PUT", "/_/v1/datasets/photos/b");
  const std::string body = R"({"commits": [{"dataset": "photos/a", "add": ["a.tar"]},
                                           {"dataset": "photos/b", "add": ["a.tar"]}]})";
  EXPECT_EQ(ask("POST", "/_/v1/datasets?commit", {}, body).status, 200);
  EXPECT_NE(ask("GET", "/_/v1/datasets/photos/b").body.find(R"("version":1)"), std::string::npos);
  EXPECT_EQ(ask("POST", "/_/v1/datasets?commit", {}, "{}").status, 400);
}

TEST_F(TrainingTest, WhatADatasetIsAskedForWronglyIsTold) {
  const std::string path = "/_/v1/datasets/photos/train";
  ask("PUT", path);
  EXPECT_EQ(ask("GET", path + "?nonsense").status, 400);
  EXPECT_EQ(ask("POST", path + "?commit", {}, "{").status, 400);
  EXPECT_EQ(ask("POST", path + "?commit", {}, R"({"ad": []})").status, 400);
  EXPECT_EQ(ask("POST", path + "?commit", {}, R"({"add": [7]})").status, 400);
  EXPECT_EQ(ask("POST", path + "?commit", {}, R"({"add": ["a.tar"], "base": "x"})").status, 400);
  EXPECT_EQ(ask("POST", path + "?commit", {}, R"({"add": ["a.tar"], "exact": true})").status, 400);
  EXPECT_EQ(ask("POST", path + "?commit", {}, R"({"add": [], "base": 0, "exact": 1})").status, 400);
  EXPECT_EQ(ask("POST", path + "@1?commit", {}, R"({"add": ["a.tar"]})").status, 400);
  EXPECT_EQ(ask("POST", path).status, 501);
  EXPECT_EQ(ask("GET", "/_/v1/datasets/photos").status, 400);
  EXPECT_EQ(ask("GET", path + "?samples&max=x").status, 404) << "there is no version yet";
}

TEST_F(TrainingTest, RulesOfAKeyHoldForDatasets) {
  const std::string path = "/_/v1/datasets/photos/train";
  ask("PUT", path);
  const sigv4::Signer reader =
      key_with({{.bucket = "photos", .prefix = "train/", .rights = {keys::Right::read}}});
  EXPECT_EQ(ask_as(reader, "GET", path).status, 200);
  EXPECT_EQ(ask_as(reader, "POST", path + "?commit", {}, R"({"add": ["a.tar"]})").status, 403);
  const sigv4::Signer writer = key_with({{.bucket = "photos",
                                          .prefix = "train/",
                                          .rights = {keys::Right::read, keys::Right::write}}});
  EXPECT_EQ(ask_as(writer, "POST", path + "?commit", {}, R"({"add": ["a.tar"]})").status, 403)
      << "it would show what it may not read";
  EXPECT_EQ(ask_as(reader, "DELETE", path).status, 403);
  EXPECT_EQ(ask_as(reader, "GET", "/_/v1/datasets/photos/other").status, 403);
  EXPECT_EQ(send("GET", path, {{"Host", "server"}}, "").status, 403);
}

}  // namespace
}  // namespace leat::training
