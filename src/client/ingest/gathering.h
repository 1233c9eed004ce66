// Gathering: what a source gives to an ingest, and the sources: folders, lists of files, tables
// with paths, archives.
//
// A source looks and does not read (but for tables and the headers of archives). What it cannot
// take is told to `complain` and counted; what it leaves out by rule is counted.
//
// Shard: one. Lifetime: the gathering outlives the tasks.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/catalog.h"
#include "ingest/grouping.h"
#include "io/disk.h"
#include "rt/blocking_pool.h"
#include "rt/shard.h"
#include "transfer/filter.h"

namespace leat::ingest {

struct Gathering {
  Catalog catalog{};
  Findings findings{};
  Complain complain{};
  FieldChoice fields{};
  // Of the layout imagefolder: the names of the classes, in the order of their numbers.
  std::vector<std::string> classes{};
  bool has_fixed_classes = false;  // the dataset has them already: no others may come
  std::uint32_t labels = 0;        // given out so far
};

// Lifetime: outlives the tasks that use it.
struct Ground {
  rt::Shard& shard;
  io::Disk& disk;
  rt::BlockingPool& pool;
};

enum class Layout : std::uint8_t {
  samples,      // files whose names differ in their extension only are one sample
  imagefolder,  // the same, and the folder at the top is the class: field `cls`
};

struct FolderSource {
  std::string path{};
  Layout layout = Layout::samples;
  bool with_hidden = false;
  transfer::NameFilter filter{};  // of the names below `path`
};

// All files below a folder that its filter takes; the folder is part of the key. Links are
// followed, but not in a circle. A class of which the filter leaves no file is none. Errors:
// not_found and others, for the folder itself.
rt::Task<void> gather_folder(Ground& ground, Gathering& gathering, FolderSource source);

struct ListSource {
  std::string path{};  // of the list: paths by lines, or by zero bytes if it has any
  std::string root{};  // what names are relative to; empty: the folder of the list
};

// Errors: as reading the list.
rt::Task<void> gather_list(Ground& ground, Gathering& gathering, ListSource source);

struct TableSource {
  std::string path{};         // .csv, .tsv, .jsonl
  std::string root{};         // as of a list
  std::string path_column{};  // empty: path, file, file_name, filename or image
};

// Each row is a sample: its file, the field `json` with all columns, and `cls` if a column `cls` or
// `label` is a number. Errors: bad_request, when it is no table with such a column.
rt::Task<void> gather_table(Ground& ground, Gathering& gathering, TableSource source);

// The samples of tars, which are only read when they are packed.
// Errors: bad_request, for what is no sound tar; as opening.
rt::Task<void> gather_archive(Ground& ground, Gathering& gathering, std::string path);

// Looks for keys that several sources have, once all are gathered: they stay samples of their own,
// as everywhere in WebDataset, but must not become neighbours in a shard.
void note_repeated_keys(Gathering& gathering);

// The member that every shard of classes begins with, and its text.
constexpr std::string_view kClassesName = "__leat__/classes.json";
std::string classes_text(const std::vector<std::string>& classes);
// Nothing if it is no such text.
std::vector<std::string> parse_classes(std::string_view text);

}  // namespace leat::ingest
