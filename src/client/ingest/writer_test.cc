#include "ingest/writer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "httpclient/scripted_server_test.h"
#include "s3client/endpoint.h"

namespace leat::ingest {
namespace {

Status check(const std::string& key, std::vector<std::pair<std::string, std::string>> fields) {
  Sample sample{.key = key, .fields = std::move(fields)};
  return check_sample(sample);
}

TEST(Writer, TakesASampleThatReadersFindAgain) {
  EXPECT_TRUE(check("a/b.d/000001", {{"jpg", "x"}, {"seg.png", ""}, {"cls", "7"}}));
}

TEST(Writer, SortsTheFieldsOfASample) {
  Sample sample{.key = "1", .fields = {{"jpg", "x"}, {"cls", "7"}}};
  ASSERT_TRUE(check_sample(sample));
  EXPECT_EQ(sample.fields.front().first, "cls");
}

TEST(Writer, RefusesWhatReadersWouldTakeForAnotherSample) {
  EXPECT_FALSE(check("a.b", {{"jpg", "x"}})) << "the key would be a";
  EXPECT_FALSE(check("a", {{"JPG", "x"}})) << "the field would be jpg";
  EXPECT_FALSE(check("", {{"jpg", "x"}}));
  EXPECT_FALSE(check("__a__/b", {{"jpg", "x"}})) << "passed over";
  EXPECT_FALSE(check("__leat__/a", {{"jpg", "x"}}));
  EXPECT_FALSE(check("a", {{"x/y", "x"}}));
  EXPECT_FALSE(check("a", {}));
  EXPECT_FALSE(check("a", {{"jpg", "x"}, {"jpg", "y"}}));
  EXPECT_FALSE(check(std::string("a\0b", 3), {{"jpg", "x"}}));
}

// A writer on a simulated network, with a service that says what it is told.
class WriterTest : public ::testing::Test {
 protected:
  WriterTest()
      : server_(world_, {"server", 80}),
        watchdog_(world_.clock("here"), std::chrono::milliseconds(100)),
        client_(
            {world_.shard(), world_.network("here"), world_.clock("here"), watchdog_, world_.rng()},
            {.endpoint = s3client::parse_endpoint("http://server").value(),
             .signer = {.access_key = "KEY", .secret = "SECRET"},
             .retry = {.attempts_max = 3}}),
        tools_{world_.shard(), client_, world_.disk("here"), world_.file_io("here"),
               pool_,          memory_, counters_,           options_},
        writer_(tools_, world_.rng(), {.bucket = "b", .name = "n", .transaction = "t"}) {
    world_.spawn(watchdog_.run(), [](const Status&) {});
    world_.spawn(client_.run(), [](const Status&) {});
  }
  void TearDown() override { EXPECT_TRUE(world_.run(client_.stop())); }

  static httpclient::Step say(std::string_view body, std::string_view status = "200 OK") {
    return httpclient::send(fmt::format(
        "HTTP/1.1 {}\r\nETag: \"e\"\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body));
  }
  // A shard is sent, and the dataset has a version that somebody else made.
  static httpclient::Script up_to_the_commit() {
    using httpclient::read;
    using httpclient::read_head;
    return {read_head(),
            say("<InitiateMultipartUploadResult><UploadId>u</UploadId>"
                "</InitiateMultipartUploadResult>"),
            read(std::string(1024, '\0')),
            say(""),
            read("</CompleteMultipartUpload>"),
            say("<CompleteMultipartUploadResult><ETag>&quot;e&quot;</ETag>"
                "</CompleteMultipartUploadResult>"),
            read_head(),
            say(R"({"version":1,"transaction":"t","samples":1,"shards":1,"bytes":9})"),
            read_head(),
            say(R"({"shards":[{"key":"n/first.tar"}],"next":null})"),
            read("]")};
  }
  std::size_t deletes() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < server_.accepted(); ++i)
      count += server_.received(i).contains("DELETE /b/n/000000-t-") ? 1 : 0;
    return count;
  }
  void add_one() {
    Sample sample{.key = "1", .fields = {{"txt", "one"}}};
    ASSERT_TRUE(world_.run(writer_.add(std::move(sample))));
  }

