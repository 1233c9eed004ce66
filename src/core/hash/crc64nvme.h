// CRC64NVME, the checksum that S3 gives an object whose sender gave none.
//
// ISA-L of Debian 12 has other 64-bit CRCs but not this one. Processors that multiply without carry
// (PCLMULQDQ) fold 64 bytes a step; others look up tables. Which one is asked of the processor
// once.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace leat::hash {

// As crc32c(): crc64nvme(b, crc64nvme(a)) == crc64nvme(a then b).
std::uint64_t crc64nvme(Bytes bytes, std::uint64_t so_far = 0);

// The same without special instructions: the fall-back, and what the other one is tested against.
std::uint64_t crc64nvme_by_table(Bytes bytes, std::uint64_t so_far = 0);

}  // namespace leat::hash
