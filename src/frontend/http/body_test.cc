#include <gtest/gtest.h>

#include <array>
#include <string>

#include "support/http_world.h"

namespace leat::http {
namespace {

using namespace std::chrono_literals;
using testing::Answer;
using testing::HttpWorld;
using testing::RawClient;

constexpr std::string_view kGet = "GET /read_file HTTP/1.1\r\nHost: server\r\n\r\n";

// What the last handler found.
struct Upload {
  int calls = 0;
  std::string body;
  std::string trailer;
  std::string path_after;   // of the head, asked after the body was read
  std::string field_after;  // the value of x-mark, likewise
  std::optional<Errc> failed;
};

rt::Task<Response> take_all(Exchange& exchange, Upload& upload) {
  ++upload.calls;
  std::array<std::byte, 777> buffer;
  while (true) {
    auto got = co_await exchange.body.read(buffer);
    if (!got) {
      upload.failed = got.error().code();
      co_return fail(std::move(got).error());
    }
    if (*got == 0) break;
    upload.body += as_text(Bytes(buffer).first(*got));
  }
  upload.trailer = exchange.body.trailers().find("x-sum").value_or("(none)");
  upload.path_after = exchange.head.path;
  upload.field_after = exchange.head.headers.find("x-mark").value_or("(none)");
  co_return Response(200);
}

rt::Task<Response> take_nothing(Upload& upload) {
  ++upload.calls;
  co_return Response(200);
}

std::string put(std::string_view fields, std::string_view body = "") {
  return "PUT /write_file HTTP/1.1\r\nHost: server\r\n" + std::string(fields) + "\r\n" +
         std::string(body);
}

class BodyTest : public ::testing::Test {
 protected:
  BodyTest() {
    http.handle(Operation::write_file, [this](Exchange& e) { return take_all(e, upload); });
    http.handle(Operation::delete_file, [this](Exchange&) { return take_nothing(upload); });
    http.handle(Operation::read_file, [](Exchange&) -> rt::Task<Response> {
      co_return Response::text(200, "text/plain", "text");
    });
  }

