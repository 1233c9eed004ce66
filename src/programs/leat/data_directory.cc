#include "leat/data_directory.h"

#include <fmt/format.h>

#include <algorithm>

#include "leat/token.h"

namespace leat::programs {
namespace {

constexpr std::string_view kLockName = "leat.lock";
constexpr std::string_view kTokenName = "admin-token";

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
    return fail(
        held.error().code(),
        fmt::format("data directory {0} is in use by another leat process: stop that one, or "
                    "use it; `leat env {0}` tells where it listens",
                    path));
  }
  return DataDirectory(disk, path, std::move(*lock));
}

Result<std::string> DataDirectory::secret_file(const std::string& name,
                                               const std::function<Result<std::string>()>& make) {
  const std::string path = fmt::format("{}/{}", path_, name);
  auto existing = io::read_text(*disk_, path);
  // Only a secret that is not there is made; one that cannot be read must not be replaced.
  if (existing || existing.error().code() != Errc::not_found) return existing;
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
  // No client could send it.
  const bool is_plain = std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
  if (text.size() < 16 || !is_plain) {
    return fail(Errc::corrupt,
                fmt::format("{}/{} is damaged; remove it to get a new token", path_, kTokenName));
  }
  return log::Secret(std::move(text));
}

}  // namespace leat::programs
