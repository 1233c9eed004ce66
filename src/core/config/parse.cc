#include "config/parse.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>
#include <utility>

#include "base/bytes.h"

namespace leat::config {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr auto kByteUnits = std::to_array<Unit>({{"", 1},
                                                 {"B", 1},
                                                 {"KiB", kKiB},
                                                 {"MiB", kMiB},
                                                 {"GiB", kGiB},
                                                 {"TiB", 1024 * kGiB},
                                                 {"kB", 1'000},
                                                 {"KB", 1'000},
                                                 {"MB", 1'000'000},
                                                 {"GB", 1'000'000'000},
                                                 {"TB", 1'000'000'000'000}});

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr auto kTimeUnits = std::to_array<Unit>({{"ns", 1},
                                                 {"us", 1'000},
                                                 {"ms", 1'000'000},
                                                 {"s", kSecond},
                                                 {"m", 60 * kSecond},
                                                 {"h", 3'600 * kSecond},
                                                 {"d", 86'400 * kSecond}});

// A whole number followed by one of `units`, in units of the smallest.
Result<std::uint64_t> parse_quantity(std::string_view text, std::span<const Unit> units,
                                     std::uint64_t max, std::string_view expectation) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  if (problem == std::errc::result_out_of_range) return fail(Errc::bad_request, "too large");
  const auto unit = std::ranges::find(units, std::string_view(rest, end), &Unit::name);
  if (problem != std::errc{} || unit == units.end()) {
    return fail(Errc::bad_request, std::string(expectation));
  }
  if (number > max / unit->factor) return fail(Errc::bad_request, "too large");
  return number * unit->factor;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

template <class T>
Result<Value> as_value(Result<T> parsed) {
  if (!parsed) return fail(std::move(parsed).error());
  return Value(*std::move(parsed));
}

}  // namespace

Result<Value> parse_value(Kind kind, std::string_view text) {
  switch (kind) {
    case Kind::text: return Value(std::string(text));
    case Kind::integer: return as_value(parse_integer(text));
    case Kind::boolean: return as_value(parse_boolean(text));
    case Kind::bytes: return as_value(parse_bytes(text));
    case Kind::duration: return as_value(parse_duration(text));
    case Kind::list: return as_value(parse_list(text));
  }
  std::unreachable();
}

Result<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  if (problem == std::errc::result_out_of_range) {
    return fail(Errc::bad_request, "does not fit into 64 bits");
  }
  if (problem != std::errc{} || rest != end) {
    return fail(Errc::bad_request, "expected a whole number");
  }
  return number;
}

Result<bool> parse_boolean(std::string_view text) {
  constexpr std::array<std::string_view, 4> kTrue = {"true", "yes", "on", "1"};
  constexpr std::array<std::string_view, 4> kFalse = {"false", "no", "off", "0"};
  if (std::ranges::find(kTrue, text) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, text) != kFalse.end()) return false;
  return fail(Errc::bad_request, "expected true or false");
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  return parse_quantity(text, kByteUnits, std::numeric_limits<std::uint64_t>::max(),
                        "expected a size such as 512, 64KiB or 10MB");
}

Result<Duration> parse_duration(std::string_view text) {
  LEAT_TRY(const std::uint64_t count,
           parse_quantity(text, kTimeUnits, std::numeric_limits<std::int64_t>::max(),
                          "expected a duration such as 250ms, 30s or 5m"));
  return Duration(static_cast<std::int64_t>(count));
}

Result<std::vector<std::string>> parse_list(std::string_view text) {
  std::vector<std::string> items;
  if (trimmed(text).empty()) return items;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view item = trimmed(text.substr(0, comma));
    if (item.empty())
      return fail(Errc::bad_request, "expected an item on both sides of each comma");
    items.emplace_back(item);
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace leat::config