  Upload upload;
  HttpWorld http;
};

TEST_F(BodyTest, ABodyWithALengthIsReadToItsLastByteAndNoFurther) {
  std::string body(200000, '?');
  http.world.rng().fill(std::as_writable_bytes(std::span(body)));
  RawClient client(http);
  client.send(put("Content-Length: 200000\r\n", body)).send(kGet);
  ASSERT_TRUE(client.wait_answers(2));
  EXPECT_EQ(client.answers().statuses(), "200 200");
  EXPECT_TRUE(upload.body == body);
  EXPECT_EQ(http.metrics.received_bytes.value(), 200000U);
}

TEST_F(BodyTest, ChunksAndTrailersAreDecodedAndTheNextRequestFollows) {
  RawClient client(http);
  client.send(put("Transfer-Encoding: chunked\r\n",
                  "5;name=value\r\nhello\r\n1\r\n \r\n00A\r\nworld12345\r\n"
                  "0\r\nx-sum: 42\r\n\r\n"));
  client.send(kGet);
  ASSERT_TRUE(client.wait_answers(2));
  EXPECT_EQ(client.answers().statuses(), "200 200");
  EXPECT_EQ(upload.body, "hello world12345");
  EXPECT_EQ(upload.trailer, "42");
}

// The head's bytes share a buffer with what comes after it.
TEST_F(BodyTest, TheHeadStaysReadableWhileAChunkedBodyIsRead) {
  RawClient client(http);
  std::string body;
  for (int i = 0; i < 100; ++i) {
    body += "400\r\n" + std::string(0x400, 'b') + "\r\n";
  }
  client.send(put("x-mark: still here\r\nTransfer-Encoding: chunked\r\n"));
  http.world.run_for(1s);
  client.send(body + "0\r\n\r\n").send(kGet);
  ASSERT_TRUE(client.wait_answers(2));
  EXPECT_EQ(upload.body.size(), 100U * 0x400);
  EXPECT_EQ(upload.path_after, "/write_file");
  EXPECT_EQ(upload.field_after, "still here");
  EXPECT_EQ(client.answers().statuses(), "200 200");
}

TEST_F(BodyTest, AHeadOfTheLargestSizeLeavesRoomForAChunkedBody) {
  RawClient client(http);
  const std::string start =
      "PUT /write_file HTTP/1.1\r\nHost: server\r\nTransfer-Encoding: chunked\r\n";
  std::string head = start;
  const std::size_t wanted = http.options.server.head.head_max_bytes;
  while (head.size() + 1000 < wanted) {
    head += "x-filler: " + std::string(900, 'f') + "\r\n";
  }
  head += "x-last: " + std::string(wanted - head.size() - 12, 'l') + "\r\n\r\n";
  ASSERT_EQ(head.size(), wanted);
  client.send(head + "5\r\nhello\r\n0\r\n\r\n").send(kGet);
  ASSERT_TRUE(client.wait_answers(2));
  EXPECT_EQ(client.answers().statuses(), "200 200");
  EXPECT_EQ(upload.body, "hello");
}

TEST_F(BodyTest, ContinueIsGivenWhenTheHandlerReads) {
  RawClient client(http);
  client.send(put("Expect: 100-continue\r\nContent-Length: 5\r\n"));
  http.world.run_for(1s);
  EXPECT_EQ(client.received(), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hello").send(kGet);
  ASSERT_TRUE(client.wait_answers(2));
  EXPECT_EQ(client.answers().statuses(), "100 200 200");
  EXPECT_EQ(upload.body, "hello");
}

TEST_F(BodyTest, ContinueIsGivenOnceAndForAnEmptyBodyToo) {
  RawClient client(http);
  client.send(put("Expect: 100-continue\r\nContent-Length: 0\r\n"));
  ASSERT_TRUE(client.wait_answers(1));
  EXPECT_EQ(client.answers().statuses(), "100 200");
  client.send(put("Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n"));
  http.world.run_for(1s);
  client.send("5\r\nhello\r\n").send("5\r\nworld\r\n0\r\n\r\n");
  ASSERT_TRUE(client.wait_answers(2));
  EXPECT_EQ(client.answers().statuses(), "100 200 100 200");
}

TEST_F(BodyTest, WithoutAReadThereIsNoContinueAndTheConnectionEnds) {
  for (const std::string_view length : {"5", "0"}) {
    RawClient client(http);
    client.send(
        "DELETE /delete_file HTTP/1.1\r\nHost: s\r\nExpect: 100-continue\r\n"
        "Content-Length: " +
        std::string(length) + "\r\n\r\n");
    ASSERT_TRUE(client.wait_end());
    const auto answers = client.answers();
    ASSERT_EQ(answers.statuses(), "200");
    EXPECT_EQ(answers.whole[0].field("connection"), "close");
  }
}

// Abuse case 31.
TEST_F(BodyTest, BadCredentialsAreRefusedBeforeTheBodyAndWithoutContinue) {
  for (const std::string_view who : {"wrong", "anonymous"}) {
    RawClient client(http);
    client.send(put("x-auth: " + std::string(who) +
                    "\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n"));
    ASSERT_TRUE(client.wait_end());
    const auto answers = client.answers();
    ASSERT_EQ(answers.statuses(), who == "wrong" ? "403" : "401");
    EXPECT_EQ(answers.whole[0].field("connection"), "close");
  }
  EXPECT_EQ(upload.calls, 0);
}

// The answer must not wait for room in a pipe that the client does not empty.
TEST_F(BodyTest, AClientThatDoesNotReadItsContinueIsCut) {
  http.world.fabric().options().buffer_bytes = 20;
  RawClient client(http, /*reads=*/false);
  client.send(put("Expect: 100-continue\r\nContent-Length: 5\r\n"));
  http.world.run_for(10s);
  EXPECT_EQ(http.server->connections(), 1U) << "it has its grace";
  http.world.run_for(1min);
  EXPECT_EQ(http.server->connections(), 0U);
}

TEST_F(BodyTest, ASmallBodyNobodyWantedIsDroppedAndTheConnectionGoesOn) {
  RawClient client(http);
  const std::string body(60000, 'b');
  client.send("DELETE /delete_file HTTP/1.1\r\nHost: s\r\nContent-Length: 60000\r\n\r\n" + body);
  client.send("DELETE /delete_file HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n" +
              ("EA60\r\n" + body + "\r\n0\r\n\r\n"));
  client.send(put("x-auth: wrong\r\nContent-Length: 5\r\n", "hello")).send(kGet);
  ASSERT_TRUE(client.wait_answers(4));
  EXPECT_EQ(client.answers().statuses(), "200 200 403 200");
}

TEST_F(BodyTest, ALargeBodyNobodyWantedEndsTheConnection) {
  const std::string body(1000000, 'b');
  for (const bool chunked : {false, true}) {
    RawClient client(http);
    client.send("DELETE /delete_file HTTP/1.1\r\nHost: server\r\n");
    if (chunked) {
      client.send("Transfer-Encoding: chunked\r\n\r\nF4240\r\n" + body + "\r\n0\r\n\r\n");
    } else {
      client.send("Content-Length: 1000000\r\n\r\n" + body);
    }
    client.send(kGet);
    ASSERT_TRUE(client.wait_end());
    const auto answers = client.answers();
    ASSERT_EQ(answers.statuses(), "200") << "and the answer arrives before the end";
    EXPECT_EQ(answers.whole[0].field("connection"), "close");
  }
}

TEST_F(BodyTest, ABodyCutOffByTheClientIsAnErrorForTheHandlerAndNotAnEnd) {
  for (const std::string_view framing :
       {"Content-Length: 10\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"}) {
    upload = {};
    RawClient client(http);
    client.send("PUT /write_file HTTP/1.1\r\nHost: server\r\n" + std::string(framing));
    client.finish();
    ASSERT_TRUE(client.wait_end());
    EXPECT_EQ(upload.failed, Errc::closed);
    EXPECT_EQ(client.received(), "");
  }
}

// Abuse case 32: whatever a client leaves behind, nothing is kept of it (HttpWorld looks at its
// end).
TEST_F(BodyTest, ClientsThatVanishInMidBodyLeaveNothingBehind) {
  for (int i = 0; i < 500; ++i) {
    upload = {};
    RawClient client(http);
    client.send(
        put("Content-Length: 100000\r\n", std::string(1 + http.world.rng().below(90000), 'b')));
    http.world.run_for(Duration(http.world.rng().below(1'000'000)));
    client.leave();
    http.world.run_for(10ms);
    EXPECT_NE(upload.failed, Errc::internal);
  }
  http.world.run_for(5s);
  EXPECT_EQ(http.server->connections(), 0U);
  EXPECT_EQ(http.head_buffers.in_use(), 0U);
}

// The first wrong byte of a body ends the connection; reading on from a broken place could turn
// bytes of the body into a request (abuse case 28).
TEST_F(BodyTest, ABrokenChunkIsRefusedAndNothingAfterItIsRead) {
  const std::string smuggled = "GET /read_file?smuggled HTTP/1.1\r\nHost: server\r\n\r\n";
  for (const std::string_view body :
       {"5\r\nhello\r\n5 \r\n0\r\n0\r\n\r\n", "5\r\nhelloXX0\r\n\r\n", "xyz\r\n0\r\n\r\n",
        "5\nhello\r\n0\r\n\r\n", "-5\r\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n", "11111111111111111\r\n", "0\r\nContent-Length: 5\r\n\r\n",
        "5;a=\"\x01\"\r\nhello\r\n0\r\n\r\n", "0\r\nx: y\r\n\n"}) {
    for (const std::string_view path : {"/write_file", "/delete_file"}) {
      upload = {};
      RawClient client(http);
      client.send("PUT " + std::string(path) + " HTTP/1.1\r\nHost: server\r\n" +
                  "Transfer-Encoding: chunked\r\n\r\n" + std::string(body) + smuggled);
      ASSERT_TRUE(client.wait_end()) << body;
      const auto answers = client.answers();
      ASSERT_EQ(answers.statuses(), path == "/write_file" ? "400" : "200") << body;
      EXPECT_EQ(answers.whole[0].field("connection"), "close") << body;
    }
  }
}

}  // namespace
}  // namespace leat::http
