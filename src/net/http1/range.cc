#include "http1/range.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/check.h"
#include "http1/grammar.h"
#include "http1/head_writer.h"

namespace leat::http1 {
namespace {

constexpr std::string_view kUnit = "bytes=";
constexpr RangeChoice kWhole{};
constexpr RangeChoice kUnsatisfiable{.kind = RangeChoice::Kind::unsatisfiable};

// 1*DIGIT; what does not fit 64 bits is their largest number.
std::optional<std::uint64_t> parse_saturating(std::string_view text) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    value = value > (kMax - digit) / 10 ? kMax : value * 10 + digit;
  }
  return value;
}

// "-5": the last five bytes.
RangeChoice suffix(std::uint64_t length, std::uint64_t size) {
  if (length == 0 || size == 0) return kUnsatisfiable;
  return {
      .kind = RangeChoice::Kind::part, .first = size - std::min(length, size), .last = size - 1};
}

}  // namespace

RangeChoice parse_range(std::string_view header, std::uint64_t size) {
  if (!equals_ignore_case(header.substr(0, kUnit.size()), kUnit)) return kWhole;
  const std::string_view spec = header.substr(kUnit.size());
  const std::size_t dash = spec.find('-');
  if (dash == std::string_view::npos) return kWhole;
  const std::string_view first_text = spec.substr(0, dash);
  const std::string_view last_text = spec.substr(dash + 1);
  if (first_text.empty()) {
    const auto length = parse_saturating(last_text);
    return length ? suffix(*length, size) : kWhole;
  }
  const auto first = parse_saturating(first_text);
  const auto last =
      last_text.empty() ? std::numeric_limits<std::uint64_t>::max() : parse_saturating(last_text);
  if (!first || !last || *first > *last) return kWhole;
  if (*first >= size) return kUnsatisfiable;
  return {.kind = RangeChoice::Kind::part, .first = *first, .last = std::min(*last, size - 1)};
}

void append_content_range(std::string& out, const RangeChoice& range, std::uint64_t size) {
  LEAT_CHECK(range.kind != RangeChoice::Kind::whole);
  out.append("bytes ");
  if (range.kind == RangeChoice::Kind::part) {
    append_decimal(out, range.first);
    out.push_back('-');
    append_decimal(out, range.last);
  } else {
    out.push_back('*');
  }
  out.push_back('/');
  append_decimal(out, size);
}

}  // namespace leat::http1
