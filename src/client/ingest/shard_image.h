// ShardImage: every byte of a shard to be, by its place: headers, data, padding, index, end.
//
// Nothing is held but where members stand: fill() reads the files that a range needs straight into
// the caller's memory. Any ranges, in any order, from any threads at once.
//
// Lifetime: the catalog outlives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "ingest/catalog.h"
#include "io/disk.h"

namespace leat::ingest {

// A group that cannot be packed, and why: a file is gone, cannot be read, or is not the one that
// was planned with.
struct BadGroup {
  GroupId group = 0;
  std::string path{};
  Error error{Errc::internal};
};

class ShardImage {
 public:
  ShardImage(const Catalog& catalog, std::vector<GroupId> groups);

  std::uint64_t size_bytes() const { return tail_at_ + tail_.size(); }
  std::uint64_t samples() const { return samples_; }
  const std::vector<GroupId>& groups() const { return groups_; }
  const std::string& identity() const { return identity_; }
  // How many members end in this range, of those that come from files.
  std::uint64_t files_in(std::uint64_t offset, std::uint64_t length) const;

  // Fills `target` with the bytes from `offset` on. Blocks: for a pool. Nothing if all is well.
  // Requires: offset + target.size() <= size_bytes().
  std::optional<BadGroup> fill(io::Disk& disk, std::uint64_t offset, MutableBytes target) const;

  // Looks at every file without reading it; all groups that cannot be packed. Blocks.
  std::vector<BadGroup> inspect(io::Disk& disk) const;

 private:
  struct Place {
    std::uint64_t start = 0;   // of the member's header
    std::uint64_t member = 0;  // its number, or kPreface
    std::uint32_t group = 0;
    std::uint32_t header_bytes = 0;
  };
  static constexpr std::uint64_t kPreface = ~std::uint64_t(0);

  const Member& member(const Place& place) const;
  std::uint64_t end_of(std::size_t place) const;
  Status read(io::Disk& disk, const Member& member, std::uint64_t from, MutableBytes target) const;

  const Catalog& catalog_;
  std::vector<GroupId> groups_;
  std::string identity_;
  std::vector<Place> places_;
  std::uint64_t samples_ = 0;
  std::uint64_t tail_at_ = 0;
  std::string tail_;  // index and end of the archive
};

}  // namespace leat::ingest
