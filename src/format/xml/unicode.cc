#include "xml/unicode.h"

namespace leat::xml {

CodePoint first_code_point(std::string_view text) {
  if (text.empty()) return {};
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {.value = lead, .size = 1};

  std::size_t size = 0;
  std::uint32_t smallest = 0;  // what needs this many bytes; below it the form is overlong
  if (lead >= 0xc0 && lead < 0xe0) {
    size = 2;
    smallest = 0x80;
  } else if (lead >= 0xe0 && lead < 0xf0) {
    size = 3;
    smallest = 0x800;
  } else if (lead >= 0xf0 && lead < 0xf8) {
    size = 4;
    smallest = 0x10000;
  }
  if (size == 0 || text.size() < size) return {};

  std::uint32_t value = lead & (0x7fU >> size);
  for (std::size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(at) & 0x3fU);
  }
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  if (value < smallest || value > 0x10ffff || surrogate) return {};
  return {.value = value, .size = size};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = first_code_point(text).size;
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace leat::xml
