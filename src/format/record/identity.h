// Identity: the small text file that says which disk a directory is, and which format it holds.
//
// It is text, so that an operator can read it, and it ends in a checksum, so that a damaged one is
// not believed:
//
//   leat-disk 1
//   disk 6f1e…
//   node 90c3…
//   created 1763250000000
//   sum 5d41402a
#pragma once

#include "base/result.h"
#include "record/types.h"

namespace leat::record {

constexpr std::uint32_t kDiskFormat = 1;

struct Identity {
  std::uint32_t format = kDiskFormat;
  DiskId disk{};
  DiskId node{};  // the node it was made for
  std::int64_t created_ms = 0;
};

std::string encode(const Identity& identity);

// Errors: corrupt; not_implemented, for a format of a later Leat.
Result<Identity> decode_identity(std::string_view text);

std::string to_hex(const DiskId& id);

}  // namespace leat::record
