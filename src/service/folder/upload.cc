#include "folder/upload.h"

#include <fmt/format.h>

namespace leat::folder {
namespace {

// Makes the folders above `path` and their names durable; also of those that are there already, for
// another upload may have made them and not synced them yet.
Status make_parents(FolderState& state, const std::string& path) {
  io::Disk& disk = state.disk();
  const std::string parent = parent_of(path);
  if (parent.empty()) return {};
  LEAT_DO(disk.make_directories(parent));
  for (std::string folder = parent; !folder.empty(); folder = parent_of(folder)) {
    const std::string above = parent_of(folder);
    LEAT_DO(state.judge_sync(disk.sync_directory(above.empty() ? "." : above)));
  }
  return {};
}

// A file cannot be given a name below another file.
Status check_parents(io::Disk& disk, const std::string& path) {
  for (std::string above = parent_of(path); !above.empty(); above = parent_of(above)) {
    const auto there = disk.info(above);
    if (there && !there->is_directory) return fail(Errc::conflict, above + " is a file");
    if (there) return {};
  }
  return {};
}

Result<bool> give_name(FolderState& state, const std::string& temporary, const std::string& path) {
  io::Disk& disk = state.disk();
  LEAT_DO(check_parents(disk, path));
  LEAT_DO(make_parents(state, path));
  const auto existing = disk.info(path);
  if (existing && existing->is_directory) return fail(Errc::conflict, path + " is a folder");
  LEAT_DO(disk.rename(temporary, path));
  const std::string parent = parent_of(path);
  if (Status synced = state.judge_sync(disk.sync_directory(parent.empty() ? "." : parent));
      !synced) {
    return fail(synced.error().code(),
                fmt::format("{} was written and can be seen, but may be gone after a power cut: {}",
                            path, synced.error().detail()));
  }
  return existing.has_value();
}

}  // namespace

rt::Task<std::unique_ptr<Upload>> Upload::begin(FolderState& state, UploadTools tools) {
  LEAT_CO_DO(state.check_writable());
  std::string name = fmt::format("{}{:016x}", Folder::kUploadPrefix, tools.rng.next());
  auto work = [&disk = state.disk(), name] { return disk.open(name, io::OpenMode::create_new); };
  using FilePtr = std::unique_ptr<io::File>;
  LEAT_CO_TRY(FilePtr file, co_await state.pool().run<FilePtr>(std::move(work)));
  std::shared_ptr<io::File> shared = std::move(file);
  co_return std::unique_ptr<Upload>(new Upload(state, tools, std::move(shared), std::move(name)));
}

Upload::Upload(FolderState& state, UploadTools tools, std::shared_ptr<io::File> file,
               std::string name)
    : state_(state),
      file_io_(tools.file_io),
      file_(std::move(file)),
      temporary_(std::move(name)),
      writer_(tools.shard, tools.file_io, tools.buffers, file_) {}

Upload::~Upload() {
  if (published_) return;
  // If this fails, clean() finds the file at the next start.
  (void)state_.pool().submit(
      [&disk = state_.disk(), name = std::move(temporary_)] { (void)disk.remove(name); });
}

rt::Task<bool> Upload::publish(std::string path) {
  LEAT_CO_DO(co_await writer_.finish());
  LEAT_CO_DO(state_.check_writable());
  Status synced = co_await file_io_.sync_data(*file_);
  LEAT_CO_DO(state_.judge_sync(std::move(synced)));
  auto work = [&state = state_, from = temporary_, path] { return give_name(state, from, path); };
  auto replaced = co_await state_.pool().run<bool>(std::move(work));
  state_.note_change();
  published_ = replaced.has_value();
  co_return replaced;
}

Status Upload::clean(io::Disk& disk) {
  LEAT_TRY(const auto names, disk.list("."));
  for (const std::string& name : names) {
    if (name.starts_with(Folder::kUploadPrefix)) LEAT_DO(disk.remove(name));
  }
  return {};
}

}  // namespace leat::folder
