#include "transfer/part_file.h"

#include <fmt/format.h>

#include "transfer/names.h"

namespace leat::transfer {

Result<std::unique_ptr<PartFile>> PartFile::open(io::Disk& disk, std::string path,
                                                 const PartPlan& parts, const std::string& etag) {
  LEAT_TRY(auto file, disk.open(part_path(path), io::OpenMode::create));
  if (Status locked = file->lock(); !locked) {
    return fail(Errc::conflict, fmt::format("{} is being fetched by another process", path));
  }
  std::unique_ptr<PartFile> made(
      new PartFile(disk, std::move(path), parts.size_bytes, std::move(file)));
  made->line_ = fmt::format("leat-part 1 {} {}\n", parts.part_bytes, etag);
  made->arrived_.assign(parts.count, false);

  std::string found(made->line_.size() + parts.count, '\0');
  LEAT_TRY(const std::size_t read,
           made->file_->read_at(parts.size_bytes, std::as_writable_bytes(std::span(found))));
  if (read == found.size() && found.starts_with(made->line_)) {
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

Status PartFile::complete(WallTime modified) {
  LEAT_DO(file_->truncate(size_));
  LEAT_DO(file_->set_modified(modified));
  return disk_.rename(part_path(path_), path_);
}

Status PartFile::discard() {
  return disk_.remove(part_path(path_));
}

}  // namespace leat::transfer
