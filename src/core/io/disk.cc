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

Result<std::vector<FolderEntry>> Disk::look(const std::string& path) {
  LEAT_TRY(auto names, list(path));
  std::vector<FolderEntry> entries;
  for (std::string& name : names) {
    auto found = info(path + "/" + name);
    if (!found && found.error().code() == Errc::not_found) continue;
    if (!found) return fail(std::move(found).error());
    const EntryKind kind = found->is_directory ? EntryKind::folder : EntryKind::file;
    entries.push_back({.name = std::move(name), .kind = kind, .info = *found});
  }
  return entries;
}

Result<FileRead> Disk::read_file(const std::string& path, std::uint64_t offset,
                                 MutableBytes target) {
  LEAT_TRY(const auto file, open(path, OpenMode::read));
  FileRead read;
  LEAT_TRY(read.count, file->read_at(offset, target));
  LEAT_TRY(read.info, file->info());
  if (read.info.is_directory) return fail(Errc::not_found, path + " is no file");
  return read;
}

Error failed_sync(int posix_errno, std::string_view what) {
  Error error = Error::from_errno(posix_errno, what);
  if (error.code() != Errc::busy) return error;
  return Error(Errc::io, std::string(error.detail()));
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
