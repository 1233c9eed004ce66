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

Result<std::string> read_text(Disk& disk, const std::string& path) {
  LEAT_TRY(const auto file, disk.open(path, OpenMode::read));
  LEAT_TRY(const FileInfo info, file->info());
  std::string text(info.size_bytes, '\0');
  LEAT_TRY(const std::size_t got, file->read_at(0, std::as_writable_bytes(std::span(text))));
  text.resize(got);
  return text;
}

}  // namespace leat::io