  sim::SimWorld world_{5};
  httpclient::ScriptedServer server_;
  io::Watchdog watchdog_;
  s3client::S3Client client_;
  rt::BlockingPool pool_{"test", 0, 1};
  transfer::MemoryBudget memory_{64 * kMiB};
  transfer::Counters counters_;
  transfer::TransferOptions options_;
  transfer::Tools tools_;
  Writer writer_;
};

TEST_F(WriterTest, RemovesWhatItSentWhenTheTransactionWasCommittedBefore) {
  httpclient::Script script = up_to_the_commit();
  script.push_back(say(R"({"version":1,"samples":1,"shards":1,"bytes":9})"));
  script.push_back(httpclient::read_head());
  script.push_back(say(R"({"shards":[{"key":"n/first.tar"}],"next":null})"));
  script.push_back(httpclient::read_head());
  script.push_back(say("", "204 No Content"));
  server_.expect(std::move(script));
  add_one();
  const auto done = world_.run(writer_.commit());
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->version, 1U);
  EXPECT_FALSE(done->is_new);
  EXPECT_EQ(deletes(), 1U);
}

TEST_F(WriterTest, RemovesNothingThatMayBeCommitted) {
  httpclient::Script script = up_to_the_commit();
  script.push_back(httpclient::close());
  server_.expect(std::move(script));
  server_.always({httpclient::read("]"), httpclient::close()});
  add_one();
  EXPECT_FALSE(world_.run(writer_.commit()));
  EXPECT_TRUE(world_.run(writer_.abort()));
  EXPECT_GT(server_.accepted(), 1U) << "it was tried again";
  EXPECT_EQ(deletes(), 0U);
}

// The commit is made and its answer lost; another writer adds to it before we ask again.
TEST_F(WriterTest, ASecondCommitKeepsWhatTheFirstOneHasCommitted) {
  httpclient::Script script = up_to_the_commit();
  script.push_back(httpclient::close());
  server_.expect(std::move(script));
  server_.always({httpclient::read("]"), httpclient::close()});
  add_one();
  ASSERT_FALSE(world_.run(writer_.commit()));

  const std::string& sent = server_.received(0);
  const std::size_t begin = sent.find("n/000000-t-");
  const std::string ours = sent.substr(begin, sent.find(".tar", begin) + 4 - begin);
  server_.always(
      {httpclient::read_head(),
       say(R"({"version":3,"transaction":"other","samples":3,"shards":3,"bytes":27})"),
       httpclient::read_head(),
       say(fmt::format(
           R"({{"shards":[{{"key":"n/first.tar"}},{{"key":"{}"}},{{"key":"n/other.tar"}}]}})",
           ours)),
       httpclient::read_head(), say(R"({"shards":[{"key":"n/other.tar"}]})"),
       httpclient::read_head(), say("", "204 No Content")});
  const auto done = world_.run(writer_.commit());
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->version, 3U);
  EXPECT_EQ(deletes(), 0U);
}

TEST_F(WriterTest, RemovesWhatTheServiceRefused) {
  httpclient::Script script = up_to_the_commit();
  script.push_back(say(R"({"error":"denied","message":"no"})", "403 Forbidden"));
  script.push_back(httpclient::read_head());
  script.push_back(say("", "204 No Content"));
  server_.expect(std::move(script));
  add_one();
  EXPECT_EQ(world_.run(writer_.commit()).error().code(), Errc::denied);
  EXPECT_TRUE(world_.run(writer_.abort()));
  EXPECT_EQ(deletes(), 1U);
}

TEST_F(WriterTest, ReplacesTheVersionThatItSawOrNone) {
  httpclient::Script script = up_to_the_commit();
  script.pop_back();
  script.push_back(httpclient::read(R"("transaction":"t"})"));
  script.push_back(
      say(R"({"error":"conflict","message":"b/n is at version 2 now"})", "409 Conflict"));
  server_.expect(std::move(script));
  Writer replacing(tools_, world_.rng(),
                   {.bucket = "b", .name = "n", .transaction = "t", .replaces = true});
  Sample sample{.key = "1", .fields = {{"txt", "one"}}};
  ASSERT_TRUE(world_.run(replacing.add(std::move(sample))));
  EXPECT_EQ(world_.run(replacing.commit()).error().code(), Errc::conflict);
  EXPECT_TRUE(server_.received(0).contains(R"("base":1,"exact":true,)"));
}

}  // namespace
}  // namespace leat::ingest
