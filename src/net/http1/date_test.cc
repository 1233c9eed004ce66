#include "http1/date.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string_view>

namespace leat::http1 {
namespace {

using std::chrono::seconds;

WallTime at(std::int64_t unix_seconds) {
  return WallTime(seconds(unix_seconds));
}

TEST(Date, WritesImfFixdates) {
  EXPECT_EQ(DateText(at(784111777)).text(), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(DateText(at(0)).text(), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(DateText(at(1709251199)).text(), "Thu, 29 Feb 2024 23:59:59 GMT");
  EXPECT_EQ(DateText(at(-1)).text(), "Wed, 31 Dec 1969 23:59:59 GMT");
}

TEST(Date, CutsToTheSecondEvenBeforeTheEpoch) {
  EXPECT_EQ(DateText(at(784111777) + std::chrono::milliseconds(999)).text(),
            "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(DateText(at(0) - std::chrono::nanoseconds(1)).text(), "Wed, 31 Dec 1969 23:59:59 GMT");
}

TEST(Date, ReadsAllThreeForms) {
  for (const std::string_view text :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(parse_date(text), at(784111777)) << text;
  }
  EXPECT_EQ(parse_date("Wed Nov 16 08:49:37 1994"), at(784111777 + 10 * 86400));
}

TEST(Date, ReadsBackWhatItWrites) {
  for (std::int64_t t = -2'000'000'000; t < 9'000'000'000; t += 86'399'977) {
    EXPECT_EQ(parse_date(DateText(at(t)).text()), at(t)) << t;
  }
}

TEST(Date, RefusesWhatIsNoDate) {
  for (const std::string_view text : {"",
                                      "0",
                                      "now",
                                      "Sun, 06 Nov 1994 08:49:37",
                                      "Sun, 06 Nov 1994 08:49:37 UTC",
                                      "Sun, 06 Nov 1994 08:49:37 GMT ",
                                      " Sun, 06 Nov 1994 08:49:37 GMT",
                                      "Sun, 6 Nov 1994 08:49:37 GMT",
                                      "Sun, 31 Feb 1994 08:49:37 GMT",
                                      "Sun, 29 Feb 2023 08:49:37 GMT",
                                      "Sun, 00 Nov 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 1994 24:49:37 GMT",
                                      "Sun, 06 Nov 1994 08:60:37 GMT",
                                      "Sun, 06 Nov 1994 08:49:61 GMT",
                                      "Sun, 06 nov 1994 08:49:37 GMT",
                                      "Son, 06 Nov 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 19x4 08:49:37 GMT",
                                      "Sunday, 06-Nov-1994 08:49:37 GMT",
                                      "Sun Nov 06 08:49:37 19",
                                      "1994-11-06T08:49:37Z"}) {
    EXPECT_EQ(parse_date(text), std::nullopt) << text;
  }
}

TEST(Date, PlacesYearsOfTwoDigitsAroundTheYear2000) {
  EXPECT_EQ(parse_date("Thursday, 01-Jan-70 00:00:00 GMT"), at(0));
  EXPECT_EQ(parse_date("Tuesday, 01-Jan-69 00:00:00 GMT"), at(3124224000));
}

TEST(Date, ClampsWhatWallTimeCannotHold) {
  EXPECT_EQ(parse_date("Fri, 31 Dec 9999 23:59:59 GMT"),
            WallTime(std::chrono::floor<seconds>(WallTime::max())));
  EXPECT_EQ(parse_date("Mon, 01 Jan 0001 00:00:00 GMT"),
            WallTime(std::chrono::ceil<seconds>(WallTime::min())));
}

TEST(Date, CountsALeapSecondAsTheNextMinute) {
  EXPECT_EQ(parse_date("Sat, 31 Dec 2016 23:59:60 GMT"),
            parse_date("Sun, 01 Jan 2017 00:00:00 GMT"));
}

}  // namespace
}  // namespace leat::http1
