// Writes golden files below a folder: for the first files of a new format, never over old ones.
#include <cstdio>
#include <string_view>

#include "golden/golden_batch.h"
#include "golden/golden_disk.h"
#include "golden/golden_order.h"
#include "golden/golden_snapshot.h"
#include "io/disk.h"

namespace {

leat::Status write_file(const std::string& path, std::string_view bytes) {
  leat::io::PosixDisk disk;
  LEAT_DO(disk.make_directories(path.substr(0, path.rfind('/'))));
  LEAT_TRY(const auto file, disk.open(path, leat::io::OpenMode::create_new));
  return file->write_all_at(0, leat::as_bytes(bytes));
}

leat::Status write_files(std::string_view kind, const std::string& folder) {
  if (kind == "batch") {
    return write_file(folder + "/batch-1.frames", leat::golden::make_batch());
  }
  if (kind == "order") {
    return write_file(folder + "/order-1.txt", leat::golden::make_order_vectors());
  }
  if (kind == "snapshot") {
    return write_file(folder + "/snapshot-1.snap", leat::golden::make_snapshot());
  }
  if (kind != "disk") return leat::fail(leat::Errc::bad_request, "batch, disk, order or snapshot");
  for (const auto& [path, bytes] : leat::golden::make_disk())
    LEAT_DO(write_file(folder + "/" + path, bytes));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: leat_write_golden batch|disk|order|snapshot FOLDER\n", stderr);
    return 2;
  }
  const leat::Status written = write_files(argv[1], argv[2]);
  if (!written) std::fprintf(stderr, "%s\n", written.error().message().c_str());
  return written ? 0 : 1;
}
