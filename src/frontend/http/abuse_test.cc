#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/http_world.h"

namespace leat::http {
namespace {

using namespace std::chrono_literals;
using testing::Answer;
using testing::HttpWorld;
using testing::HttpWorldOptions;
using testing::RawClient;

constexpr std::string_view kGet = "GET /read_file HTTP/1.1\r\nHost: server\r\n\r\n";

class AbuseTest : public ::testing::Test {
 protected:
  AbuseTest() { install(http); }

  void install(HttpWorld& into) {
    for (std::size_t i = 0; i < kOperationCount; ++i) {
      into.handle(static_cast<Operation>(i), [this](Exchange&) { return answer(); });
    }
  }

  rt::Task<Response> answer() {
    ++calls;
    co_return Response::text(200, "text/plain", large_body);
  }

  // Sends the bytes and a good request after them: one refusal, then the end, and no handler.
  void expect_refused(std::string_view bytes, int status) {
    calls = 0;
    RawClient client(http);
    client.send(bytes).send(kGet);
    ASSERT_TRUE(client.wait_end(1min)) << bytes.substr(0, 200);
    const auto answers = client.answers();
    ASSERT_EQ(answers.statuses(), std::to_string(status)) << bytes.substr(0, 200);
    EXPECT_EQ(answers.whole[0].field("connection"), "close") << bytes.substr(0, 200);
    EXPECT_EQ(answers.rest, "") << bytes.substr(0, 200);
    EXPECT_EQ(calls, 0) << bytes.substr(0, 200);
  }

