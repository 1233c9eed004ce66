#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "ingest/gathering.h"
#include "transfer/group.h"

namespace leat::ingest {
namespace {

constexpr std::size_t kLooksAtOnce = 16;

struct Problem {
  std::string path{};
  Error error{Errc::internal};
};

// One folder, and what is in it.
struct Looked {
  std::string relative{};               // "a/b/", or nothing for the root
  std::vector<std::uint64_t> inodes{};  // of it and those above it
  std::vector<FoundFile> files{};
  struct Below {
    std::string name{};
    std::uint64_t inode = 0;
  };
  std::vector<Below> folders{};
  std::vector<Problem> problems{};
  std::uint64_t hidden = 0;
  std::uint64_t special = 0;
  std::uint64_t excluded = 0;
  std::uint64_t links = 0;
  bool is_empty = false;
};

FoundFile found_file(std::string name, const io::FileInfo& info) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(info.modified);
  return {.name = std::move(name),
          .size_bytes = info.size_bytes,
          .mtime_s = seconds.time_since_epoch().count(),
          .changed_ns = info.changed.time_since_epoch().count()};
}

// Where a link leads.
void follow(io::Disk& disk, const std::string& path, io::FolderEntry& entry, Looked& looked) {
  auto info = disk.info(path);
  if (!info) {
    looked.problems.push_back({path, Error(info.error().code(), "the link leads nowhere")});
    entry.kind = io::EntryKind::other;
    return;
  }
  ++looked.links;
  entry.kind = info->is_directory ? io::EntryKind::folder : io::EntryKind::file;
  entry.info = *info;
}

void look_into(io::Disk& disk, const FolderSource& source, Looked& looked) {
  const std::string folder =
      looked.relative.empty() ? source.path : fmt::format("{}/{}", source.path, looked.relative);
  auto entries = disk.look(folder);
  if (!entries) {
    looked.problems.push_back({folder, std::move(entries).error()});
    return;
  }
  looked.is_empty = entries->empty();
  for (io::FolderEntry& entry : *entries) {
    if (entry.name.starts_with('.') && !source.with_hidden) {
      ++looked.hidden;
      continue;
    }
    const std::string path = fmt::format("{}/{}", folder, entry.name);
    const bool is_link = entry.kind == io::EntryKind::link;
    if (is_link) follow(disk, path, entry, looked);
    if (entry.kind == io::EntryKind::file) {
      std::string name = looked.relative + entry.name;
      if (source.filter.takes(name)) {
        looked.files.push_back(found_file(std::move(name), entry.info));
      } else {
        ++looked.excluded;
      }
    } else if (entry.kind == io::EntryKind::folder) {
      if (std::ranges::find(looked.inodes, entry.info.inode) != looked.inodes.end()) {
        looked.problems.push_back({path, Error(Errc::conflict, "the folder contains itself")});
      } else {
        looked.folders.push_back({entry.name, entry.info.inode});
      }
    } else if (!is_link) {
      ++looked.special;
    }
  }
}

// Looks into all folders of one depth, several at a time.
class Walk {
 public:
  Walk(Ground& ground, const FolderSource& source, std::vector<Looked>& level)
      : ground_(ground), source_(source), level_(level), workers_(ground.shard) {}

  rt::Task<void> run() {
    const std::size_t count = std::min(kLooksAtOnce, level_.size());
    for (std::size_t i = 0; i < count; ++i)
      workers_.spawn(work());
    return workers_.wait();
  }

 private:
  rt::Task<void> work() {
    while (next_ < level_.size()) {
      Looked& looked = level_[next_++];
      auto look = [this, &looked]() -> Status {
        look_into(ground_.disk, source_, looked);
        return {};
      };
      auto looking = ground_.pool.run<void>(std::move(look));
      LEAT_CO_DO(co_await std::move(looking));
    }
    co_return Status{};
  }

