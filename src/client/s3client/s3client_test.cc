#include "s3client/s3client.h"

#include <gtest/gtest.h>

#include "httpclient/scripted_server_test.h"
#include "s3client/operations.h"

namespace leat::s3client {
namespace {

using httpclient::close;
using httpclient::read_head;
using httpclient::send;

// A client on a simulated network, and a service that says what it is told.
class S3ClientTest : public ::testing::Test {
 protected:
  S3ClientTest()
      : world_(11),
        server_(world_, {"server", 80}),
        watchdog_(world_.clock("client"), std::chrono::milliseconds(100)),
        client_({world_.shard(), world_.network("client"), world_.clock("client"), watchdog_,
                 world_.rng()},
                {.endpoint = parse_endpoint("http://server").value(),
                 .signer = {.access_key = "KEY", .secret = "SECRET"},
                 .retry = {.attempts_max = 4}}) {
    world_.spawn(watchdog_.run(), [](const Status&) {});
    world_.spawn(client_.run(), [](const Status&) {});
  }
  void TearDown() override { EXPECT_TRUE(world_.run(client_.stop())); }

  static std::string answer(std::string_view status, std::string_view body = "") {
    return "HTTP/1.1 " + std::string(status) +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
  }

  sim::SimWorld world_;
  httpclient::ScriptedServer server_;
  io::Watchdog watchdog_;
  S3Client client_;
};

TEST_F(S3ClientTest, SignsWhatItSendsAndEncodesKeys) {
  server_.expect({read_head(), send(answer("204 No Content"))});
  ObjectName name{"photos", "a b/ü"};
  ASSERT_TRUE(world_.run(delete_object(client_, name)));
  const std::string& sent = server_.received(0);
  EXPECT_TRUE(sent.starts_with("DELETE /photos/a%20b/%C3%BC HTTP/1.1\r\n")) << sent;
  EXPECT_NE(sent.find("Authorization: AWS4-HMAC-SHA256 Credential=KEY/"), sent.npos);
  EXPECT_NE(sent.find("SignedHeaders=host;x-amz-content-sha256;x-amz-date"), sent.npos);
  EXPECT_NE(sent.find("Host: server\r\n"), sent.npos);
}

TEST_F(S3ClientTest, RemovesTheObjectThatIsMeantAndNoOther) {
  server_.expect({read_head(), send(answer("412 Precondition Failed"))});
  ObjectName name{"b", "k"};
  const Status refused = world_.run(delete_object(client_, name, "tag"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::precondition_failed);
  EXPECT_NE(server_.received(0).find("If-Match: \"tag\"\r\n"), std::string::npos);
}

TEST_F(S3ClientTest, CopiesPartsOfTheObjectThatIsMeantAndOfNoOther) {
  server_.expect({read_head(), send(answer("412 Precondition Failed"))});
  Upload upload{.name = {"b", "k"}, .id = "1"};
  ObjectName from{"b", "from"};
  PartRange range{.number = 1, .offset = 0, .length = 5};
  const auto refused = world_.run(copy_part(client_, upload, from, range, "tag"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::precondition_failed);
  EXPECT_NE(server_.received(0).find("x-amz-copy-source-if-match: \"tag\"\r\n"), std::string::npos);
}

TEST_F(S3ClientTest, ComesBackAfterAServiceWasTooBusy) {
  server_.expect({read_head(), send(answer("503 Slow Down")), read_head(), send(answer("500 Oh")),
                  read_head(), send(answer("204 No Content"))});
  ObjectName name{"b", "k"};
  EXPECT_TRUE(world_.run(delete_object(client_, name)));
}

TEST_F(S3ClientTest, GivesUpAfterItsAttempts) {
  server_.expect({read_head(), send(answer("503 No")), read_head(), send(answer("503 No")),
                  read_head(), send(answer("503 No")), read_head(), send(answer("503 No"))});
  ObjectName name{"b", "k"};
  const Status refused = world_.run(delete_object(client_, name));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::unavailable);
}

TEST_F(S3ClientTest, NoAttemptBeginsAfterItsPatience) {
  ServiceOptions options{.endpoint = parse_endpoint("http://server").value(),
                         .signer = {.access_key = "KEY", .secret = "SECRET"},
                         .retry = {.attempts_max = 100, .patience = std::chrono::seconds(12)}};
  options.http.silence_timeout = std::chrono::seconds(5);
  S3Client patient(
      {world_.shard(), world_.network("client"), world_.clock("client"), watchdog_, world_.rng()},
      options);
  world_.spawn(patient.run(), [](const Status&) {});
  for (int i = 0; i < 3; ++i)
    server_.expect({read_head()});  // and says nothing
  ObjectName name{"b", "k"};
  const Instant begin = world_.clock("client").now();
  EXPECT_FALSE(world_.run(delete_object(patient, name)));
  EXPECT_EQ(server_.accepted(), 3U) << "after 0, 5 and 10 seconds, and not after 15";
  EXPECT_LT(world_.clock("client").now() - begin, std::chrono::seconds(17));
  EXPECT_TRUE(world_.run(patient.stop()));
}

TEST_F(S3ClientTest, ARefusalIsFinalAtOnce) {
  server_.expect(
      {read_head(), send(answer("403 Forbidden", "<Error><Code>AccessDenied</Code></Error>"))});
  ObjectName name{"b", "k"};
  const Status refused = world_.run(delete_object(client_, name));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::denied);
  EXPECT_EQ(server_.accepted(), 1U);
}

TEST_F(S3ClientTest, AnAnswerThatBreaksOffIsAskedForAgain) {
  server_.expect(
      {read_head(), send("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n<List"), close()});
  server_.expect(
      {read_head(), send(answer("200 OK", "<ListAllMyBucketsResult></ListAllMyBucketsResult>"))});
  const auto buckets = world_.run(list_buckets(client_));
  ASSERT_TRUE(buckets);
  EXPECT_TRUE(buckets->empty());
}

TEST_F(S3ClientTest, APartOfAnObjectMustNotComeWhole) {
  server_.expect({read_head(), send(answer("200 OK", "all of it"))});
  GetQuery query{.name = {"b", "k"}, .offset = 2, .length = 3};
  const auto opened = world_.run(open_object(client_, query));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Errc::io);
}

TEST(RetryBudget, DoublesItsWaitsWithinItsBound) {
  RetryOptions options;
  RetryBudget budget(options);
  io::SeededRng rng(3);
  Duration last{};
  for (std::uint32_t attempt = 1; attempt < 20; ++attempt) {
    const Duration wait = budget.wait_after(attempt, rng);
    EXPECT_GE(wait * 2,
              std::min(options.first_wait * (1 << std::min(attempt - 1, 10U)), options.wait_max) -
                  std::chrono::nanoseconds(2));
    EXPECT_LE(wait, options.wait_max);
    last = wait;
  }
  EXPECT_GE(last, options.wait_max / 2 - std::chrono::nanoseconds(1));
}

TEST(RetryBudget, RunsOutWhenEverythingFailsAndIsEarnedByAnswers) {
  RetryBudget budget({.budget_max = 10, .retry_cost = 5});
  EXPECT_TRUE(budget.may_follow(1));
  EXPECT_TRUE(budget.may_follow(1));
  EXPECT_FALSE(budget.may_follow(1));
  for (int i = 0; i < 5; ++i)
    budget.earn();
  EXPECT_TRUE(budget.may_follow(1));
}

}  // namespace
}  // namespace leat::s3client
