// Tables as text: rows of columns from CSV, TSV and JSON Lines. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace leat::ingest {

struct Table {
  std::vector<std::string> columns{};
  std::vector<std::vector<std::string>> rows{};  // each as long as `columns`
};

// RFC 4180: fields may be quoted, with quotes doubled and line ends inside. The first row names the
// columns. Errors: bad_request, with the line, for a row of another length or an open quote.
Result<Table> parse_separated(std::string_view text, char separator);

// One JSON object a line; its members are the columns, those that are no text as JSON.
// Errors: bad_request, with the line.
Result<Table> parse_json_lines(std::string_view text);

// A list of paths: by zero bytes if there are any, else by lines. Empty ones are passed over.
std::vector<std::string> parse_list(std::string_view text);

// A path of a table or a list as the name of a member: relative to `root`, without "." and "..".
// Errors: bad_request, when it is not below the root.
Result<std::string> name_below(std::string_view root, std::string_view path);

}  // namespace leat::ingest
