// Lists of files, and tables with paths.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "ingest/gathering.h"
#include "ingest/table.h"
#include "shard/sample_name.h"

namespace leat::ingest {
namespace {

constexpr std::array<std::string_view, 5> kPathColumns = {"path", "file", "file_name", "filename",
                                                          "image"};

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

struct Named {
  std::string path{};  // as it was written
  Result<FoundFile> file;
};

FoundFile found_file(std::string name, const io::FileInfo& info) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(info.modified);
  return {.name = std::move(name),
          .size_bytes = info.size_bytes,
          .mtime_s = seconds.time_since_epoch().count(),
          .changed_ns = info.changed.time_since_epoch().count()};
}

Result<FoundFile> look_at(io::Disk& disk, const std::string& root, const std::string& path) {
  LEAT_TRY(std::string name, name_below(root, path));
  LEAT_TRY(const io::FileInfo info, disk.info(fmt::format("{}/{}", root, name)));
  if (info.is_directory) return fail(Errc::bad_request, "it is a folder");
  return found_file(std::move(name), info);
}

std::vector<Named> look_at_all(io::Disk& disk, const std::string& root,
                               const std::vector<std::string>& paths) {
  std::vector<Named> all;
  all.reserve(paths.size());
  for (const std::string& path : paths)
    all.push_back({path, look_at(disk, root, path)});
  return all;
}

rt::Task<std::vector<Named>> look(Ground& ground, std::string root,
                                  std::vector<std::string> paths) {
  auto work = [&disk = ground.disk, root = std::move(root),
               paths = std::move(paths)]() -> Result<std::vector<Named>> {
    return look_at_all(disk, root, paths);
  };
  return ground.pool.run<std::vector<Named>>(std::move(work));
}

rt::Task<std::string> read(Ground& ground, std::string path) {
  auto work = [&disk = ground.disk, path = std::move(path)] { return io::read_text(disk, path); };
  return ground.pool.run<std::string>(std::move(work));
}

Result<Table> parse_table(const std::string& path, std::string_view text) {
  if (path.ends_with(".csv")) return parse_separated(text, ',');
  if (path.ends_with(".tsv")) return parse_separated(text, '\t');
  if (path.ends_with(".jsonl") || path.ends_with(".ndjson")) return parse_json_lines(text);
  return fail(Errc::bad_request, "expected a table called .csv, .tsv or .jsonl");
}

std::optional<std::size_t> find_column(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name);
  if (found == table.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - table.columns.begin());
}

std::optional<std::size_t> path_column(const Table& table, std::string_view wanted) {
  if (!wanted.empty()) return find_column(table, wanted);
  for (const std::string_view name : kPathColumns) {
    if (const auto found = find_column(table, name)) return found;
  }
  return std::nullopt;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 19 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Adds one row as a sample: its file and what the table says of it.
void add_row(Gathering& gathering, const Table& table, std::size_t row, const FoundFile& file) {
  const auto split = shard::split_name(file.name);
  nlohmann::json object = nlohmann::json::object();
  std::string number;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& value = table.rows[row][i];
    object[table.columns[i]] = value;
    const bool is_class = table.columns[i] == "cls" || table.columns[i] == "label";
    if (is_class && is_number(value)) number = value;
  }
  const std::string text = object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  Catalog& catalog = gathering.catalog;
  const std::string key(split->key);
  struct Field {
    std::string field;
    NewItem item;
  };
  const std::string class_name = key + ".cls";
  const std::string json_name = key + ".json";
  std::vector<Field> fields;
  fields.push_back({split->field,
                    {.name = file.name,
                     .origin = file.origin,
                     .size_bytes = file.size_bytes,
                     .mtime_s = file.mtime_s,
                     .changed_ns = file.changed_ns}});
  if (split->field != "json") {
    fields.push_back({"json",
                      {.name = json_name,
                       .offset = catalog.add_text(text),
                       .size_bytes = text.size(),
                       .mtime_s = file.mtime_s}});
  }
  if (!number.empty() && split->field != "cls") {
    fields.push_back({"cls",
                      {.name = class_name,
                       .offset = catalog.add_text(number),
                       .size_bytes = number.size(),
                       .mtime_s = file.mtime_s}});
  }
  std::ranges::sort(fields, {}, &Field::field);
  const FieldChoice& choice = gathering.fields;
  std::erase_if(fields, [&choice](const Field& field) { return !choice.takes(field.field); });
  const bool takes_file = choice.takes(split->field);
  if (!takes_file) ++gathering.findings.other_fields;
  if (fields.empty()) {
    ++gathering.findings.without_any;
    return;
  }
  catalog.begin_group(number.empty() ? 0 : static_cast<std::uint32_t>(std::stoull(number)), true);
  for (const Field& field : fields)
    catalog.add(field.item);
  if (takes_file) ++gathering.findings.files;
}

}  // namespace

