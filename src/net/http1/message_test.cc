#include "http1/message.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "http1/grammar.h"

namespace leat::http1 {
namespace {

HeaderBlock block_of(std::string_view text) {
  HeaderBlock block;
  block.clear();
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find("\r\n", begin);
    EXPECT_TRUE(block.add_line(text, {.begin = begin, .end = end}, 100).has_value());
    begin = end + 2;
  }
  block.bind(text);
  return block;
}

TEST(HeaderBlock, FindsEveryKnownHeaderInAnyCase) {
  constexpr std::array<std::string_view, kKnownHeaders> kNames = {
      "Authorization",  "Connection",
      "Content-Length", "Content-Type",
      "Expect",         "Host",
      "If-Match",       "If-Modified-Since",
      "If-None-Match",  "If-Unmodified-Since",
      "Range",          "Transfer-Encoding"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const Header header = static_cast<Header>(i);
    std::string upper(kNames[i]);
    for (char& c : upper) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
    }
    EXPECT_EQ(header_from(kNames[i]), header);
    EXPECT_EQ(header_from(upper), header);
    const std::string text = "X: 1\r\n" + upper + ": 2\r\n";
    const HeaderBlock block = block_of(text);
    EXPECT_EQ(block.find(header), "2") << kNames[i];
    EXPECT_EQ(block.find(kNames[i]), "2") << kNames[i];
    EXPECT_EQ(block.count(header), 1u);
  }
}

TEST(HeaderBlock, DoesNotMistakeANeighbourForAKnownHeader) {
  for (const std::string_view name :
       {"", "hosd", "ranges", "ranga", "content-lengti", "authorizatiom", "if-none-matcx",
        "transfer-encodinx", "connectiox", "x"}) {
    EXPECT_EQ(header_from(name), Header::other) << name;
  }
}

TEST(HeaderBlock, CountsAndVisitsRepeatedFieldsInOrder) {
  constexpr std::string_view kText =
      "A: 0\r\nConnection: 1\r\nB: x\r\ncONNECTION: 2\r\na: y\r\nConnection: 3\r\n";
  const HeaderBlock block = block_of(kText);
  EXPECT_EQ(block.count(Header::connection), 3u);
  EXPECT_EQ(block.count("connection"), 3u);
  EXPECT_EQ(block.count("a"), 2u);
  EXPECT_EQ(block.count("absent"), 0u);
  EXPECT_EQ(block.find("connection"), "1");
  std::vector<std::string_view> values;
  block.for_each(Header::connection, [&](std::string_view value) { values.push_back(value); });
  EXPECT_EQ(values, (std::vector<std::string_view>{"1", "2", "3"}));
  values.clear();
  block.for_each(Header::range, [&](std::string_view value) { values.push_back(value); });
  EXPECT_TRUE(values.empty());
}

TEST(HeaderBlock, IteratesInTheOrderSent) {
  constexpr std::string_view kText = "B: 1\r\na:  2 \r\n";
  std::string seen;
  const HeaderBlock block = block_of(kText);
  for (const HeaderField field : block) {
    seen.append(field.name).append("=").append(field.value).append(";");
  }
  EXPECT_EQ(seen, "B=1;a=2;");
}

TEST(Method, TextAndMethodAreInverse) {
  for (const Method method :
       {Method::get, Method::head, Method::put, Method::post, Method::delete_, Method::options}) {
    EXPECT_EQ(method_from(text_of(method)), method);
  }
  EXPECT_EQ(text_of(Method::other), "");
  EXPECT_EQ(method_from(""), Method::other);
}

TEST(Grammar, FindsAControlByteAtEveryPlaceOfALongText) {
  for (std::size_t size = 0; size < 70; ++size) {
    std::string text(size, '\t');
    EXPECT_EQ(find_control(text, 0), size);
    for (std::size_t at = 0; at < size; ++at) {
      for (const char c : {'\0', '\n', '\x1f', '\x7f'}) {
        text.assign(size, static_cast<char>(at % 2 == 0 ? 0xff : ' '));
        text[at] = c;
        ASSERT_EQ(find_control(text, 0), at);
        ASSERT_EQ(find_control(text, at), at);
        ASSERT_EQ(find_control(text, at + 1), size);
      }
    }
  }
}

}  // namespace
}  // namespace leat::http1
