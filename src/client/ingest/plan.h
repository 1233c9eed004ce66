// Plan: in which order samples are stored, and how they are cut into shards. Pure.
//
// Every size is known before a byte is read, so that the order is free: it is one permutation of
// all samples, drawn from a seed, and any part of any shard can be made alone. The same files, seed
// and size give the same shards, to the byte; that is what makes an ingest go on where it stopped.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "ingest/catalog.h"

namespace leat::ingest {

struct PlanOptions {
  std::uint64_t shard_bytes = 256 * kMiB;
  std::uint64_t seed = 0;
  bool is_mixed = true;  // false: in the order of the source
};

struct Plan {
  bool is_mixed = true;
  std::vector<GroupId> order{};
  std::vector<std::uint64_t> cuts{};  // shard i holds order[cuts[i]] … order[cuts[i + 1] - 1]

  std::size_t shard_count() const { return cuts.empty() ? 0 : cuts.size() - 1; }
  std::span<const GroupId> shard(std::size_t number) const {
    return std::span(order).subspan(cuts[number], cuts[number + 1] - cuts[number]);
  }
};

// Shards are of equal size, none above the wanted one unless a single group is.
Plan make_plan(const Catalog& catalog, const PlanOptions& options);

// Bytes of a group in a tar: headers, data, padding.
std::uint64_t tar_bytes(const Catalog& catalog, const Group& group);

// What a shard of these groups is made of, in 20 hexadecimal digits: names, sizes, times of its
// files, and the order. Two shards with the same identity have the same bytes.
std::string identity_of(const Catalog& catalog, std::span<const GroupId> groups);
// The same for a list of identities.
std::string identity_of(std::span<const std::string> identities);

// How well labels are mixed: how much likelier two samples of a batch share one than after a full
// shuffle. 1 is perfect.
struct Quality {
  std::uint64_t labels = 0;
  // For a reader with `window_blocks` blocks of 4 MiB: by the law, and measured on this order.
  double expected = 1;
  double measured = 1;
};
Quality quality_of(const Catalog& catalog, const Plan& plan, std::uint64_t window_blocks);

}  // namespace leat::ingest