rt::Task<void> gather_list(Ground& ground, Gathering& gathering, ListSource source) {
  LEAT_CO_TRY(const std::string text, co_await read(ground, source.path));
  const std::string root = source.root.empty() ? folder_of(source.path) : source.root;
  LEAT_CO_TRY(auto named, co_await look(ground, root, parse_list(text)));
  const std::uint32_t origin = gathering.catalog.add_origin({.path = root});
  std::vector<FoundFile> files;
  for (Named& one : named) {
    if (!one.file) {
      ++gathering.findings.refused;
      gathering.complain(one.path, one.file.error());
      continue;
    }
    one.file->origin = origin;
    files.push_back(std::move(*one.file));
  }
  Grouper grouper(gathering.catalog, gathering.findings, gathering.complain, gathering.fields);
  grouper.add(files, gathering.labels++);
  co_return Status{};
}

rt::Task<void> gather_table(Ground& ground, Gathering& gathering, TableSource source) {
  LEAT_CO_TRY(const std::string text, co_await read(ground, source.path));
  auto parsed = parse_table(source.path, text);
  if (!parsed) {
    co_return fail(parsed.error().code(),
                   fmt::format("{}: {}", source.path, parsed.error().detail()));
  }
  const Table& table = *parsed;
  const auto column = path_column(table, source.path_column);
  if (!column) {
    co_return fail(Errc::bad_request,
                   fmt::format("{} has no column of paths; --path-column names it", source.path));
  }
  std::vector<std::string> paths;
  for (const auto& row : table.rows)
    paths.push_back(row[*column]);
  const std::string root = source.root.empty() ? folder_of(source.path) : source.root;
  LEAT_CO_TRY(auto named, co_await look(ground, root, std::move(paths)));
  const std::uint32_t origin = gathering.catalog.add_origin({.path = root});
  std::unordered_set<std::string> keys;
  for (std::size_t i = 0; i < named.size(); ++i) {
    Named& one = named[i];
    std::string why;
    if (one.file) {
      const auto split = shard::split_name(one.file->name);
      why = refusal_of_name(one.file->name);
      if (why.empty() && !split) why = "a sample's file needs an extension";
      if (why.empty() && !keys.insert(std::string(split->key)).second) {
        why = "an earlier row is the same sample";
      }
    }
    if (!one.file || !why.empty()) {
      ++gathering.findings.refused;
      gathering.complain(one.path,
                         one.file ? Error(Errc::conflict, why) : one.file.error().clone());
      continue;
    }
    one.file->origin = origin;
    add_row(gathering, table, i, *one.file);
  }
  co_return Status{};
}

void note_repeated_keys(Gathering& gathering) {
  Catalog& catalog = gathering.catalog;
  std::unordered_set<std::string_view> keys;
  for (std::size_t i = 0; i < catalog.group_count(); ++i) {
    const Group& group = catalog.group(static_cast<GroupId>(i));
    if (!group.is_sample || keys.insert(catalog.key(group)).second) continue;
    ++gathering.findings.repeated_keys;
    catalog.set_has_repeated_keys();
  }
}

}  // namespace leat::ingest
