#include "http1/date.h"

#include <algorithm>
#include <chrono>

#include "http1/grammar.h"

namespace leat::http1 {
namespace {

using std::chrono::days;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// Reads a date from the left; the first thing that does not fit spoils all that follows.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  void literal(std::string_view expected) {
    ok_ = ok_ && rest_.starts_with(expected);
    if (ok_) rest_.remove_prefix(expected.size());
  }

  // Exactly `digits` digits; a space stands for a leading zero where `padded`.
  int number(std::size_t digits, bool padded = false) {
    ok_ = ok_ && rest_.size() >= digits;
    if (!ok_) return 0;
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const char c = rest_[i];
      if (padded && i == 0 && c == ' ') continue;
      ok_ = ok_ && is_digit(c);
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }

  // Skips one of the names of days, cut to `length` letters (0: whole).
  void day_name(std::size_t length) {
    for (const std::string_view day : kDays) {
      const std::string_view name = length == 0 ? day : day.substr(0, length);
      if (rest_.starts_with(name)) {
        rest_.remove_prefix(name.size());
        return;
      }
    }
    ok_ = false;
  }

  unsigned month() {
    const auto found = std::ranges::find(kMonths, rest_.substr(0, 3));
    ok_ = ok_ && found != kMonths.end();
    if (!ok_) return 0;
    rest_.remove_prefix(3);
    return static_cast<unsigned>(found - kMonths.begin()) + 1;
  }

  bool at_good_end() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

struct Parts {
  int year = 0;
  unsigned month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

void read_clock(Cursor& cursor, Parts& parts) {
  parts.hour = cursor.number(2);
  cursor.literal(":");
  parts.minute = cursor.number(2);
  cursor.literal(":");
  parts.second = cursor.number(2);
}

bool read_fixdate(std::string_view text, Parts& parts) {
  Cursor cursor(text);
  cursor.day_name(3);
  cursor.literal(", ");
  parts.day = cursor.number(2);
  cursor.literal(" ");
  parts.month = cursor.month();
  cursor.literal(" ");
  parts.year = cursor.number(4);
  cursor.literal(" ");
  read_clock(cursor, parts);
  cursor.literal(" GMT");
  return cursor.at_good_end();
}

bool read_rfc850(std::string_view text, Parts& parts) {
  Cursor cursor(text);
  cursor.day_name(0);
  cursor.literal(", ");
  parts.day = cursor.number(2);
  cursor.literal("-");
  parts.month = cursor.month();
  cursor.literal("-");
  const int year = cursor.number(2);
  parts.year = year < 70 ? 2000 + year : 1900 + year;
  cursor.literal(" ");
  read_clock(cursor, parts);
  cursor.literal(" GMT");
  return cursor.at_good_end();
}

bool read_asctime(std::string_view text, Parts& parts) {
  Cursor cursor(text);
  cursor.day_name(3);
  cursor.literal(" ");
  parts.month = cursor.month();
  cursor.literal(" ");
  parts.day = cursor.number(2, /*padded=*/true);
  cursor.literal(" ");
  read_clock(cursor, parts);
  cursor.literal(" ");
  parts.year = cursor.number(4);
  return cursor.at_good_end();
}

std::optional<WallTime> to_time(const Parts& parts) {
  const std::chrono::year_month_day date(std::chrono::year(parts.year),
                                         std::chrono::month(parts.month),
                                         std::chrono::day(static_cast<unsigned>(parts.day)));
  // A leap second is legal and counted as the first second of the next minute.
  if (!date.ok() || parts.hour > 23 || parts.minute > 59 || parts.second > 60) return std::nullopt;
  const sys_seconds time = sys_days(date) + std::chrono::hours(parts.hour) +
                           std::chrono::minutes(parts.minute) + seconds(parts.second);
  constexpr auto kFirst = std::chrono::ceil<seconds>(WallTime::min());
  constexpr auto kLast = std::chrono::floor<seconds>(WallTime::max());
  return WallTime(std::clamp(time, kFirst, kLast));
}

void put(char* at, std::string_view text) {
  std::ranges::copy(text, at);
}

void put_two_digits(char* at, unsigned value) {
  at[0] = static_cast<char>('0' + value / 10);
  at[1] = static_cast<char>('0' + value % 10);
}

}  // namespace

DateText::DateText(WallTime time) {
  const auto whole = std::chrono::floor<seconds>(time);
  const auto day = std::chrono::floor<days>(whole);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(whole - day);
  const auto year = static_cast<unsigned>(static_cast<int>(date.year()));

  char* const at = text_.data();
  put(at, "Sun, 06 Nov 1994 08:49:37 GMT");
  put(at, kDays[std::chrono::weekday(day).c_encoding()].substr(0, 3));
  put_two_digits(at + 5, static_cast<unsigned>(date.day()));
  put(at + 8, kMonths[static_cast<unsigned>(date.month()) - 1]);
  put_two_digits(at + 12, year / 100);
  put_two_digits(at + 14, year % 100);
  put_two_digits(at + 17, static_cast<unsigned>(clock.hours().count()));
  put_two_digits(at + 20, static_cast<unsigned>(clock.minutes().count()));
  put_two_digits(at + 23, static_cast<unsigned>(clock.seconds().count()));
}

std::optional<WallTime> parse_date(std::string_view text) {
  Parts parts;
  if (read_fixdate(text, parts) || read_rfc850(text, parts) || read_asctime(text, parts)) {
    return to_time(parts);
  }
  return std::nullopt;
}

}  // namespace leat::http1
