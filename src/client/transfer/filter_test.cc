#include "transfer/filter.h"

#include <gtest/gtest.h>

namespace leat::transfer {
namespace {

struct Case {
  std::string_view pattern;
  std::string_view name;
  bool matches;
};

constexpr Case kCases[] = {
    {"*.jpg", "a.jpg", true},
    {"*.jpg", "deep/er/a.jpg", true},
    {"*.jpg", "a.jpg.txt", false},
    {"*.jpg", "a.jpg/b", false},
    {"a*b*c", "aXbYc", true},
    {"a*b*c", "abcb", false},
    {"?.txt", "a.txt", true},
    {"?.txt", "ab.txt", false},
    {"?.txt", "ü.txt", true},
    {"[a-c]1", "b1", true},
    {"[a-c]1", "d1", false},
    {"[!a-c]1", "d1", true},
    {"[]x]", "]", true},
    {"[^x]", "/", false},
    {R"(\*)", "*", true},
    {R"(\*)", "a", false},
    {R"(a\)", R"(a\)", true},
    {"2026/*.jpg", "2026/a.jpg", true},
    {"2026/*.jpg", "2026/x/a.jpg", false},
    {"2026/*.jpg", "x/2026/a.jpg", false},
    {"2026/**", "2026/x/a.jpg", true},
    {"**/raw/*", "raw/a", true},
    {"**/raw/*", "x/y/raw/a", true},
    {"**/raw/*", "xraw/a", false},
    {"a/**/b", "a/b", true},
    {"a/**/b", "a/x/y/b", true},
    {"a/**/b", "a/xb", false},
    {"**", "a/b/c", true},
    {"/a.txt", "a.txt", true},
    {"/a.txt", "x/a.txt", false},
    {"cache/", "cache/a", true},
    {"cache/", "x/cache/y/a", true},
    {"cache/", "cache", false},
    {"cache/", "cache/", true},
    {"cache/", "mycache/a", false},
    {"x/cache/", "x/cache/a", true},
    {"x/cache/", "y/x/cache/a", false},
    {".*/", "a/.git/config", true},
    {"a", "a/", true},
};

TEST(Pattern, MeansWhatItsHeaderSays) {
  for (const Case& one : kCases) {
    const auto pattern = Pattern::parse(one.pattern);
    ASSERT_TRUE(pattern) << one.pattern;
    EXPECT_EQ(pattern->matches(one.name), one.matches) << one.pattern << " and " << one.name;
  }
}

TEST(Pattern, WhatIsNoneIsRefused) {
  for (const std::string_view text : {"", "/", "[a", "x[", "[]"}) {
    const auto pattern = Pattern::parse(text);
    ASSERT_FALSE(pattern) << text;
    EXPECT_EQ(pattern.error().code(), Errc::bad_request);
  }
}

TEST(Pattern, ManyStarsTakeNoLongTime) {
  const auto pattern = Pattern::parse("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b");
  ASSERT_TRUE(pattern);
  EXPECT_FALSE(pattern->matches(std::string(1000, 'a')));
}

TEST(NameFilter, TakesWhatIsIncludedAndNotExcluded) {
  EXPECT_TRUE(NameFilter().takes("anything"));
  const auto filter = NameFilter::make({"*.jpg", "*.cls"}, {"raw/", "0*"});
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter->takes("a.jpg"));
  EXPECT_TRUE(filter->takes("train/1.cls"));
  EXPECT_FALSE(filter->takes("a.txt"));
  EXPECT_FALSE(filter->takes("raw/a.jpg"));
  EXPECT_FALSE(filter->takes("train/01.jpg"));
  EXPECT_TRUE(NameFilter::make({}, {"*.tmp"})->takes("a"));
}

TEST(NameFilter, ABadPatternIsNamed) {
  const auto filter = NameFilter::make({}, {"[a"});
  ASSERT_FALSE(filter);
  EXPECT_NE(filter.error().detail().find("[a"), std::string_view::npos);
}

}  // namespace
}  // namespace leat::transfer
