// Vacuum: versions that nobody keeps are given up, and what only they needed is removed.
//
// First the control store is told which versions are gone, on the condition that no tag, pin or
// commit came meanwhile; then objects go, published before to all who commit in the bucket
// (datasets/doomed.h). Whoever is killed in between leaves objects that the next vacuum finds.
//
// Shard: one.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/datasets.h"

namespace leat::upkeep {

struct VacuumOptions {
  // A version that was the last one within this time is kept.
  std::uint64_t keep_ms = 7ULL * 24 * 3600 * 1000;
  bool is_dry = false;
};

struct VacuumReport {
  std::vector<std::uint64_t> versions{};  // that went, the newest first
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
};

// Lifetime: `datasets` outlives the task. Errors: conflict, when a dataset of the bucket changed
// meanwhile, or another vacuum is under way in it;
// those of Datasets and of the store.
rt::Task<VacuumReport> vacuum(datasets::Datasets& datasets, datasets::DatasetName name,
                              VacuumOptions options);

}  // namespace leat::upkeep
