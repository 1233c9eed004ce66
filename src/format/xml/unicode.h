// One code point of UTF-8 at a time, strictly: no overlong forms, no surrogates, nothing above
// U+10FFFF. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace leat::xml {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t size = 0;  // in bytes; 0 if the text does not start with a code point
};

// The code point that `text` starts with.
CodePoint first_code_point(std::string_view text);

// Whether all of it is code points.
bool is_utf8(std::string_view text);

// What a document of XML 1.0 may contain: no control characters but tab, LF and CR, no surrogates,
// not U+FFFE and U+FFFF.
constexpr bool is_xml_char(std::uint32_t value) {
  if (value < 0x20) return value == '\t' || value == '\n' || value == '\r';
  return value < 0xd800 || (value >= 0xe000 && value < 0xfffe) ||
         (value >= 0x10000 && value <= 0x10ffff);
}

}  // namespace leat::xml
