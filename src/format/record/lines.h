// The lines of the small text files that a disk carries: a name, a space, a value, and a checksum
// of everything before it in the last line.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "record/types.h"

namespace leat::record {

// All of `text` is one number.
template <class T>
bool parse_number(std::string_view text, T& value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

bool parse_id(std::string_view text, DiskId& id);

// Takes the next line off and gives its value; empty, and nothing taken, if it does not begin with
// `name` and a space.
std::string_view take_line(std::string_view& text, std::string_view name);

std::string with_sum(std::string text);
// What is left of `text`, `rest`, is the right checksum of what stands before it, and nothing more.
bool ends_in_sum(std::string_view text, std::string_view rest);

}  // namespace leat::record
