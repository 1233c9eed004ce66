// One 512-byte header block of a tar archive: its fields, checked one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace leat::tar {

// unversioned: ustar, but for the two digits behind the magic.
enum class Dialect : std::uint8_t { v7, ustar, unversioned, gnu };

struct Header {
  Dialect dialect = Dialect::ustar;
  char type = '0';
  std::string name{};  // with its prefix
  std::uint64_t size_bytes = 0;
};

// True if the checksum of the block is right: the sum of its bytes, as unsigned or as signed ones.
bool has_checksum(Bytes block);

bool is_zero(Bytes bytes);

// What the block's magic says. Nothing of a block without magic that does not look like a header of
// the oldest tar either: known type, a name, octal numbers, nothing behind the link name but, as
// GNU tar writes them, device numbers.
std::optional<Dialect> dialect_of(Bytes block);

// Errors: bad_request, with what is wrong.
// Requires: has_checksum(block); `dialect` is the block's.
Result<Header> decode_header(Bytes block, Dialect dialect);

// The PAX records of an extended header.
struct PaxRecords {
  std::optional<std::string> path{};
  std::optional<std::uint64_t> size_bytes{};
};

// Errors: bad_request: malformed, a sparse member, a path or size twice or empty.
Result<PaxRecords> decode_pax(std::string_view records);

}  // namespace leat::tar
