#include "hash/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace leat::hash {

std::uint32_t crc32c(Bytes bytes, std::uint32_t so_far) {
  // The library counts in int, and takes and gives the checksum without the final inversion.
  constexpr std::size_t kStep = 1 << 30;
  std::uint32_t crc = ~so_far;
  while (!bytes.empty()) {
    const Bytes step = bytes.first(std::min(bytes.size(), kStep));
    auto* data = const_cast<std::byte*>(step.data());  // it only reads, but says otherwise
    crc = crc32_iscsi(reinterpret_cast<unsigned char*>(data), static_cast<int>(step.size()), crc);
    bytes = bytes.subspan(step.size());
  }
  return ~crc;
}

}  // namespace leat::hash
