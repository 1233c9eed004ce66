// Tickets over HTTP: who gets one, for what, and what is said instead. That files come for them is
// shown by tests/integration/test_local.py: simulated files have no descriptors.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "control/sqlite_store.h"
#include "s3/s3_fixture_test.h"
#include "support/temp_folder.h"
#include "training/training.h"

namespace leat::training {
namespace {

using nlohmann::json;
using s3::Reply;

class LocalTest : public s3::S3Test {
 protected:
  LocalTest() {
    EXPECT_TRUE(desk_.listen(passing::random_socket_name(system_rng_)));
    desk_.start();
    api_of_jobs_.install(http_.dispatcher);
    etag_ = put("big", std::string(300'000, 'x')).field("etag");
    EXPECT_EQ(put("small", "bytes").status, 200);
  }
  ~LocalTest() override {
    EXPECT_TRUE(http_.world.run(desk_.stop()));
    http_.stop();
    EXPECT_TRUE(http_.world.run(control_->stop()));
  }

  Reply local(const std::string& body) { return ask("POST", "/_/v1/local", {}, body); }
  // What is said of one object.
  static json only(const Reply& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    const json said = json::parse(answer.body, nullptr, false);
    return said.is_object() && said["objects"].size() == 1 ? said["objects"][0] : json();
  }

  const testing::TempFolder folder_;
  io::PosixDisk disk_;
  io::SystemRng system_rng_;
  metrics::Registry metrics_;
  control::SqliteTools sqlite_{.shard = http_.world.shard(),
                               .pool = pool_,
                               .disk = disk_,
                               .clock = http_.world.clock("server")};
  std::unique_ptr<control::SqliteStore> control_ =
      control::SqliteStore::open(sqlite_, folder_.path(), {}).value();
  control::ControlClient client_{*control_, http_.world.clock("server"), rng_, "node"};
  datasets::ControlDesk control_desk_{http_.world.shard(), client_};
  datasets::Datasets datasets_{
      {.store = rig_.store(), .indexes = *indexes_, .control = control_desk_}};
  passing::Desk desk_{{.shard = http_.world.shard(),
                       .clock = http_.world.clock("server"),
                       .rng = rng_,
                       .logger = *http_.logger,
                       .metrics = metrics_},
                      {.tickets = {.tickets_max = 3}}};
  TrainingApi api_of_jobs_{{.s3 = api_->tools(), .datasets = datasets_, .desk = &desk_}};
  std::string etag_;
};

TEST_F(LocalTest, ALargeObjectGetsATicketAndTheNameOfTheSocket) {
  const Reply answer = local(R"({"objects": [{"object": "photos/big"}]})");
  const json one = only(answer);
  EXPECT_EQ(json::parse(answer.body)["socket"], desk_.socket());
  EXPECT_EQ(one["ticket"].get<std::string>().size(), 32U);
  EXPECT_EQ(one["size"], 300'000);
  EXPECT_EQ('"' + one["etag"].get<std::string>() + '"', etag_);
  EXPECT_EQ(one["object"], "photos/big");
}

TEST_F(LocalTest, TheVersionIsTheOneThatIsMeant) {
  const std::string bare = etag_.substr(1, etag_.size() - 2);
  const std::string wanted = R"({{"objects": [{{"object": "photos/big", "etag": "{}"}}]}})";
  EXPECT_EQ(only(local(fmt::format(fmt::runtime(wanted), bare)))["status"], 200);
  EXPECT_EQ(only(local(fmt::format(fmt::runtime(wanted), "another")))["error"],
            "precondition_failed");
}

TEST_F(LocalTest, EachObjectHasItsOwnAnswer) {
  const Reply answer = local(R"({"objects": [{"object": "photos/small"}, {"object": "photos/no"},
    {"object": "photos/big"}, {"object": "nowhere/big"}]})");
  const json said = json::parse(answer.body)["objects"];
  ASSERT_EQ(said.size(), 4U);
  EXPECT_EQ(said[0]["error"], "not_implemented") << "it has no file of its own";
  EXPECT_EQ(said[1]["status"], 404);
  EXPECT_TRUE(said[2].contains("ticket"));
  EXPECT_EQ(said[3]["error"], "not_found");
}

TEST_F(LocalTest, WithoutTheRightThereIsNoTicket) {
  const sigv4::Signer reader =
      key_with({{.bucket = "photos", .prefix = "sm", .rights = {keys::Right::read}}});
  const std::string body = R"({"objects": [{"object": "photos/big"}, {"object": "photos/no"}]})";
  const json said = json::parse(ask_as(reader, "POST", "/_/v1/local", {}, body).body)["objects"];
  for (const json& one : said) {
    EXPECT_EQ(one["status"], 403);
    EXPECT_FALSE(one.contains("ticket"));
  }
  EXPECT_EQ(send("POST", "/_/v1/local", {{"Host", "server"}}, body).status, 401);
  EXPECT_EQ(ask("GET", "/_/v1/local").status, 405);
}

TEST_F(LocalTest, TicketsAreBounded) {
  const std::string one = R"({"object": "photos/big"})";
  const Reply answer = local(R"({"objects": [)" + one + "," + one + "," + one + "," + one + "]}");
  const json said = json::parse(answer.body)["objects"];
  EXPECT_TRUE(said[2].contains("ticket"));
  EXPECT_EQ(said[3]["error"], "busy");
}

TEST_F(LocalTest, WhatIsAskedWronglyIsTold) {
  for (const std::string body :
       {"", "[]", "{}", R"({"objects": 1})", R"({"objects": [1]})", R"({"objects": [{}]})",
        R"({"objects": [{"object": "bucket"}]})", R"({"objects": [{"object": "/key"}]})",
        R"({"objects": [{"object": "bucket/"}]})", R"({"objects": [{"object": 1}]})",
        R"({"objects": [{"object": "a/b", "member": "x"}]})", R"({"objects": [], "more": 1})"}) {
    EXPECT_EQ(local(body).status, 400) << body;
  }
}

}  // namespace
}  // namespace leat::training