  Ground& ground_;
  const FolderSource& source_;
  std::vector<Looked>& level_;
  std::size_t next_ = 0;
  transfer::Group workers_;
};

void count(Gathering& gathering, Looked& looked) {
  gathering.findings.hidden += looked.hidden;
  gathering.findings.special += looked.special;
  gathering.findings.excluded += looked.excluded;
  gathering.findings.links += looked.links;
  if (looked.is_empty) ++gathering.findings.empty_folders;
  for (Problem& problem : looked.problems) {
    ++gathering.findings.refused;
    gathering.complain(problem.path, problem.error);
  }
}

// The folder at the top that a relative path is in.
std::string top_of(std::string_view relative) {
  return std::string(relative.substr(0, relative.find('/')));
}

void add_level(Gathering& gathering, const FolderSource& source, std::uint32_t origin,
               std::map<std::string, Looked>& all) {
  std::map<std::string, std::uint32_t> labels;
  for (const auto& [relative, looked] : all) {
    const std::string top = top_of(relative);
    if (labels.emplace(top, gathering.labels).second) ++gathering.labels;
  }
  const bool has_classes = source.layout == Layout::imagefolder;
  std::map<std::string, std::uint32_t> classes;
  for (std::uint32_t i = 0; i < gathering.classes.size(); ++i)
    classes.emplace(gathering.classes[i], i);
  Grouper grouper(gathering.catalog, gathering.findings, gathering.complain, gathering.fields);
  for (auto& [relative, looked] : all) {
    count(gathering, looked);
    for (FoundFile& file : looked.files)
      file.origin = origin;
    const std::string top = top_of(relative);
    if (has_classes && !looked.files.empty()) {
      if (top.empty()) {
        gathering.findings.outside += looked.files.size();
        continue;
      }
      grouper.set_class(fmt::to_string(classes.at(top)));
    }
    grouper.add(looked.files, labels.at(top));
  }
}

// The classes of a folder, after those that the gathering has.
Status add_classes(Gathering& gathering, const FolderSource& source,
                   const std::map<std::string, Looked>& all) {
  std::set<std::string> chosen;
  for (const auto& [relative, looked] : all) {
    if (!looked.files.empty() || source.filter.takes_all()) chosen.insert(top_of(relative));
  }
  for (const Looked::Below& below : all.at("").folders) {
    const std::string& name = below.name;
    if (!chosen.contains(name)) continue;
    if (std::ranges::find(gathering.classes, name) != gathering.classes.end()) continue;
    if (gathering.has_fixed_classes) {
      return fail(Errc::bad_request,
                  fmt::format("the dataset has no class {}; its numbers would change", name));
    }
    gathering.classes.push_back(name);
  }
  return {};
}

}  // namespace

std::string classes_text(const std::vector<std::string>& classes) {
  const nlohmann::json document = {{"layout", "imagefolder"}, {"classes", classes}};
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::vector<std::string> parse_classes(std::string_view text) {
  const auto document = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> classes;
  if (!document.is_object() || !document.contains("classes")) return classes;
  for (const auto& one : document["classes"]) {
    if (one.is_string()) classes.push_back(one.get<std::string>());
  }
  return classes;
}

rt::Task<void> gather_folder(Ground& ground, Gathering& gathering, FolderSource source) {
  while (source.path.size() > 1 && source.path.ends_with('/'))
    source.path.pop_back();
  auto look = [&disk = ground.disk, path = source.path] { return disk.info(path); };
  auto looking = ground.pool.run<io::FileInfo>(std::move(look));
  LEAT_CO_TRY(const io::FileInfo root, co_await std::move(looking));
  if (!root.is_directory) {
    co_return fail(Errc::bad_request, fmt::format("{} is no folder", source.path));
  }
  std::map<std::string, Looked> all;  // by their paths: the order of the catalog
  std::vector<Looked> level(1);
  level.front().inodes = {root.inode};
  while (!level.empty()) {
    Walk walk(ground, source, level);
    LEAT_CO_DO(co_await walk.run());
    std::vector<Looked> next;
    for (Looked& looked : level) {
      for (const Looked::Below& below : looked.folders) {
        Looked deeper{.relative = looked.relative + below.name + "/", .inodes = looked.inodes};
        deeper.inodes.push_back(below.inode);
        next.push_back(std::move(deeper));
      }
      all.emplace(looked.relative, std::move(looked));
    }
    level = std::move(next);
  }
  const Looked& top = all.at("");
  if (!top.problems.empty() && top.files.empty() && top.folders.empty()) {
    co_return fail(top.problems.front().error);
  }
  if (source.layout == Layout::imagefolder) LEAT_CO_DO(add_classes(gathering, source, all));
  const std::uint32_t origin = gathering.catalog.add_origin({.path = source.path});
  add_level(gathering, source, origin, all);
  co_return Status{};
}

}  // namespace leat::ingest
