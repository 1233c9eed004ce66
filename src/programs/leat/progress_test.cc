#include "leat/progress.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace leat::programs {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Snapshot halfway() {
  return {.files_total = 2000,
          .bytes_total = 2 * kGiB,
          .files_done = 1000,
          .bytes_done = kGiB,
          .bytes_moved = kGiB,
          .is_planned = true};
}

TEST(Progress, ShowsBytesFilesTheirRatesAndTimeLeft) {
  Rates rates(Instant{});
  rates.look(halfway(), Instant(seconds(4)));
  const std::string line = progress_line(halfway(), rates, /*with_bar=*/true);
  EXPECT_EQ(line,
            "██████████░░░░░░░░░░  50%  1.0 GiB of 2.0 GiB  256 MiB/s  1,000 of 2,000 files  "
            "250 files/s  ETA 4s");
  EXPECT_TRUE(progress_line(halfway(), rates, /*with_bar=*/false).starts_with("50%  1.0 GiB"));
}

TEST(Progress, PromisesNothingWhileTheTotalsGrow) {
  Snapshot now = halfway();
  now.is_planned = false;
  now.files_failed = 2;
  Rates rates(Instant{});
  rates.look(now, Instant(seconds(4)));
  const std::string line = progress_line(now, rates, /*with_bar=*/true);
  EXPECT_EQ(line.find('%'), line.npos);
  EXPECT_EQ(line.find("ETA"), line.npos);
  EXPECT_NE(line.find("2.0 GiB+"), line.npos);
  EXPECT_NE(line.find("2 failed"), line.npos);
}

TEST(Progress, RatesFollowWhatHappensNow) {
  Rates rates(Instant{});
  Snapshot now;
  now.bytes_moved = 100 * kMiB;
  rates.look(now, Instant(seconds(1)));
  EXPECT_NEAR(rates.bytes_per_second(), 100.0 * kMiB, 1);
  for (int i = 1; i <= 300; ++i)
    rates.look(now, Instant(seconds(1) + i * milliseconds(100)));
  EXPECT_LT(rates.bytes_per_second(), 0.1 * kMiB) << "nothing has moved for half a minute";
}

TEST(Progress, TimesAndNumbersForPeople) {
  EXPECT_EQ(duration_text(seconds(8)), "8s");
  EXPECT_EQ(duration_text(seconds(185)), "3m05s");
  EXPECT_EQ(duration_text(seconds(3720)), "1h02m");
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(1281167), "1,281,167");
  EXPECT_EQ(number_text(999), "999");
}

}  // namespace
}  // namespace leat::programs