  int calls = 0;
  std::string large_body = "text";
  HttpWorld http;
};

std::string request(std::string_view fields, std::string_view rest = "") {
  return "POST /read_file HTTP/1.1\r\nHost: server\r\n" + std::string(fields) + "\r\n" +
         std::string(rest);
}

// Abuse case 28. http1 has tests of each rule; here it counts that no handler is reached.
TEST_F(AbuseTest, SmugglingPatternsAreRefusedAndTheConnectionEnds) {
  using namespace std::string_literals;
  const std::vector<std::string> patterns = {
      request("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
      request("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
      request("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"),
      request("Content-Length: 5\r\nContent-Length: 6\r\n", "hello"),
      request("Content-Length: 5, 5\r\n", "hello"),
      request("Content-Length: +5\r\n", "hello"),
      request("Content-Length: -5\r\n", "hello"),
      request("Content-Length: 0x5\r\n", "hello"),
      request("Content-Length: 5 \t5\r\n", "hello"),
      request("Content-Length: \r\n", "hello"),
      request("Content-Length: 18446744073709551616\r\n", "hello"),
      request("Content-Length : 5\r\n", "hello"),
      request(" Content-Length: 5\r\n", "hello"),
      request("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
      request("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
      request("Transfer-Encoding: identity, chunked\r\n", "0\r\n\r\n"),
      request("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
      request("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n"),
      request("Transfer-Encoding:\x0b"
              "chunked\r\n",
              "0\r\n\r\n"),
      request("Transfer-Encoding\r\n: chunked\r\n", "0\r\n\r\n"),
      request("x: a\r\n folded\r\n"),
      request("x: a\r\n\tfolded\r\n"),
      request("x: a\nContent-Length: 5\r\n", "hello"),
      request("x: a\rContent-Length: 5\r\n", "hello"),
      request("x: a\0b\r\n"s),
      request("x\0: b\r\n"s),
      request("no colon\r\n"),
      request(": no name\r\n"),
      request("Host: another\r\n"),
      "POST /read_file HTTP/1.1\n\n",
      "POST /read_file HTTP/1.1\r\n\r\n",
      "POST  /read_file HTTP/1.1\r\nHost: server\r\n\r\n",
      "POST /read_file  HTTP/1.1\r\nHost: server\r\n\r\n",
      "POST /read_file\tHTTP/1.1\r\nHost: server\r\n\r\n",
      "POST /read_file HTTP/1.1 \r\nHost: server\r\n\r\n",
      "POST /read file HTTP/1.1\r\nHost: server\r\n\r\n",
      "POST /read_file\r\n\r\n",
      "POST /read_file http/1.1\r\nHost: server\r\n\r\n",
      "POST http://other/read_file HTTP/1.1\r\nHost: server\r\n\r\n",
      "POST /read_file HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "\r\n\r\n\r\nGET /read_file HTTP/1.1\r\nHost: server\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01"s,  // a TLS client at a plain port
      "\0\0\0\0"s,
  };
  for (const std::string& pattern : patterns) {
    expect_refused(pattern, 400);
  }
  EXPECT_EQ(http.metrics.malformed_requests.value(), patterns.size());
}

TEST_F(AbuseTest, GarbageAfterAGoodRequestIsRefusedAfterItsAnswer) {
  RawClient client(http);
  client.send(std::string(kGet) + "\x7f\x45\x4c\x46 garbage\r\n\r\n" + std::string(kGet));
  ASSERT_TRUE(client.wait_end());
  EXPECT_EQ(client.answers().statuses(), "200 400");
  EXPECT_EQ(calls, 1);
}

TEST_F(AbuseTest, VersionsThatAreNotSpokenHereAreSaidSo) {
  expect_refused("GET /read_file HTTP/2.0\r\nHost: server\r\n\r\n", 505);
  expect_refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505);
}

// Abuse case 30.
TEST_F(AbuseTest, OversizedHeadsAreRefusedWithinABoundedBuffer) {
  expect_refused("GET /" + std::string(1 << 20, 'a') + " HTTP/1.1\r\nHost: server\r\n\r\n", 414);
  expect_refused("GET /" + std::string(17 * 1024, 'a') + " HTTP/1.1\r\nHost: server\r\n\r\n", 414);
  expect_refused(request("x: " + std::string(100 * 1024, 'a') + "\r\n"), 431);
  std::string many;
  for (int i = 0; i < 10000; ++i) {
    many += "x" + std::to_string(i) + ": y\r\n";
  }
  expect_refused(request(many), 431);
  expect_refused("GET /read_file HTTP/1.1\r\nHost: server\r\n" + many, 431);
  expect_refused(std::string(100 * 1024, 'A'), 414);
}

// Abuse case 29.
TEST_F(AbuseTest, ASlowHeadIsCutAtItsTimeoutHoweverItDrips) {
  RawClient client(http);
  const Instant start = http.world.now();
  client.send("GET /read_file HTTP/1.1\r\nHost: server\r\n");
  while (!client.ended() && http.world.now() < start + 1min) {
    client.send("x: y\r\n");
    http.world.run_for(500ms);
  }
  EXPECT_EQ(client.answers().statuses(), "408");
  const Duration took = http.world.now() - start;
  EXPECT_GE(took, http.options.server.head_timeout);
  EXPECT_LE(took, http.options.server.head_timeout + 2s);
  EXPECT_EQ(http.metrics.client_timeouts.value(), 1U);
  EXPECT_EQ(calls, 0);
}

TEST_F(AbuseTest, AnIdleConnectionIsClosedAtItsTimeoutWithoutAWord) {
  RawClient silent(http);
  RawClient used(http);
  EXPECT_EQ(used.ask(kGet).status, 200);
  const Instant start = http.world.now();
  ASSERT_TRUE(silent.wait_end(5min));
  ASSERT_TRUE(used.wait_end(5min));
  EXPECT_EQ(silent.received(), "");
  EXPECT_EQ(used.answers().statuses(), "200");
  EXPECT_GE(http.world.now() - start, http.options.server.idle_timeout);
  EXPECT_LE(http.world.now() - start, http.options.server.idle_timeout + 1s);
}

rt::Task<Response> drain_body(Exchange& exchange) {
  std::vector<std::byte> buffer(4096);
  while (true) {
    LEAT_CO_TRY(const std::size_t got, co_await exchange.body.read(buffer));
    if (got == 0) co_return Response(200);
  }
}

TEST_F(AbuseTest, ABodyThatDripsIsCutByItsPace) {
  http.handle(Operation::write_file, [](Exchange& exchange) { return drain_body(exchange); });
  RawClient client(http);
  client.send("PUT /write_file HTTP/1.1\r\nHost: server\r\nContent-Length: 100000\r\n\r\n");
  const Instant start = http.world.now();
  while (!client.ended() && http.world.now() < start + 10min) {
    client.send("b");
    http.world.run_for(1s);
  }
  EXPECT_EQ(client.answers().statuses(), "408");
  EXPECT_GE(http.world.now() - start, http.options.server.body_grace);
  EXPECT_LE(http.world.now() - start, http.options.server.body_grace + 5s);
  EXPECT_EQ(http.metrics.client_timeouts.value(), 1U);
}

TEST_F(AbuseTest, ABodyThatStopsAfterAFastBeginningIsCutAfterTheGraceAlone) {
  http.handle(Operation::write_file, [](Exchange& exchange) { return drain_body(exchange); });
  RawClient client(http);
  client.send("PUT /write_file HTTP/1.1\r\nHost: server\r\nContent-Length: 100000000\r\n\r\n");
  client.send(std::string(5'000'000, 'b'));  // worth five minutes
  ASSERT_TRUE(http.world.run_until([&] { return client.sent_all(); }, 1min));
  const Instant stopped = http.world.now();
  ASSERT_TRUE(client.wait_end(1h));
  EXPECT_EQ(client.answers().statuses(), "408");
  EXPECT_LE(http.world.now() - stopped, http.options.server.body_grace + 5s);
}

TEST_F(AbuseTest, ASlowButHonestBodyIsNotCut) {
  http.handle(Operation::write_file, [](Exchange& exchange) { return drain_body(exchange); });
  RawClient client(http);
  client.send("PUT /write_file HTTP/1.1\r\nHost: server\r\nContent-Length: 4096000\r\n\r\n");
  for (int second = 0; second < 200; ++second) {
    client.send(std::string(20480, 'b'));
    http.world.run_for(1s);
  }
  ASSERT_TRUE(client.wait_answers(1));
  EXPECT_EQ(client.answers().statuses(), "200");
}

TEST_F(AbuseTest, AClientThatDoesNotReadIsCut) {
  large_body = std::string(1 << 20, 'b');
  RawClient client(http, /*reads=*/false);
  client.send(kGet);
  http.world.run_for(http.options.server.body_grace);
  EXPECT_EQ(http.server->connections(), 1U);
  http.world.run_for(10s);
  EXPECT_EQ(http.server->connections(), 0U) << "what is in its pipe earns nothing on top";
  EXPECT_EQ(http.metrics.client_timeouts.value(), 1U);
}

TEST_F(AbuseTest, AClientThatVanishesWhileItIsAnsweredLeavesNothingBehind) {
  large_body = std::string(1 << 20, 'b');
  for (int i = 0; i < 200; ++i) {
    RawClient client(http, /*reads=*/i % 2 == 0);
    client.send(kGet).send(kGet);
    http.world.run_for(Duration(http.world.rng().below(2'000'000)));
    client.leave();
    http.world.run_for(10ms);
  }
  http.world.run_for(5s);
  EXPECT_EQ(http.server->connections(), 0U);
  EXPECT_EQ(http.head_buffers.in_use(), 0U);
}

TEST_F(AbuseTest, ConnectionsOverTheCapAreClosedAndCounted) {
  HttpWorldOptions options;
  options.server.connections_max = 3;
  HttpWorld capped(options);
  install(capped);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(std::make_unique<RawClient>(capped));
  }
  capped.world.run_for(1s);
  EXPECT_EQ(capped.server->connections(), 3U);
  EXPECT_EQ(capped.metrics.connections_refused.value(), 2U);
  EXPECT_TRUE(clients[4]->ended());
  EXPECT_EQ(clients[0]->ask(kGet).status, 200);
  clients[0].reset();
  capped.world.run_for(5s);
  RawClient next(capped);
  EXPECT_EQ(next.ask(kGet).status, 200) << "one that leaves makes room";
}

// Abuse case 34.
TEST(Response, AFieldWithControlBytesIsRefusedAndLeavesTheRestAsItWas) {
  using namespace std::string_view_literals;
  Response response(200);
  ASSERT_TRUE(response.add("x-good", "value\twith a tab"));
  const std::string before(response.fields());
  for (const std::string_view value :
       {"a\r\nSet-Cookie: b"sv, "a\nb"sv, "a\rb"sv, "a\0b"sv, "\x7f"sv, "\r\n\r\n<html>"sv}) {
    EXPECT_EQ(response.add("x-bad", value).error().code(), Errc::bad_request);
    EXPECT_EQ(response.add(value, "x").error().code(), Errc::bad_request);
  }
  EXPECT_EQ(response.add("", "x").error().code(), Errc::bad_request);
  EXPECT_EQ(response.add("two words", "x").error().code(), Errc::bad_request);
  EXPECT_EQ(response.fields(), before);
}

TEST_F(AbuseTest, WhatAnErrorRepeatsOfARequestIsEscaped) {
  RawClient client(http);
  const Answer answer = client.ask("GET /\"<&>%0d%0aX:y HTTP/1.1\r\nHost: server\r\n\r\n");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.field("content-type"), "application/json");
  EXPECT_EQ(answer.body,
            "{\"error\":\"not_found\",\"message\":\"nothing is served at /\\\"<&>%0d%0aX:y\"}\n");
}

TEST(ResponseText, BytesThatAreNoTextBecomeTextInAnError) {
  const Response response = Response::of_error(Error(Errc::not_found,
                                                     "a\xff\x80"
                                                     "b"));
  const auto& body = std::get<MemoryBody>(response.body);
  EXPECT_EQ(as_text(body.bytes),
            "{\"error\":\"not_found\",\"message\":\"a\xef\xbf\xbd\xef\xbf\xbd"
            "b\"}\n");
}

// The head of a refused request was not understood, so nothing of it, nor of another, may be
// logged.
TEST(Log, ARefusedRequestIsNotLoggedWithThePathOfAnother) {
  HttpWorldOptions options;
  options.log_level = log::Level::debug;
  HttpWorld http(options);
  http.handle(Operation::version, [](Exchange&) -> rt::Task<Response> { co_return Response(204); });
  RawClient client(http);
  EXPECT_EQ(client.ask("GET /version HTTP/1.1\r\nHost: server\r\n\r\n").status, 204);
  client.send("BAD\n").wait_end();
  const std::string log = http.take_log();
  const std::size_t refused = log.find("request refused");
  ASSERT_NE(refused, std::string::npos) << log;
  EXPECT_EQ(log.find("/version", refused), std::string::npos) << log;
  EXPECT_EQ(log.find("BAD", refused), std::string::npos) << log;
}

}  // namespace
}  // namespace leat::http
