#include "http/server.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "http/turn.h"
#include "support/http_world.h"

namespace leat::http {
namespace {

using namespace std::chrono_literals;
using testing::Answer;
using testing::HttpWorld;
using testing::RawClient;

constexpr std::string_view kGet = "GET /read_file HTTP/1.1\r\nHost: server\r\n\r\n";

// What a client may rely on: every answer says these.
void expect_wire_fields(const Answer& answer) {
  EXPECT_EQ(answer.field("date"), "Wed, 01 Jan 2025 00:00:00 GMT");
  EXPECT_EQ(answer.field("x-leat-request-id").size(), 16U);
}

rt::Task<Response> say(std::string text) {
  co_return Response::text(200, "text/plain", std::move(text));
}

rt::Task<Response> answer(int status) {
  co_return Response(status);
}

rt::Task<Response> send_part(std::shared_ptr<const io::File> file) {
  Response response(200);
  response.body = FileBody{.file = file, .uncached = nullptr, .offset = 5000, .length = 250001};
  co_return response;
}

// Yields the pieces one by one, then ends or fails.
class PieceSource final : public BodySource {
 public:
  PieceSource(std::vector<std::string> pieces, Status end)
      : pieces_(std::move(pieces)), end_(std::move(end)) {}

  rt::Task<Bytes> next() override {
    LEAT_CO_DO(co_await rt::yield());
    if (next_ == pieces_.size()) {
      if (!end_) co_return fail(end_.error().clone());
      co_return Bytes{};
    }
    co_return as_bytes(pieces_[next_++]);
  }

 private:
  std::vector<std::string> pieces_;
  Status end_;
  std::size_t next_ = 0;
};

rt::Task<Response> stream(std::vector<std::string> pieces, Status end,
                          std::optional<std::uint64_t> length) {
  Response response(200);
  response.body = StreamBody{
      .source = std::make_unique<PieceSource>(std::move(pieces), std::move(end)), .length = length};
  co_return response;
}

class ServerTest : public ::testing::Test {
 protected:
  // Answers /read_file with a text that counts the requests.
  ServerTest() {
    http.handle(Operation::read_file, [this](Exchange& exchange) {
      return say(std::to_string(++count) + " " + std::string(exchange.head.query));
    });
  }

  void serve_stream(std::vector<std::string> pieces, Status end = {},
                    std::optional<std::uint64_t> length = {}) {
    auto shared = std::make_shared<Status>(std::move(end));
    http.handle(Operation::read_file, [pieces, shared, length](Exchange&) {
      Status copy = *shared ? Status{} : Status(fail(shared->error().clone()));
      return stream(pieces, std::move(copy), length);
    });
  }

  int count = 0;
  HttpWorld http;
};

TEST_F(ServerTest, KeepsAConnectionForTheNextRequest) {
  RawClient client(http);
  for (int i = 1; i <= 3; ++i) {
    const Answer answer = client.ask(kGet);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, std::to_string(i) + " ");
    EXPECT_EQ(answer.field("content-length"), "2");
    EXPECT_EQ(answer.field("connection"), "(none)");
    expect_wire_fields(answer);
  }
  EXPECT_EQ(http.metrics.connections_accepted.value(), 1U);
}

TEST_F(ServerTest, AnswersPipelinedRequestsInTheirOrder) {
  RawClient client(http);
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    requests += "GET /read_file?" + std::to_string(i) + " HTTP/1.1\r\nHost: server\r\n\r\n";
  }
  client.send(requests);
  ASSERT_TRUE(client.wait_answers(50));
  const auto answers = client.answers();
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(answers.whole[i].body, std::to_string(i + 1) + " " + std::to_string(i));
  }
  EXPECT_EQ(answers.rest, "");
}

TEST_F(ServerTest, APipelinedRequestMayArriveInTwoHalves) {
  RawClient client(http);
  client.send(std::string(kGet) + std::string(kGet.substr(0, 20)));
  ASSERT_TRUE(client.wait_answers(1));
  http.world.run_for(2s);
  client.send(kGet.substr(20));
  ASSERT_TRUE(client.wait_answers(2));
  EXPECT_EQ(client.answers().statuses(), "200 200");
}

TEST_F(ServerTest, HeadAnswersTheHeadOfGetAndNoBody) {
  RawClient client(http);
  client.send("HEAD /read_file HTTP/1.1\r\nHost: server\r\n\r\n").send(kGet);
  ASSERT_TRUE(client.wait_answers(2, "H"));
  const auto answers = client.answers("H");
  EXPECT_EQ(answers.whole[0].field("content-length"), "2");
  EXPECT_EQ(answers.whole[1].body, "2 ");
  EXPECT_EQ(answers.rest, "");
}

