#include "http1/head_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/errc.h"
#include "http1/request_head.h"

namespace leat::http1 {
namespace {

using std::string_view_literals::operator""sv;

TEST(HeadWriter, WritesAResponseHead) {
  std::string out = "before|";
  ResponseHeadWriter head(out, 206);
  head.field("Content-Length", std::uint64_t{18446744073709551615u});
  head.field("Age", std::uint64_t{0});
  ASSERT_TRUE(head.field("ETag", "\"5d41\"").has_value());
  ASSERT_TRUE(head.field("x-amz-meta-a", "").has_value());
  head.finish();
  EXPECT_EQ(out,
            "before|HTTP/1.1 206 Partial Content\r\nContent-Length: 18446744073709551615\r\n"
            "Age: 0\r\nETag: \"5d41\"\r\nx-amz-meta-a: \r\n\r\n");
}

TEST(HeadWriter, WritesARequestHeadThatParsesBack) {
  std::string out;
  RequestHeadWriter writer(out);
  ASSERT_TRUE(writer.start("PUT", "/b/k?a=b").has_value());
  ASSERT_TRUE(writer.field("Host", "leat:9000").has_value());
  writer.field("Content-Length", std::uint64_t{7});
  writer.finish();
  EXPECT_EQ(out, "PUT /b/k?a=b HTTP/1.1\r\nHost: leat:9000\r\nContent-Length: 7\r\n\r\n");
  RequestParser parser;
  RequestHead head;
  EXPECT_EQ(parser.parse(out, head).value(), out.size());
  EXPECT_EQ(head.content_length, 7u);
}

TEST(HeadWriter, Abuse34RefusesEveryByteThatCouldSplitAHeader) {
  for (int c = 0; c < 256; ++c) {
    std::string out = "x";
    const std::string value = "a" + std::string(1, static_cast<char>(c)) + "Set-Cookie: b";
    const auto written = append_field(out, "X-Echo", value);
    const bool control = (c < 0x20 && c != '\t') || c == 0x7f;
    EXPECT_EQ(written.has_value(), !control) << c;
    if (control) {
      EXPECT_EQ(written.error().code(), Errc::bad_request);
      EXPECT_EQ(out, "x") << "nothing may be left of a refused value";
    }
  }
}

TEST(HeadWriter, Abuse34RefusesNamesThatAreNoTokens) {
  for (const std::string_view name : {""sv, "a b"sv, "a:"sv, "a\r\nb"sv, "\xc3\xa4"sv, "a\0"sv}) {
    std::string out;
    EXPECT_FALSE(append_field(out, name, "v").has_value()) << name;
    EXPECT_EQ(out, "");
  }
}

TEST(HeadWriter, Abuse34RefusesTargetsAndMethodsThatCouldSplitARequest) {
  std::string out;
  RequestHeadWriter writer(out);
  for (const std::string_view target : {"", "/a b", "/a\r\nHost: x", "/#f", "/\xc3\xa4"}) {
    EXPECT_FALSE(writer.start("GET", target).has_value()) << target;
  }
  EXPECT_FALSE(writer.start("GET /x HTTP/1.1\r\nA:", "/").has_value());
  EXPECT_EQ(out, "");
}

TEST(HeadWriter, EveryErrorCodeHasAStatusWithAName) {
  for (int i = 0; i <= static_cast<int>(Errc::would_block); ++i) {
    EXPECT_FALSE(reason_of(traits(static_cast<Errc>(i)).http_status).empty()) << i;
  }
  EXPECT_EQ(reason_of(404), "Not Found");
}

TEST(HeadWriter, AStatusWithoutANameHasAnEmptyReason) {
  std::string out;
  ResponseHeadWriter head(out, 299);
  head.finish();
  EXPECT_EQ(out, "HTTP/1.1 299 \r\n\r\n");
  EXPECT_EQ(reason_of(299), "");
}

TEST(HeadWriter, EveryPrecomputedLineCarriesItsOwnStatus) {
  for (int status = 100; status <= 599; ++status) {
    std::string out;
    ResponseHeadWriter head(out, status);
    EXPECT_EQ(out,
              "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason_of(status)) + "\r\n");
  }
}

}  // namespace
}  // namespace leat::http1
