// CRC32C (Castagnoli), the checksum of everything that Leat stores: it runs at memory speed and
// finds every single flipped bit.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace leat::hash {

// The checksum of `bytes`, or of what `so_far` is the checksum of with `bytes` behind it:
//   crc32c(b, crc32c(a)) == crc32c(a then b)
std::uint32_t crc32c(Bytes bytes, std::uint32_t so_far = 0);

}  // namespace leat::hash
