#include "config/parse.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace leat::config {
namespace {

using namespace std::chrono_literals;

template <class T>
std::string problem(const Result<T>& result) {
  return result ? "none" : std::string(result.error().detail());
}

TEST(ParseInteger, TakesTheWholeRangeAndNothingElse) {
  EXPECT_EQ(parse_integer("0").value(), 0);
  EXPECT_EQ(parse_integer("-9223372036854775808").value(),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_integer("9223372036854775807").value(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(problem(parse_integer("9223372036854775808")), "does not fit into 64 bits");
  for (const char* nonsense : {"", " 1", "1 ", "1.5", "0x10", "+1", "--1", "twelve", "1e3"}) {
    EXPECT_EQ(problem(parse_integer(nonsense)), "expected a whole number") << nonsense;
  }
}

TEST(ParseBoolean, TakesTheUsualWords) {
  for (const char* word : {"true", "yes", "on", "1"}) {
    EXPECT_TRUE(parse_boolean(word).value()) << word;
  }
  for (const char* word : {"false", "no", "off", "0"}) {
    EXPECT_FALSE(parse_boolean(word).value()) << word;
  }
  for (const char* nonsense : {"", "True", "2", "maybe", "true "}) {
    EXPECT_EQ(problem(parse_boolean(nonsense)), "expected true or false") << nonsense;
  }
}

TEST(ParseBytes, KnowsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("0").value(), 0U);
  EXPECT_EQ(parse_bytes("512").value(), 512U);
  EXPECT_EQ(parse_bytes("512B").value(), 512U);
  EXPECT_EQ(parse_bytes("64KiB").value(), 65'536U);
  EXPECT_EQ(parse_bytes("3MiB").value(), 3'145'728U);
  EXPECT_EQ(parse_bytes("2GiB").value(), 2'147'483'648U);
  EXPECT_EQ(parse_bytes("1TiB").value(), 1'099'511'627'776U);
  EXPECT_EQ(parse_bytes("5kB").value(), 5'000U);
  EXPECT_EQ(parse_bytes("5KB").value(), 5'000U);
  EXPECT_EQ(parse_bytes("10MB").value(), 10'000'000U);
  EXPECT_EQ(parse_bytes("1GB").value(), 1'000'000'000U);
  EXPECT_EQ(parse_bytes("1TB").value(), 1'000'000'000'000U);
  EXPECT_EQ(parse_bytes("18446744073709551615").value(), std::numeric_limits<std::uint64_t>::max());
}

TEST(ParseBytes, RefusesOverflowAndNonsense) {
  EXPECT_EQ(problem(parse_bytes("18446744073709551616")), "too large");
  EXPECT_EQ(problem(parse_bytes("16777216TiB")), "too large");
  EXPECT_EQ(parse_bytes("16777215TiB").value(), 16'777'215ULL << 40U);
  for (const char* nonsense : {"", "KiB", "64K", "64kib", "64 KiB", "-1", "1.5GiB", "64KiBx"}) {
    EXPECT_EQ(problem(parse_bytes(nonsense)), "expected a size such as 512, 64KiB or 10MB")
        << nonsense;
  }
}

TEST(ParseDuration, RequiresAUnit) {
  EXPECT_EQ(parse_duration("7ns").value(), 7ns);
  EXPECT_EQ(parse_duration("7us").value(), 7us);
  EXPECT_EQ(parse_duration("250ms").value(), 250ms);
  EXPECT_EQ(parse_duration("0s").value(), 0s);
  EXPECT_EQ(parse_duration("30s").value(), 30s);
  EXPECT_EQ(parse_duration("5m").value(), 5min);
  EXPECT_EQ(parse_duration("2h").value(), 2h);
  EXPECT_EQ(parse_duration("1d").value(), 24h);
  for (const char* nonsense : {"", "s", "30", "30 s", "30sec", "-1s", "1.5s", "1h30m"}) {
    EXPECT_EQ(problem(parse_duration(nonsense)), "expected a duration such as 250ms, 30s or 5m")
        << nonsense;
  }
}

TEST(ParseDuration, RefusesOverflow) {
  EXPECT_EQ(parse_duration("9223372036854775807ns").value(), Duration::max());
  EXPECT_EQ(problem(parse_duration("9223372036854775808ns")), "too large");
  EXPECT_EQ(problem(parse_duration("99999999999999999999s")), "too large");
  EXPECT_EQ(problem(parse_duration("106752d")), "too large");
  EXPECT_TRUE(parse_duration("106751d").has_value());
}

TEST(ParseList, SplitsAtCommasAndTrims) {
  EXPECT_EQ(parse_list("").value(), std::vector<std::string>{});
  EXPECT_EQ(parse_list("  ").value(), std::vector<std::string>{});
  EXPECT_EQ(parse_list("a").value(), std::vector<std::string>{"a"});
  EXPECT_EQ(parse_list("/d 1, /d2 ,c").value(), (std::vector<std::string>{"/d 1", "/d2", "c"}));
  for (const char* nonsense : {",", "a,", ",a", "a,,b", "a, ,b"}) {
    EXPECT_EQ(problem(parse_list(nonsense)), "expected an item on both sides of each comma")
        << nonsense;
  }
}

TEST(ParseValue, GivesTheAlternativeOfTheKind) {
  const std::vector<std::string> samples = {"x", "1", "on", "1KiB", "1s", "a,b"};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(parse_value(static_cast<Kind>(i), samples[i]).value().index(), i);
  }
}

}  // namespace
}  // namespace leat::config
