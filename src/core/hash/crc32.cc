#include "hash/crc32.h"

#include <isa-l/crc.h>

namespace leat::hash {

std::uint32_t crc32(Bytes bytes, std::uint32_t so_far) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  return crc32_gzip_refl(so_far, data, bytes.size());
}

}  // namespace leat::hash
