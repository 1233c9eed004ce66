// CRC32 as gzip, zlib and S3's x-amz-checksum-crc32 have it, by ISA-L.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace leat::hash {

// As crc32c(): crc32(b, crc32(a)) == crc32(a then b).
std::uint32_t crc32(Bytes bytes, std::uint32_t so_far = 0);

}  // namespace leat::hash
