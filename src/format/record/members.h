// Members: the small text file, the same on all disks of a node, that says which disks those are.
//
// Its generation grows whenever a disk comes or goes. A disk whose file is older than the others'
// was away meanwhile: what it holds is compared with theirs before it is believed.
//
//   leat-members 7
//   disk 6f1e… /d0
//   disk 90c3… /d1
//   sum 5d41402a
//
// The path is where the disk was last seen: a hint for people, empty if it does not fit in a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/types.h"

namespace leat::record {

struct Member {
  DiskId disk{};
  std::string path{};
};

struct Members {
  std::uint64_t generation = 0;
  std::vector<Member> disks{};

  bool contains(const DiskId& disk) const;
};

std::string encode(const Members& members);

// Errors: corrupt.
Result<Members> decode_members(std::string_view text);

}  // namespace leat::record
