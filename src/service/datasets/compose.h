// compose(): the snapshot of a dataset's next version, from the one before and what changes. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "shard/index.h"
#include "snapshot/builder.h"
#include "snapshot/view.h"

namespace leat::datasets {

struct NewShard {
  snapshot::ShardEntry entry{};
  // Lifetime: outlives the call.
  const shard::View* index = nullptr;
};

struct Changes {
  std::vector<NewShard> added{};
  std::set<std::string> removed_shards{};   // keys
  std::set<std::string> deleted_samples{};  // keys; all samples of one
};

struct Composed {
  std::string snapshot{};
  std::string fingerprint{};
  std::uint64_t samples = 0;
  std::uint64_t shards = 0;
  std::uint64_t bytes = 0;  // of the shards
  std::vector<std::string> fields{};
  std::uint64_t deleted_samples = 0;
};

// `before`: null for the first version.
// Errors: not_found, when a shard or sample that shall go is not there; conflict, when a shard that
// comes is there already; bad_request, when a sample has a field twice; corrupt.
Result<Composed> compose(const snapshot::View* before, const Changes& changes);

}  // namespace leat::datasets
