#include "codec/codec.h"

#include <fmt/format.h>

namespace leat::codec {
namespace {

// In sorted text a zero byte is followed by kZeroFollows, the end is a zero and kEndFollows: the
// end sorts before every continuation.
constexpr char kZeroFollows = '\xFF';
constexpr char kEndFollows = '\x01';

}  // namespace

void Encoder::fixed(std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    u8(static_cast<std::uint8_t>(value >> (8 * i)));
}

void Encoder::sorted(std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i)
    u8(static_cast<std::uint8_t>(value >> (8 * i)));
}

void Encoder::varint(std::uint64_t value) {
  while (value >= 0x80) {
    u8(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  u8(static_cast<std::uint8_t>(value));
}

void Encoder::text(std::string_view bytes) {
  varint(bytes.size());
  raw(bytes);
}

void Encoder::text_sorted(std::string_view bytes) {
  for (const char c : bytes) {
    out_.push_back(c);
    if (c == '\0') out_.push_back(kZeroFollows);
  }
  out_.push_back('\0');
  out_.push_back(kEndFollows);
}

void Decoder::set_failed() {
  failed_ = true;
  rest_ = {};
}

std::string_view Decoder::raw(std::size_t bytes) {
  if (bytes > rest_.size()) {
    set_failed();
    return {};
  }
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

std::uint64_t Decoder::fixed(std::size_t bytes) {
  const std::string_view taken = raw(bytes);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < taken.size(); ++i)
    value |= std::uint64_t{static_cast<unsigned char>(taken[i])} << (8 * i);
  return value;
}

std::uint64_t Decoder::sorted(std::size_t bytes) {
  std::uint64_t value = 0;
  for (const char c : raw(bytes))
    value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::uint64_t Decoder::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t byte = u8();
    if (failed_) return 0;
    const std::uint64_t bits = byte & 0x7FU;
    if (shift == 63 && bits > 1) break;  // does not fit 64 bits
    value |= bits << shift;
    if (byte < 0x80) return value;
  }
  set_failed();
  return 0;
}

std::string_view Decoder::text() {
  return raw(varint());
}

std::string Decoder::text_sorted() {
  std::string text;
  for (;;) {
    const std::string_view next = raw(1);
    if (failed_) return {};
    if (next[0] != '\0') {
      text.push_back(next[0]);
      continue;
    }
    const std::string_view follows = raw(1);
    if (failed_) return {};
    if (follows[0] == kEndFollows) return text;
    if (follows[0] != kZeroFollows) {
      set_failed();
      return {};
    }
    text.push_back('\0');
  }
}

Status Decoder::status(std::string_view what) const {
  if (failed_) return fail(Errc::corrupt, fmt::format("{} cannot be decoded", what));
  return {};
}

Status Decoder::finish(std::string_view what) const {
  LEAT_DO(status(what));
  if (!rest_.empty()) {
    return fail(Errc::corrupt, fmt::format("{} has {} bytes too many", what, rest_.size()));
  }
  return {};
}

}  // namespace leat::codec
