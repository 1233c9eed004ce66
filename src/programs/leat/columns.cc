#include "leat/columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace leat::programs {
namespace {

using Row = std::vector<std::string>;

// Tabs and line ends inside a text would look like those between texts.
std::string in_one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string tabbed(const Row& row) {
  std::string line;
  for (const std::string& text : row)
    line += in_one_line(text) + '\t';
  line.back() = '\n';
  return line;
}

std::string aligned(std::span<const Column> columns, const std::vector<std::size_t>& widths,
                    const Row& row) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) line += "  ";
    line += columns[i].is_number ? fmt::format("{:>{}}", row[i], widths[i])
                                 : fmt::format("{:<{}}", row[i], widths[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string columns_text(std::span<const Column> columns, const std::vector<Row>& rows,
                         bool is_terminal) {
  std::string text;
  if (!is_terminal) {
    for (const Row& row : rows)
      text += tabbed(row);
    return text;
  }
  Row heading;
  std::vector<std::size_t> widths;
  for (const Column& column : columns) {
    heading.emplace_back(column.heading);
    widths.push_back(column.heading.size());
  }
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  }
  const bool has_heading =
      std::ranges::any_of(columns, [](const Column& column) { return !column.heading.empty(); });
  if (has_heading) text += aligned(columns, widths, heading);
  for (const Row& row : rows)
    text += aligned(columns, widths, row);
  return text;
}

}  // namespace leat::programs
