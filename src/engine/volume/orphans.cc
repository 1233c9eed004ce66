#include "volume/orphans.h"

#include <charconv>

#include "volume/reader.h"

namespace leat::volume {

Result<std::vector<record::FileId>> find_orphans(io::Disk& disk, const Folders& folders,
                                                 const index::Index& index,
                                                 const IsYoung& is_young) {
  std::vector<record::FileId> orphans;
  LEAT_TRY(const auto shelves, disk.list(folders.files()));
  for (const std::string& shelf : shelves) {
    const std::string folder = folders.files() + '/' + shelf;
    LEAT_TRY(const auto names, disk.list(folder));
    for (const std::string& name : names) {
      std::uint64_t number = 0;
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number, 16);
      if (error != std::errc{} || end != name.data() + name.size()) continue;
      const record::FileId file(number);
      if (is_young(file)) continue;
      LEAT_TRY(const bool known, index.is_known(file));
      if (!known) orphans.push_back(file);
    }
  }
  return orphans;
}

namespace {

// Whose the file is, so far as it can say so.
LostFile describe(io::Disk& disk, const std::string& path, const record::DiskId& disk_id,
                  record::FileId id) {
  LostFile lost{.path = path};
  const auto file = disk.open(path, io::OpenMode::read);
  if (!file) return lost;
  const auto info = (*file)->info();
  if (info) lost.size_bytes = info->size_bytes;
  auto tail = read_file_tail(**file, disk_id, id);
  if (!tail) return lost;
  lost.owner = std::move(tail->owner);
  lost.size_bytes = tail->data_bytes;
  return lost;
}

}  // namespace

Result<std::vector<LostFile>> put_orphans_aside(io::Disk& disk, const Folders& folders,
                                                const record::DiskId& disk_id,
                                                const index::Index& index) {
  std::vector<LostFile> all;
  const auto is_never_young = [](record::FileId) { return false; };
  LEAT_TRY(const auto orphans, find_orphans(disk, folders, index, is_never_young));
  if (orphans.empty()) return all;
  LEAT_DO(disk.make_durable_directories(folders.lost()));
  for (const record::FileId id : orphans) {
    LostFile lost = describe(disk, folders.file(id), disk_id, id);
    lost.path = folders.lost_file(id);
    LEAT_DO(disk.rename(folders.file(id), lost.path));
    all.push_back(std::move(lost));
  }
  LEAT_DO(disk.sync_directory(folders.lost()));
  return all;
}

}  // namespace leat::volume
