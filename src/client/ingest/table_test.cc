#include "ingest/table.h"

#include <gtest/gtest.h>

namespace leat::ingest {
namespace {

using Rows = std::vector<std::vector<std::string>>;

TEST(Table, CommasQuotesAndLineEndsAreReadAsRfc4180Says) {
  const auto table = parse_separated(
      "\xEF\xBB\xBFpath,label\r\na.jpg,1\n\"b, \"\"c\"\".jpg\",\"two\nlines\"\n", ',');
  ASSERT_TRUE(table);
  EXPECT_EQ(table->columns, (std::vector<std::string>{"path", "label"}));
  EXPECT_EQ(table->rows, (Rows{{"a.jpg", "1"}, {"b, \"c\".jpg", "two\nlines"}}));
}

TEST(Table, ABadRowIsToldWithItsLine) {
  EXPECT_EQ(parse_separated("a,b\n1,2\n3\n", ',').error().detail(),
            "line 3: 1 columns, but the first line has 2");
  EXPECT_EQ(parse_separated("a\n\"x\n", ',').error().detail(), "line 2: a quote is not closed");
  EXPECT_EQ(parse_separated("a\n\"x\"y\n", ',').error().detail(), "line 2: text behind a quote");
  EXPECT_FALSE(parse_separated("", ','));
}

TEST(Table, JsonLinesMayHaveColumnsThatOthersLack) {
  const auto table = parse_json_lines("{\"path\": \"a\"}\n\n{\"n\": 2, \"path\": \"b\"}\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->columns, (std::vector<std::string>{"path", "n"}));
  EXPECT_EQ(table->rows, (Rows{{"a", ""}, {"b", "2"}}));
  EXPECT_EQ(parse_json_lines("{}\n[1]\n").error().detail(), "line 2: no JSON object");
}

TEST(Table, AListIsByLinesOrByZeroBytes) {
  EXPECT_EQ(parse_list("a\r\n\nb c\n"), (std::vector<std::string>{"a", "b c"}));
  EXPECT_EQ(parse_list(std::string_view("a\nb\0c\0", 6)), (std::vector<std::string>{"a\nb", "c"}));
}

TEST(Table, NamesStayBelowTheirRoot) {
  EXPECT_EQ(name_below("/r", "./a//b.jpg").value(), "a/b.jpg");
  EXPECT_EQ(name_below("/r", "/r/a.jpg").value(), "a.jpg");
  EXPECT_FALSE(name_below("/r", "/rest/a.jpg"));
  EXPECT_FALSE(name_below("/r", "../a.jpg"));
  EXPECT_FALSE(name_below("/r", "a/../../b.jpg"));
  EXPECT_FALSE(name_below("/r", "."));
}

}  // namespace
}  // namespace leat::ingest
