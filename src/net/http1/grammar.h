// The character classes and small words of HTTP/1.1 (RFC 9110 §5.6), shared by every part of http1.
//
// All functions are pure, never allocate and know no locale: bytes above 0x7f are never letters.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace leat::http1 {

namespace char_class {
constexpr std::uint8_t kToken = 1;    // tchar: methods and field names
constexpr std::uint8_t kTarget = 2;   // printable ASCII without '#': request targets
constexpr std::uint8_t kHost = 4;     // letters, digits, '-', '.', '_': host names
constexpr std::uint8_t kControl = 8;  // 0x00–0x1f without HTAB, and DEL: never legal in a line

consteval std::array<std::uint8_t, 256> make_table() {
  constexpr std::string_view kTokenMarks = "!#$%&'*+-.^_`|~";
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 0; c < 256; ++c) {
    const char as_char = static_cast<char>(c);
    const bool alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    std::uint8_t bits = 0;
    if (alnum || kTokenMarks.contains(as_char)) bits |= kToken;
    if (c > 0x20 && c < 0x7f && c != '#') bits |= kTarget;
    if (alnum || c == '-' || c == '.' || c == '_') bits |= kHost;
    if ((c < 0x20 && c != '\t') || c == 0x7f) bits |= kControl;
    table[c] = bits;
  }
  return table;
}
inline constexpr std::array<std::uint8_t, 256> kTable = make_table();
}  // namespace char_class

constexpr bool has_class(char c, std::uint8_t wanted) {
  return (char_class::kTable[static_cast<unsigned char>(c)] & wanted) != 0;
}
constexpr bool is_token_char(char c) {
  return has_class(c, char_class::kToken);
}
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_ows(char c) {
  return c == ' ' || c == '\t';
}
constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

// 0–15, or nothing if `c` is no hexadecimal digit.
constexpr std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

// True if every byte of `text` belongs to `wanted`; true for an empty text.
constexpr bool all_of_class(std::string_view text, std::uint8_t wanted) {
  for (const char c : text) {
    if (!has_class(c, wanted)) return false;
  }
  return true;
}

constexpr bool is_token(std::string_view text) {
  return !text.empty() && all_of_class(text, char_class::kToken);
}

constexpr std::string_view trim_ows(std::string_view text) {
  while (!text.empty() && is_ows(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_ows(text.back()))
    text.remove_suffix(1);
  return text;
}

constexpr bool equals_ignore_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (to_lower(a[i]) != to_lower(b[i])) return false;
  }
  return true;
}

// 1*DIGIT that fits 64 bits: no sign, no space, no list.
std::optional<std::uint64_t> parse_decimal(std::string_view text);

// Where in `text` at or after `from` the first control byte (other than HTAB) stands; text.size()
// if there is none. Sixteen bytes a step where the processor can.
std::size_t find_control(std::string_view text, std::size_t from);

// "name", "name:80", "[::1]", "[::1]:80". Names are letters, digits, '-', '.' and '_'; user
// information, percent escapes and an empty name or port are refused.
bool is_host(std::string_view text);

// Calls `visit` with each non-empty element of a comma-separated list, trimmed.
template <class Visit>
void for_each_element(std::string_view list, Visit visit) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view element = trim_ows(list.substr(0, comma));
    if (!element.empty()) visit(element);
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace leat::http1
