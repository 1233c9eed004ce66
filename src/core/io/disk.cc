#include "io/disk.h"

namespace leat::io {

Status File::write_all_at(std::uint64_t offset, Bytes source) {
  while (!source.empty()) {
    LEAT_TRY(const std::size_t written, write_at(offset, source));
    source = source.subspan(written);
    offset += written;
  }
  return {};
}

namespace {

// The folder that holds the last name of a path: "/" above "/a", "." above "a".
std::string parent_of(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Status Disk::make_durable_directories(const std::string& path) {
  std::vector<std::string> holders;  // of the folders that are missing
  for (std::string at = path; at != "/" && at != "." && !info(at); at = parent_of(at))
    holders.push_back(parent_of(at));
  LEAT_DO(make_directories(path));
  for (const std::string& holder : holders)
    LEAT_DO(sync_directory(holder));
  return {};
}

Result<std::string> read_text(Disk& disk, const std::string& path) {
  LEAT_TRY(const auto file, disk.open(path, OpenMode::read));
  LEAT_TRY(const FileInfo info, file->info());
  std::string text(info.size_bytes, '\0');
  LEAT_TRY(const std::size_t got, file->read_at(0, std::as_writable_bytes(std::span(text))));
  text.resize(got);
  return text;
}

Status replace_text(Disk& disk, const std::string& path, std::string_view text) {
  const std::string fresh = path + ".new";
  LEAT_TRY(const auto file, disk.open(fresh, OpenMode::create));
  LEAT_DO(file->truncate(0));
  LEAT_DO(file->write_all_at(0, as_bytes(text)));
  LEAT_DO(file->sync_data());
  return disk.rename(fresh, path);
}

}  // namespace leat::io
