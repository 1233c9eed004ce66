#include "transfer/part_file.h"

#include <fmt/format.h>

#include "transfer/names.h"

namespace leat::transfer {

// Between open and lock another process may have completed the file: then what is locked has the
// final name, and must not be written.
Result<std::unique_ptr<io::File>> open_locked_part(io::Disk& disk, const std::string& path) {
  constexpr int kAttemptsMax = 10;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    LEAT_TRY(auto file, disk.open(part_path(path), io::OpenMode::create));
    if (!file->lock()) break;
    LEAT_TRY(const io::FileInfo held, file->info());
    const auto named = disk.info(part_path(path));
    if (named && named->inode == held.inode) return file;
  }
  return fail(Errc::conflict, fmt::format("{} is being fetched by another process", path));
}

Status sync_name(io::Disk& disk, const std::string& path) {
  std::string folder = parent_of(path);
  LEAT_DO(disk.sync_directory(folder));
  // Others that work on the tree may have made the folders, and not have synced them yet.
  const bool is_absolute = path.starts_with('/');
  while (!is_absolute && folder != ".") {
    folder = parent_of(folder);
    LEAT_DO(disk.sync_directory(folder));
  }
  return {};
}

Result<std::unique_ptr<PartFile>> PartFile::open(io::Disk& disk, std::string path,
                                                 const PartPlan& parts, const std::string& etag,
                                                 bool goes_on) {
  LEAT_TRY(auto file, open_locked_part(disk, path));
  std::unique_ptr<PartFile> made(
      new PartFile(disk, std::move(path), parts.size_bytes, std::move(file)));
  made->line_ = fmt::format("leat-part 1 {} {}\n", parts.part_bytes, etag);
  made->arrived_.assign(parts.count, false);

  std::string found(made->line_.size() + parts.count, '\0');
  LEAT_TRY(const std::size_t read,
           made->file_->read_at(parts.size_bytes, std::as_writable_bytes(std::span(found))));
  if (goes_on && read == found.size() && found.starts_with(made->line_)) {
    for (std::uint32_t i = 0; i < parts.count; ++i)
      made->arrived_[i] = found[made->line_.size() + i] == '1';
    return made;
  }
  LEAT_DO(made->file_->truncate(0));
  const std::string fresh = made->line_ + std::string(parts.count, '0');
  LEAT_DO(made->file_->write_all_at(parts.size_bytes, as_bytes(fresh)));
  return made;
}

std::uint64_t PartFile::mark_offset(std::uint32_t part) const {
  return size_ + line_.size() + part;
}

Status PartFile::complete(WallTime modified, bool is_durable) {
  LEAT_DO(file_->truncate(size_));
  LEAT_DO(file_->set_modified(modified));
  if (is_durable) LEAT_DO(file_->sync_data());
  LEAT_DO(disk_.rename(part_path(path_), path_));
  if (is_durable) LEAT_DO(sync_name(disk_, path_));
  return {};
}

Status PartFile::discard() {
  return disk_.remove(part_path(path_));
}

}  // namespace leat::transfer
