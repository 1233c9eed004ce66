#include "http1/range.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>

namespace leat::http1 {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
constexpr RangeChoice kWhole{};
constexpr RangeChoice kUnsatisfiable{.kind = RangeChoice::Kind::unsatisfiable};

RangeChoice part(std::uint64_t first, std::uint64_t last) {
  return {.kind = RangeChoice::Kind::part, .first = first, .last = last};
}

TEST(Range, ServesOneRangeClampedToTheObject) {
  EXPECT_EQ(parse_range("bytes=0-0", 10), part(0, 0));
  EXPECT_EQ(parse_range("bytes=2-5", 10), part(2, 5));
  EXPECT_EQ(parse_range("bytes=5-", 10), part(5, 9));
  EXPECT_EQ(parse_range("bytes=5-500", 10), part(5, 9));
  EXPECT_EQ(parse_range("bytes=-3", 10), part(7, 9));
  EXPECT_EQ(parse_range("bytes=-30", 10), part(0, 9));
  EXPECT_EQ(parse_range("BYTES=0-1", 10), part(0, 1));
  EXPECT_EQ(parse_range("bytes=0001-0002", 10), part(1, 2));
}

TEST(Range, IgnoresWhatItDoesNotServe) {
  for (const std::string_view header :
       {"", "bytes", "bytes=", "bytes=-", "bytes=5", "items=0-1", "bytes=5-4", "bytes= 0-1",
        "bytes =0-1", "bytes=0 -1", "bytes=+0-1", "bytes=0--1", "bytes=--1", "bytes=a-b",
        "bytes=0x1-0x2", "bytes=0-1;", "0-1"}) {
    EXPECT_EQ(parse_range(header, 10), kWhole) << header;
  }
}

TEST(Range, Abuse33SeveralRangesAreTheWholeObjectHoweverMany) {
  EXPECT_EQ(parse_range("bytes=0-1,3-4", 10), kWhole);
  EXPECT_EQ(parse_range("bytes=0-1,", 10), kWhole);
  EXPECT_EQ(parse_range("bytes=,0-1", 10), kWhole);
  EXPECT_EQ(parse_range("bytes=-1,-2", 10), kWhole);
  EXPECT_EQ(parse_range("bytes=5-,0-", 10), kWhole);
  std::string many = "bytes=0-";
  for (int i = 0; i < 1000; ++i)
    many += ",0-";
  EXPECT_EQ(parse_range(many, 10), kWhole);
}

TEST(Range, Abuse33WhatStartsBehindTheObjectIsUnsatisfiable) {
  EXPECT_EQ(parse_range("bytes=10-", 10), kUnsatisfiable);
  EXPECT_EQ(parse_range("bytes=10-20", 10), kUnsatisfiable);
  EXPECT_EQ(parse_range("bytes=-0", 10), kUnsatisfiable);
  EXPECT_EQ(parse_range("bytes=0-", 0), kUnsatisfiable);
  EXPECT_EQ(parse_range("bytes=0-0", 0), kUnsatisfiable);
  EXPECT_EQ(parse_range("bytes=-1", 0), kUnsatisfiable);
  EXPECT_EQ(parse_range("bytes=-0", 0), kUnsatisfiable);
}

TEST(Range, Abuse33NumbersBeyondSixtyFourBitsSaturate) {
  EXPECT_EQ(parse_range("bytes=3-18446744073709551614", 10), part(3, 9));
  EXPECT_EQ(parse_range("bytes=3-18446744073709551615", 10), part(3, 9));
  EXPECT_EQ(parse_range("bytes=3-18446744073709551616", 10), part(3, 9));
  EXPECT_EQ(parse_range("bytes=3-" + std::string(1000, '9'), 10), part(3, 9));
  EXPECT_EQ(parse_range("bytes=-18446744073709551616", 10), part(0, 9));
  EXPECT_EQ(parse_range("bytes=18446744073709551616-", 10), kUnsatisfiable);
  EXPECT_EQ(parse_range("bytes=18446744073709551616-", kMax), kUnsatisfiable);
  EXPECT_EQ(parse_range("bytes=18446744073709551614-", kMax), part(kMax - 1, kMax - 1));
  EXPECT_EQ(parse_range("bytes=-" + std::string(30, '9'), kMax), part(0, kMax - 1));
}

TEST(Range, WritesContentRange) {
  std::string out = "|";
  append_content_range(out, part(0, 4), 10);
  EXPECT_EQ(out, "|bytes 0-4/10");
  out.clear();
  append_content_range(out, kUnsatisfiable, kMax);
  EXPECT_EQ(out, "bytes */18446744073709551615");
}

}  // namespace
}  // namespace leat::http1
