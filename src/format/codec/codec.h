// Encoder and Decoder: numbers and strings to bytes and back, for everything Leat puts on a disk.
//
// Fixed numbers are little-endian. A varint takes 7 bits a byte, lowest first, the high bit saying
// that more follow: small numbers, which most are, take one byte. Text is a varint length and the
// bytes.
//
// Decoding never reads past its input and never throws. After the first mistake every further value
// is zero or empty, and status() says so: a caller decodes all fields, then asks once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace leat::codec {

// Lifetime: `out` outlives it.
class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}

  void u8(std::uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void u32(std::uint32_t value) { fixed(value, 4); }
  void u64(std::uint64_t value) { fixed(value, 8); }
  // Highest byte first, so that encoded numbers sort like numbers: for keys.
  void u32_sorted(std::uint32_t value) { sorted(value, 4); }
  void u64_sorted(std::uint64_t value) { sorted(value, 8); }
  void varint(std::uint64_t value);
  void raw(std::string_view bytes) { out_.append(bytes); }
  void text(std::string_view bytes);

  // Text inside a key, ended in such a way that encoded texts sort like the texts themselves.
  void text_sorted(std::string_view bytes);

 private:
  void fixed(std::uint64_t value, int bytes);
  void sorted(std::uint64_t value, int bytes);

  std::string& out_;
};

// Lifetime: the views it returns live as long as its input.
class Decoder {
 public:
  explicit Decoder(std::string_view input) : rest_(input) {}
  explicit Decoder(Bytes input) : rest_(as_text(input)) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(fixed(1)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(fixed(4)); }
  std::uint64_t u64() { return fixed(8); }
  std::uint32_t u32_sorted() { return static_cast<std::uint32_t>(sorted(4)); }
  std::uint64_t u64_sorted() { return sorted(8); }
  std::uint64_t varint();
  std::string_view raw(std::size_t bytes);
  std::string_view text();
  std::string text_sorted();

  std::string_view rest() const { return rest_; }
  bool failed() const { return failed_; }
  void set_failed();

  // Errors: corrupt, when something could not be decoded; `what` is named.
  Status status(std::string_view what) const;
  // The same, and nothing may be left.
  Status finish(std::string_view what) const;

 private:
  std::uint64_t fixed(std::size_t bytes);
  std::uint64_t sorted(std::size_t bytes);

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace leat::codec
