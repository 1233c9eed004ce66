#include "http1/uri.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace leat::http1 {
namespace {

using std::string_view_literals::operator""sv;
using Pairs = std::vector<QueryPair>;

TEST(Uri, DecodesEscapesOnceAndLeavesPlusAlone) {
  EXPECT_EQ(percent_decode("a%20b+c").value(), "a b+c");
  EXPECT_EQ(percent_decode("%c3%A4%2F").value(), "\xc3\xa4/");
  EXPECT_EQ(percent_decode("").value(), "");
}

TEST(Uri, Abuse35NeverDecodesTwice) {
  EXPECT_EQ(percent_decode("%252e%252e%252f").value(), "%2e%2e%2f");
  EXPECT_EQ(percent_decode("a%00b").value(), "a\0b"sv);
}

TEST(Uri, RefusesBadEscapes) {
  for (const std::string_view text : {"%", "a%", "a%2", "%zz", "%2g", "%%20", "% 20", "%+2"}) {
    const auto decoded = percent_decode(text);
    ASSERT_FALSE(decoded.has_value()) << text;
    EXPECT_EQ(decoded.error().code(), Errc::bad_request) << text;
  }
}

TEST(Uri, DoesNotReadBehindACutEscape) {
  constexpr std::string_view kText = "a%2f";
  EXPECT_FALSE(percent_decode(kText.substr(0, 3)).has_value());
  EXPECT_FALSE(percent_decode(kText.substr(0, 2)).has_value());
}

TEST(Uri, EncodesAllButTheUnreservedCharacters) {
  EXPECT_EQ(percent_encode("AZaz09-_.~", Slash::encode), "AZaz09-_.~");
  EXPECT_EQ(percent_encode("a b+c/d*\xc3\xa4", Slash::encode), "a%20b%2Bc%2Fd%2A%C3%A4");
  EXPECT_EQ(percent_encode("a/b c", Slash::keep), "a/b%20c");
}

TEST(Uri, EveryByteComesBack) {
  std::string all;
  for (int c = 0; c < 256; ++c)
    all.push_back(static_cast<char>(c));
  EXPECT_EQ(percent_decode(percent_encode(all, Slash::encode)).value(), all);
  EXPECT_EQ(percent_decode(percent_encode(all, Slash::keep)).value(), all);
}

TEST(Uri, ParsesQueriesAsClientsSendThem) {
  EXPECT_EQ(parse_query("").value(), Pairs{});
  EXPECT_EQ(parse_query("uploads").value(), (Pairs{{"uploads", ""}}));
  EXPECT_EQ(parse_query("uploads=").value(), (Pairs{{"uploads", ""}}));
  EXPECT_EQ(parse_query("a=1&b=2%263&a=3").value(), (Pairs{{"a", "1"}, {"b", "2&3"}, {"a", "3"}}));
  EXPECT_EQ(parse_query("a=b=c").value(), (Pairs{{"a", "b=c"}}));
  EXPECT_EQ(parse_query("a%3Db=c+d").value(), (Pairs{{"a=b", "c+d"}}));
  EXPECT_EQ(parse_query("&&a&&").value(), (Pairs{{"a", ""}}));
  EXPECT_EQ(parse_query("=v").value(), (Pairs{{"", "v"}}));
  EXPECT_EQ(parse_query("a?b").value(), (Pairs{{"a?b", ""}}));
}

TEST(Uri, RefusesBadEscapesInQueries) {
  EXPECT_FALSE(parse_query("a=%").has_value());
  EXPECT_FALSE(parse_query("%x=1").has_value());
}

TEST(Uri, BoundsTheNumberOfPairs) {
  EXPECT_EQ(parse_query("a&b", 2).value().size(), 2u);
  EXPECT_EQ(parse_query("a&b&", 2).value().size(), 2u);
  EXPECT_EQ(parse_query("a&b&c", 2).error().code(), Errc::bad_request);
}

}  // namespace
}  // namespace leat::http1
