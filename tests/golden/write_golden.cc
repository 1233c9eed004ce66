// Writes the golden disk below a folder: for the first files of a new format, never over old ones.
#include <cstdio>

#include "golden/golden_disk.h"
#include "io/disk.h"

namespace {

leat::Status write_disk(const std::string& folder) {
  leat::io::PosixDisk disk;
  for (const auto& [path, bytes] : leat::golden::make_disk()) {
    const std::string to = folder + "/" + path;
    LEAT_DO(disk.make_directories(to.substr(0, to.rfind('/'))));
    LEAT_TRY(const auto file, disk.open(to, leat::io::OpenMode::create_new));
    LEAT_DO(file->write_all_at(0, leat::as_bytes(bytes)));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: leat_write_golden FOLDER\n", stderr);
    return 2;
  }
  const leat::Status written = write_disk(argv[1]);
  if (!written) std::fprintf(stderr, "%s\n", written.error().message().c_str());
  return written ? 0 : 1;
}
