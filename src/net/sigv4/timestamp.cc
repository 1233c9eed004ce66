#include "sigv4/timestamp.h"

#include <fmt/format.h>

#include "http1/grammar.h"

namespace leat::sigv4 {
namespace {

constexpr std::size_t kSize = std::string_view("20130524T000000Z").size();

// The number in `size` digits of `text` from `begin` on; -1 if they are none.
int number_at(std::string_view text, std::size_t begin, std::size_t size) {
  const auto value = http1::parse_decimal(text.substr(begin, size));
  return value ? static_cast<int>(*value) : -1;
}

}  // namespace

std::string format_timestamp(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::optional<WallTime> parse_timestamp(std::string_view text) {
  if (text.size() != kSize || text[8] != 'T' || text[15] != 'Z') return std::nullopt;
  const int year = number_at(text, 0, 4);
  const int month = number_at(text, 4, 2);
  const int day = number_at(text, 6, 2);
  const int hour = number_at(text, 9, 2);
  const int minute = number_at(text, 11, 2);
  const int second = number_at(text, 13, 2);
  if (year < 1970 || year > 2199 || month < 1 || day < 1) return std::nullopt;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

}  // namespace leat::sigv4
