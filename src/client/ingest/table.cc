#include "ingest/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace leat::ingest {
namespace {

// Reads one row after the other.
class Rows {
 public:
  Rows(std::string_view text, char separator) : text_(text), separator_(separator) {}

  bool is_at_end() const { return at_ == text_.size(); }
  std::size_t line() const { return line_; }

  Result<std::vector<std::string>> next() {
    std::vector<std::string> row;
    while (true) {
      LEAT_TRY(std::string field, next_field());
      row.push_back(std::move(field));
      if (is_at_end()) return row;
      const char end = text_[at_++];
      if (end == separator_) continue;
      if (end == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
      ++line_;
      return row;
    }
  }

 private:
  Result<std::string> next_field() {
    std::string field;
    if (at_ < text_.size() && text_[at_] == '"') return quoted_field();
    while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && !is_line_end())
      field += text_[at_++];
    return field;
  }

  bool is_line_end() const {
    return text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n';
  }

  Result<std::string> quoted_field() {
    const std::size_t opened = line_;
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] != '"') {
        if (text_[at_] == '\n') ++line_;
        field += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        field += text_[at_++];
      } else {
        ++at_;
        const bool ends =
            is_at_end() || text_[at_] == separator_ || text_[at_] == '\n' || is_line_end();
        if (!ends) {
          return fail(Errc::bad_request, fmt::format("line {}: text behind a quote", line_));
        }
        return field;
      }
    }
    return fail(Errc::bad_request, fmt::format("line {}: a quote is not closed", opened));
  }

  std::string_view text_;
  char separator_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

std::vector<std::string_view> lines_of(std::string_view text, char end) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find(end), text.size());
    std::string_view line = text.substr(0, at);
    if (end == '\n' && line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(at + 1, text.size()));
  }
  return lines;
}

}  // namespace

Result<Table> parse_separated(std::string_view text, char separator) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  Rows rows(text, separator);
  Table table;
  if (rows.is_at_end()) return fail(Errc::bad_request, "the table is empty");
  LEAT_TRY(table.columns, rows.next());
  while (!rows.is_at_end()) {
    const std::size_t line = rows.line();
    LEAT_TRY(auto row, rows.next());
    if (row.size() == 1 && row.front().empty()) continue;
    if (row.size() != table.columns.size()) {
      return fail(Errc::bad_request, fmt::format("line {}: {} columns, but the first line has {}",
                                                 line, row.size(), table.columns.size()));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Result<Table> parse_json_lines(std::string_view text) {
  Table table;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text, '\n')) {
    ++number;
    if (line.find_first_not_of(" \t") == line.npos) continue;
    const auto object = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) {
      return fail(Errc::bad_request, fmt::format("line {}: no JSON object", number));
    }
    std::vector<std::string> row(table.columns.size());
    for (const auto& [name, value] : object.items()) {
      const auto found = std::ranges::find(table.columns, name);
      const auto at = static_cast<std::size_t>(found - table.columns.begin());
      if (found == table.columns.end()) {
        table.columns.push_back(name);
        row.emplace_back();
      }
      row[at] = value.is_string() ? value.get<std::string>() : value.dump();
    }
    table.rows.push_back(std::move(row));
  }
  for (auto& row : table.rows)
    row.resize(table.columns.size());
  return table;
}

std::vector<std::string> parse_list(std::string_view text) {
  const char end = text.contains('\0') ? '\0' : '\n';
  std::vector<std::string> paths;
  for (const std::string_view line : lines_of(text, end)) {
    if (!line.empty()) paths.emplace_back(line);
  }
  return paths;
}

Result<std::string> name_below(std::string_view root, std::string_view path) {
  if (path.starts_with('/')) {
    if (!path.starts_with(root) ||
        (!root.ends_with('/') && path.size() > root.size() && path[root.size()] != '/')) {
      return fail(Errc::bad_request, fmt::format("it is not below {}", root));
    }
    path.remove_prefix(root.size());
  }
  std::string name;
  for (const std::string_view part : lines_of(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") return fail(Errc::bad_request, fmt::format("it is not below {}", root));
    if (!name.empty()) name += '/';
    name += part;
  }
  if (name.empty()) return fail(Errc::bad_request, "it names no file");
  return name;
}

}  // namespace leat::ingest
