// Columns: short tables for people and for pipes.
//
// A terminal gets a heading and aligned columns; a pipe gets tabs, no heading and one line for each
// row, whatever is in it, as cut(1) and awk(1) like it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leat::programs {

struct Column {
  std::string_view heading;  // none, if all of them are empty
  bool is_number = false;    // to the right
};

// The table, with the end of its last line.
// Requires: each row has a text for each column.
std::string columns_text(std::span<const Column> columns,
                         const std::vector<std::vector<std::string>>& rows, bool is_terminal);

}  // namespace leat::programs