TEST_F(ServerTest, HeadOfAnErrorHasNoBodyEither) {
  RawClient client(http);
  client.send("HEAD /nothing HTTP/1.1\r\nHost: server\r\n\r\n").send(kGet);
  ASSERT_TRUE(client.wait_answers(2, "H"));
  EXPECT_EQ(client.answers("H").statuses(), "404 200");
}

TEST_F(ServerTest, ClosesWhenTheClientAsksForIt) {
  RawClient client(http);
  client.send("GET /read_file HTTP/1.1\r\nHost: server\r\nConnection: close\r\n\r\n");
  client.send(kGet);
  ASSERT_TRUE(client.wait_end());
  const auto answers = client.answers();
  ASSERT_EQ(answers.statuses(), "200") << "what came after Connection: close is not answered";
  EXPECT_EQ(answers.whole[0].field("connection"), "close");
  EXPECT_EQ(count, 1);
}

TEST_F(ServerTest, AnHttp10ClientGetsWhatItAskedFor) {
  RawClient once(http);
  const Answer closed = once.ask("GET /read_file HTTP/1.0\r\n\r\n");
  EXPECT_EQ(closed.field("connection"), "close");
  EXPECT_TRUE(once.wait_end());
  RawClient kept(http);
  const Answer answer = kept.ask("GET /read_file HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(answer.field("connection"), "keep-alive");
  EXPECT_EQ(kept.ask(kGet).status, 200);
}

TEST_F(ServerTest, AClientThatFinishesItsSideStillGetsItsAnswers) {
  RawClient client(http);
  client.send(std::string(kGet) + std::string(kGet));
  client.finish();
  ASSERT_TRUE(client.wait_end());
  EXPECT_EQ(client.answers().statuses(), "200 200");
}

TEST_F(ServerTest, ABodyWithoutLengthIsSentInChunks) {
  serve_stream({"one", std::string(100000, 'x'), "two"});
  RawClient client(http);
  client.send(kGet);
  ASSERT_TRUE(client.wait_answers(1));
  const Answer answer = client.answers().whole[0];
  EXPECT_EQ(answer.field("transfer-encoding"), "chunked");
  EXPECT_EQ(answer.field("content-length"), "(none)");
  EXPECT_EQ(answer.body, "one" + std::string(100000, 'x') + "two");
  EXPECT_EQ(client.ask(kGet).status, 200) << "the connection goes on";
}

TEST_F(ServerTest, AnHttp10ClientIsNeverSentChunks) {
  serve_stream({"one", "two"});
  RawClient client(http);
  client.send("GET /read_file HTTP/1.0\r\n\r\n");
  ASSERT_TRUE(client.wait_end());
  const auto answers = client.answers();
  ASSERT_EQ(answers.statuses(), "505") << client.received();
  EXPECT_EQ(answers.whole[0].field("transfer-encoding"), "(none)");
}

TEST_F(ServerTest, AStreamWithALengthIsSentAsItIs) {
  serve_stream({"one", "two"}, {}, 6);
  RawClient client(http);
  EXPECT_EQ(client.ask(kGet).body, "onetwo");
  EXPECT_EQ(client.ask(kGet).field("content-length"), "6");
}

TEST_F(ServerTest, AnEmptyStreamIsAnEmptyAnswer) {
  serve_stream({});
  RawClient client(http);
  EXPECT_EQ(client.ask(kGet).body, "");
  serve_stream({}, {}, 0);
  EXPECT_EQ(client.ask(kGet).field("content-length"), "0");
}

// A client must be able to tell a cut body from a whole one, whatever its framing.
TEST_F(ServerTest, ABodyThatFailsHalfWayBreaksTheConnectionAndNeverEndsCleanly) {
  for (const bool chunked : {false, true}) {
    serve_stream({"part"}, fail(Errc::io, "disk"), chunked ? std::nullopt : std::optional(100U));
    RawClient client(http);
    client.send(kGet).send(kGet);
    ASSERT_TRUE(client.wait_end());
    EXPECT_EQ(client.answers().statuses(), "") << client.received();
    EXPECT_NE(client.received().find("part"), std::string::npos) << client.received();
    EXPECT_FALSE(client.received().ends_with("0\r\n\r\n")) << client.received();
  }
  EXPECT_EQ(http.metrics.broken_responses.value(), 2U);
}

TEST_F(ServerTest, ABodyShorterOrLongerThanDeclaredBreaksTheConnection) {
  for (const std::uint64_t declared : {5U, 9U}) {
    serve_stream({"abc", "def"}, {}, declared);
    RawClient client(http);
    client.send(kGet).send(kGet);
    ASSERT_TRUE(client.wait_end());
    EXPECT_EQ(client.answers().whole.size(), 0U) << client.received();
  }
  EXPECT_EQ(http.metrics.broken_responses.value(), 2U);
}

TEST_F(ServerTest, AHandlersErrorIsAnAnswerAndTheConnectionGoesOn) {
  http.handle(Operation::version, [](Exchange&) -> rt::Task<Response> {
    co_return fail(Errc::no_space, "the disk is \"full\"");
  });
  RawClient client(http);
  const Answer answer = client.ask("GET /version HTTP/1.1\r\nHost: server\r\n\r\n");
  EXPECT_EQ(answer.status, 507);
  EXPECT_EQ(answer.body, "{\"error\":\"no_space\",\"message\":\"the disk is \\\"full\\\"\"}\n");
  EXPECT_EQ(client.ask(kGet).status, 200);
}

TEST_F(ServerTest, AnswersWithoutContentHaveNoFraming) {
  for (const int status : {204, 304}) {
    http.handle(Operation::version, [status](Exchange&) { return answer(status); });
    RawClient client(http);
    const Answer answer = client.ask("GET /version HTTP/1.1\r\nHost: server\r\n\r\n");
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(answer.field("content-length"), "(none)");
    EXPECT_EQ(answer.field("transfer-encoding"), "(none)");
    EXPECT_EQ(client.ask(kGet).status, 200);
  }
}

TEST_F(ServerTest, AFileIsSentByteForByteInWindows) {
  std::string content(300000, '?');
  http.world.rng().fill(std::as_writable_bytes(std::span(content)));
  auto& disk = http.world.disk("server");
  std::shared_ptr<io::File> file = disk.open("/f", io::OpenMode::create).value();
  ASSERT_TRUE(file->write_all_at(0, as_bytes(content)));
  http.handle(Operation::read_file, [file](Exchange&) { return send_part(file); });
  RawClient client(http);
  EXPECT_EQ(client.ask(kGet).body, content.substr(5000, 250001));
  EXPECT_EQ(http.body_buffers.in_use(), 0U);

  // The file loses its end while it is sent: the client must notice.
  ASSERT_TRUE(file->truncate(100000));
  client.send(kGet);
  ASSERT_TRUE(client.wait_end());
  EXPECT_EQ(client.answers().whole.size(), 1U) << "the answer from before, and no second one";
  EXPECT_EQ(http.metrics.broken_responses.value(), 1U);
}

// Everything it asks for is there, and everything it is answered fits: it never waits.
TEST_F(ServerTest, APipelineOfSmallRequestsLetsTheShardsOtherTasksRun) {
  int ran_after = 0;
  http.handle(Operation::read_file, [&](Exchange&) {
    if (++count == 1) {
      EXPECT_TRUE(http.world.shard().deliver([&] { ran_after = count; }));
    }
    return answer(204);
  });
  RawClient client(http);
  std::string requests;
  for (int i = 0; i < 300; ++i) {
    requests += kGet;
  }
  client.send(requests);
  ASSERT_TRUE(client.wait_answers(300));
  EXPECT_GT(ran_after, 0);
  EXPECT_LE(ran_after, static_cast<int>(Turn::kRequests));
}

TEST_F(ServerTest, AnIdleConnectionHoldsNoBuffer) {
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<RawClient>(http));
    EXPECT_EQ(clients.back()->ask(kGet).status, 200);
  }
  http.world.run_for(1s);
  EXPECT_EQ(http.server->connections(), 20U);
  EXPECT_EQ(http.head_buffers.in_use(), 0U);
}

TEST(Server, WithoutABufferLeftARequestIsRefusedAndNotForgotten) {
  testing::HttpWorldOptions options;
  options.head_buffers = 1;
  HttpWorld http(options);
  http.handle(Operation::read_file, [](Exchange&) { return say("text"); });
  RawClient holder(http);
  holder.send("GET /read_file HTTP/1.1\r\n");
  http.world.run_for(1s);
  EXPECT_EQ(http.head_buffers.in_use(), 1U);
  RawClient client(http);
  EXPECT_EQ(client.ask(kGet).status, 503);
  holder.send("Host: server\r\n\r\n");
  EXPECT_TRUE(holder.wait_answers(1));
  RawClient next(http);
  EXPECT_EQ(next.ask(kGet).status, 200);
}

}  // namespace
}  // namespace leat::http
