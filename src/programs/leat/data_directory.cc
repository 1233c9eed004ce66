#include "leat/data_directory.h"

#include <fmt/format.h>

#include "leat/token.h"

namespace leat::programs {
namespace {

constexpr std::string_view kLockName = "leat.lock";
constexpr std::string_view kTokenName = "admin-token";

Result<std::string> read_all(const io::File& file) {
  LEAT_TRY(const io::FileInfo info, file.info());
  std::string text(info.size_bytes, '\0');
  LEAT_TRY(const std::size_t got, file.read_at(0, std::as_writable_bytes(std::span(text))));
  text.resize(got);
  return text;
}

}  // namespace

Result<DataDirectory> DataDirectory::take(io::Disk& disk, const std::string& path) {
  if (Status made = disk.make_directories(path); !made) {
    return fail(made.error().code(),
                fmt::format("cannot use {} as a data directory: {}", path, made.error().detail()));
  }
  auto lock = disk.open(fmt::format("{}/{}", path, kLockName), io::OpenMode::create);
  if (!lock) {
    return fail(lock.error().code(),
                fmt::format("data directory {} is not writable: {}", path, lock.error().detail()));
  }
  if (Status held = (*lock)->lock(); !held) {
    return fail(held.error().code(),
                fmt::format("data directory {} is in use by another leat process", path));
  }
  return DataDirectory(disk, path, std::move(*lock));
}

Result<std::string> DataDirectory::secret_file(const std::string& name,
                                               const std::function<Result<std::string>()>& make) {
  const std::string path = fmt::format("{}/{}", path_, name);
  if (auto existing = disk_->open(path, io::OpenMode::read)) return read_all(**existing);
  LEAT_TRY(std::string text, make());
  // Written beside and renamed: a crash leaves no half secret.
  const std::string fresh = path + ".new";
  if (disk_->info(fresh)) LEAT_DO(disk_->remove(fresh));
  LEAT_TRY(const auto file, disk_->open(fresh, io::OpenMode::create_private));
  LEAT_DO(file->write_all_at(0, as_bytes(text)));
  LEAT_DO(file->sync_data());
  LEAT_DO(disk_->rename(fresh, path));
  LEAT_DO(disk_->sync_directory(path_));
  return text;
}

Result<log::Secret> DataDirectory::admin_token(io::Rng& rng) {
  auto make = [&rng]() -> Result<std::string> { return fresh_token(rng); };
  LEAT_TRY(std::string text, secret_file(std::string(kTokenName), make));
  if (text.size() < 16) {
    return fail(Errc::corrupt,
                fmt::format("{}/{} is too short; remove it to get a new token", path_, kTokenName));
  }
  return log::Secret(std::move(text));
}

}  // namespace leat::programs
