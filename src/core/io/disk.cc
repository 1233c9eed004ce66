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

}  // namespace leat::io
