// Adopting: tars that are stored already become shards of a dataset, where they are.
//
// Shard: one.
#pragma once

#include <string>
#include <vector>

#include "datasets/datasets.h"

namespace leat::upkeep {

// Keys of the tars below `prefix` that the last version of the dataset does not have, sorted.
// Lifetime: `datasets` outlives the task. Errors: those of Datasets.
rt::Task<std::vector<std::string>> find_tars(datasets::Datasets& datasets,
                                             datasets::DatasetName name, std::string prefix);

// Plain objects below a prefix that are fields of samples, as recipes of shards.
struct PlainObjects {
  std::vector<shard::Recipe> recipes{};
  std::vector<std::string> keys{};  // of all objects in them
  std::uint64_t passed_over = 0;    // that are no field of a sample
};
// Those that the last version of the dataset does not have. Samples are those of WebDataset's rule
// for what stands behind the prefix, sorted; a shard has about `shard_bytes`.
// Lifetime and errors: as above.
rt::Task<PlainObjects> find_objects(datasets::Datasets& datasets, datasets::DatasetName name,
                                    std::string prefix, std::uint64_t shard_bytes);
// Stores recipes, for a commit to add; gives their keys.
rt::Task<std::vector<std::string>> write_recipes(datasets::Datasets& datasets,
                                                 datasets::DatasetName name,
                                                 std::vector<shard::Recipe> recipes);

// Keys of a version's shards, in their order.
rt::Task<std::vector<std::string>> shards_of(datasets::Datasets& datasets,
                                             const datasets::Opened& opened);

}  // namespace leat::upkeep
