// The values of a TOML text as a flat list with line numbers. Only toml.cc knows
// the TOML library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace leat::config {

enum class TomlType : std::uint8_t {
  text,
  integer,
  boolean,
  list,     // an array of strings
  section,  // a table with nothing in it; any other is known by its values
  other,    // what no setting can be: dates, fractions, mixed arrays
};

struct TomlEntry {
  std::string path;  // dotted
  std::size_t line;
  TomlType type;
  std::string text;                // of text, integer and boolean
  std::vector<std::string> items;  // of a list
};

// In the order of lines. `name` is the file's, for the message.
// Errors: bad_request, "leat.toml:3: …", when the text is not TOML.
Result<std::vector<TomlEntry>> read_toml(std::string_view text, std::string_view name);

}  // namespace leat::config
