// What requests and responses have in common: methods, versions and the block of header fields.
//
// A HeaderBlock copies no text. It keeps 16-bit offsets into the buffer the head was read into, so
// it takes about 1 KiB for 128 fields and survives a move of that buffer while the head is still
// arriving.
//
// Lifetime: the views it hands out live as long as the caller's buffer, unmoved, after the parse
// ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace leat::http1 {

// The methods Leat's protocols use. Any other token is legal grammar and becomes `other`: 501.
enum class Method : std::uint8_t { get, head, put, post, delete_, options, other };

// Methods are case-sensitive: "get" is Method::other.
Method method_from(std::string_view token);
// "GET"; empty for Method::other.
std::string_view text_of(Method method);

enum class Version : std::uint8_t { http10, http11 };

// Fields that are recognised while parsing, so that asking for them costs one array access.
enum class Header : std::uint8_t {
  authorization,
  connection,
  content_length,
  content_type,
  expect,
  host,
  if_match,
  if_modified_since,
  if_none_match,
  if_unmodified_since,
  range,
  transfer_encoding,
  other,
};
constexpr std::size_t kKnownHeaders = static_cast<std::size_t>(Header::other);

// Case-insensitive. Header::other for every name that is not in the list above.
Header header_from(std::string_view name);

struct HeaderField {
  std::string_view name;   // as it was sent
  std::string_view value;  // without the white space around it
};

// Where a line stands in its buffer: [begin, end), without its CRLF.
struct Line {
  std::size_t begin = 0;
  std::size_t end = 0;
};

class HeaderBlock {
 public:
  static constexpr std::size_t kCapacity = 128;
  static constexpr std::size_t kTextMax = 0xffff;  // offsets are 16 bits wide

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  HeaderField operator[](std::size_t index) const {
    const Slot& slot = slots_[index];
    return {{text_ + slot.name_begin, slot.name_size}, {text_ + slot.value_begin, slot.value_size}};
  }

  // The first field of that name. Names compare without case.
  std::optional<std::string_view> find(Header known) const;
  std::optional<std::string_view> find(std::string_view name) const;

  std::size_t count(Header known) const { return known_[index_of(known)].count; }
  std::size_t count(std::string_view name) const;

  // Calls `visit` with the value of every field of that name, in order.
  template <class Visit>
  void for_each(Header known, Visit visit) const {
    std::size_t left = count(known);
    for (std::size_t i = known_[index_of(known)].first; left != 0; ++i) {
      const HeaderField field = (*this)[i];
      if (i != known_[index_of(known)].first && header_from(field.name) != known) continue;
      visit(field.value);
      --left;
    }
  }

  class Iterator {
   public:
    Iterator(const HeaderBlock* block, std::size_t index) : block_(block), index_(index) {}
    HeaderField operator*() const { return (*block_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const HeaderBlock* block_;
    std::size_t index_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size_}; }

  // For parsers. A block is cleared, grows line by line and is bound to its buffer at the end.
  void clear();
  // Parses `line` of `text` as "name: value".
  // Requires: the line holds no control byte but HTAB (LineScanner sees to it); text.size() ≤
  // kTextMax.
  // Errors: bad_request (grammar), head_too_large (more than `fields_max` or kCapacity fields).
  Status add_line(std::string_view text, Line line, std::size_t fields_max);
  void bind(std::string_view text) { text_ = text.data(); }

 private:
  struct Slot {
    std::uint16_t name_begin;
    std::uint16_t name_size;
    std::uint16_t value_begin;
    std::uint16_t value_size;
  };
  struct Known {
    std::uint8_t first = 0;
    std::uint8_t count = 0;
  };
  static constexpr std::size_t index_of(Header known) { return static_cast<std::size_t>(known); }

  const char* text_ = nullptr;
  std::size_t size_ = 0;
  std::array<Known, kKnownHeaders + 1> known_{};
  std::array<Slot, kCapacity> slots_;  // only the first size_ ones are ever read
};

}  // namespace leat::http1
