#include "base/encoding.h"

#include <algorithm>
#include <array>

namespace leat {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> values_of(std::string_view digits) {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < digits.size(); ++i)
    values[static_cast<unsigned char>(digits[i])] = static_cast<std::uint8_t>(i);
  return values;
}

constexpr std::array<std::uint8_t, 256> hex_values() {
  auto values = values_of(kHexDigits);
  for (unsigned i = 10; i < 16; ++i)
    values['A' + i - 10] = static_cast<std::uint8_t>(i);
  return values;
}

constexpr auto kHexValues = hex_values();
constexpr auto kBase64Values = values_of(kBase64Digits);

unsigned value_of(char digit, const std::array<std::uint8_t, 256>& values) {
  return values[static_cast<unsigned char>(digit)];
}

}  // namespace

std::string to_hex(Bytes bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    text.push_back(kHexDigits[std::to_integer<unsigned>(byte >> 4)]);
    text.push_back(kHexDigits[std::to_integer<unsigned>(byte & std::byte{15})]);
  }
  return text;
}

std::optional<std::vector<std::byte>> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const unsigned high = value_of(text[at], kHexValues);
    const unsigned low = value_of(text[at + 1], kHexValues);
    if (high == kNoDigit || low == kNoDigit) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(high << 4 | low));
  }
  return bytes;
}

std::string to_base64(Bytes bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  while (!bytes.empty()) {
    const std::size_t taken = std::min<std::size_t>(bytes.size(), 3);
    unsigned group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < taken ? std::to_integer<unsigned>(bytes[i]) : 0);
    for (std::size_t i = 0; i < 4; ++i)
      text.push_back(i <= taken ? kBase64Digits[group >> (18 - 6 * i) & 63] : '=');
    bytes = bytes.subspan(taken);
  }
  return text;
}

std::optional<std::vector<std::byte>> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  unsigned group = 0;
  unsigned bits = 0;
  for (const char digit : text) {
    const unsigned value = value_of(digit, kBase64Values);
    if (value == kNoDigit) return std::nullopt;
    group = (group << 6 | value) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<std::byte>(group >> bits & 0xff));
  }
  if ((group & ((1U << bits) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace leat
