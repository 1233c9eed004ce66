// DataDirectory: a directory that `leat serve` was given, taken for this process.
//
// Holding it means holding the lock on its `leat.lock`: a second process on the same directory is
// refused. The lock goes with the process, however it ends.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "io/disk.h"
#include "io/rng.h"
#include "log/field.h"

namespace leat::programs {

class DataDirectory {
 public:
  // Makes the directory if it is missing.
  // Errors, each one clear line: denied (not writable), conflict (in use by another leat, or not a
  // directory), no_space, io.
  static Result<DataDirectory> take(io::Disk& disk, const std::string& path);

  const std::string& path() const { return path_; }

  // The text of a small file that only its owner may read; made by `make` the first time.
  Result<std::string> secret_file(const std::string& name,
                                  const std::function<Result<std::string>()>& make);

  // The token for operators, made once: `admin-token`.
  Result<log::Secret> admin_token(io::Rng& rng);

 private:
  DataDirectory(io::Disk& disk, std::string path, std::unique_ptr<io::File> lock)
      : disk_(&disk), path_(std::move(path)), lock_(std::move(lock)) {}

  io::Disk* disk_;
  std::string path_;
  std::unique_ptr<io::File> lock_;
};

}  // namespace leat::programs
