#include "http1/response_head.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace leat::http1 {
namespace {

ResponseHead accept(std::string_view text, Method asked = Method::get) {
  ResponseParser parser;
  ResponseHead head;
  const auto size = parser.parse(text, asked, head);
  EXPECT_TRUE(size.has_value()) << text << "\n" << size.error().message();
  EXPECT_EQ(size.value_or(0), text.size()) << text;
  return head;
}

TEST(ResponseParser, TakesAnOrdinaryAnswerApart) {
  const ResponseHead head =
      accept("HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\nETag: \"a\"\r\n\r\n");
  EXPECT_EQ(head.status, 206);
  EXPECT_EQ(head.reason, "Partial Content");
  EXPECT_EQ(head.version, Version::http11);
  EXPECT_EQ(head.body_end, BodyEnd::length);
  EXPECT_EQ(head.content_length, 5u);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_FALSE(head.interim());
  EXPECT_EQ(head.headers.find("etag"), "\"a\"");
}

TEST(ResponseParser, ByteByByteGivesTheSameAsAtOnce) {
  constexpr std::string_view kText =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  ResponseParser parser;
  ResponseHead head;
  std::size_t start = 0;
  std::string statuses;
  for (std::size_t have = 1; have <= kText.size(); ++have) {
    const auto size = parser.parse(kText.substr(start, have - start), Method::put, head);
    ASSERT_TRUE(size.has_value());
    if (*size == 0) continue;
    EXPECT_EQ(start + *size, have);
    start = have;
    statuses += std::to_string(head.status) + (head.interim() ? " interim;" : " final;");
  }
  EXPECT_EQ(statuses, "100 interim;200 final;");
  EXPECT_EQ(head.body_end, BodyEnd::chunked);
}

TEST(ResponseParser, KnowsWhichAnswersHaveNoBody) {
  EXPECT_EQ(accept("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", Method::head).body_end,
            BodyEnd::none);
  EXPECT_EQ(accept("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Method::head).body_end,
            BodyEnd::none);
  const ResponseHead unchanged = accept("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(unchanged.body_end, BodyEnd::none);
  EXPECT_EQ(unchanged.content_length, 5u);
  EXPECT_TRUE(unchanged.keep_alive);
  EXPECT_EQ(accept("HTTP/1.1 204 No Content\r\n\r\n").body_end, BodyEnd::none);
  EXPECT_EQ(accept("HTTP/1.1 100 Continue\r\n\r\n").body_end, BodyEnd::none);
}

TEST(ResponseParser, ABodyWithoutLengthEndsWithTheConnection) {
  const ResponseHead head = accept("HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(head.body_end, BodyEnd::connection);
  EXPECT_FALSE(head.keep_alive);
}

TEST(ResponseParser, KeepsTheConnectionAsTheServerSays) {
  EXPECT_FALSE(
      accept("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").keep_alive);
  EXPECT_FALSE(accept("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").keep_alive);
}

TEST(ResponseParser, AcceptsAMissingReason) {
  EXPECT_EQ(accept("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n").reason, "");
  EXPECT_EQ(accept("HTTP/1.1 299 \r\nContent-Length: 0\r\n\r\n").reason, "");
}

TEST(ResponseParser, Abuse28RefusesWhatTwoReadersCouldReadDifferently) {
  for (const std::string_view text : {
           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
           "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
           "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
           "HTTP/1.1 200 OK\nContent-Length: 5\n\n",
           "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n",
           "HTTP/1.1 200 OK\r\nX : a\r\n\r\n",
           "HTTP/1.1 20 OK\r\n\r\n",
           "HTTP/1.1 2000 OK\r\n\r\n",
           "HTTP/1.1 099 OK\r\n\r\n",
           "HTTP/1.1 600 OK\r\n\r\n",
           "HTTP/1.1 +20 OK\r\n\r\n",
           "HTTP/1.1  200 OK\r\n\r\n",
           "HTTP/2.0 200 OK\r\n\r\n",
           "ICY 200 OK\r\n\r\n",
           "\r\nHTTP/1.1 200 OK\r\n\r\n",
       }) {
    ResponseParser parser;
    ResponseHead head;
    const auto size = parser.parse(text, Method::get, head);
    ASSERT_FALSE(size.has_value()) << text;
    EXPECT_EQ(size.error().code(), Errc::io) << text;
    EXPECT_FALSE(size.error().detail().empty()) << text;
  }
}

TEST(ResponseParser, BoundsTheHead) {
  ResponseParser parser;
  ResponseHead head;
  const std::string text = "HTTP/1.1 200 OK\r\nX: " + std::string(64 * 1024, 'a');
  EXPECT_EQ(parser.parse(text, Method::get, head).error().code(), Errc::io);
}

}  // namespace
}  // namespace leat::http1
