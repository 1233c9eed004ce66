#include "config/toml.h"

#include <fmt/format.h>

// Errors as values like ours, and no code for writing TOML.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace leat::config {
namespace {

TomlEntry entry_of(std::string path, std::size_t line, const toml::node& node) {
  TomlEntry entry{std::move(path), line, TomlType::other, {}, {}};
  if (const auto* text = node.as_string()) {
    entry.type = TomlType::text;
    entry.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    entry.type = TomlType::integer;
    entry.text = fmt::to_string(integer->get());
  } else if (const auto* boolean = node.as_boolean()) {
    entry.type = TomlType::boolean;
    entry.text = boolean->get() ? "true" : "false";
  } else if (node.is_table()) {
    entry.type = TomlType::section;
  } else if (const auto* array = node.as_array();
             array != nullptr && (array->empty() || array->is_homogeneous<std::string>())) {
    entry.type = TomlType::list;
    for (const toml::node& item : *array) {
      entry.items.push_back(item.as_string()->get());
    }
  }
  return entry;
}

void flatten(const toml::table& table, const std::string& prefix, std::vector<TomlEntry>& out) {
  for (const auto& [key, node] : table) {
    std::string path = prefix + std::string(key.str());
    const toml::table* section = node.as_table();
    if (section != nullptr && !section->empty()) {
      flatten(*section, path + ".", out);
    } else {
      out.push_back(entry_of(std::move(path), key.source().begin.line, node));
    }
  }
}

}  // namespace

Result<std::vector<TomlEntry>> read_toml(std::string_view text, std::string_view name) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return fail(Errc::bad_request,
                fmt::format("{}:{}: {}", name, parsed.error().source().begin.line,
                            parsed.error().description()));
  }
  std::vector<TomlEntry> entries;
  flatten(parsed.table(), "", entries);
  std::ranges::sort(entries, {}, [](const TomlEntry& e) { return std::tie(e.line, e.path); });
  return entries;
}

}  // namespace leat::config
