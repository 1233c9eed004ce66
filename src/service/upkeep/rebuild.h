// Rebuild: datasets whose pointers are lost, found again.
//
// A record is written before its version is committed, so the newest one that is whole is the last
// version, or one that was about to become it: whole in itself either way. Where snapshots are
// lost, records say which shards a version had; where records are lost, too, shards say whose they
// are. What was removed has a tombstone and stays removed. Nothing is guessed in silence: each
// dataset comes with what could not be known.
//
// Shard: one. docs/adr/0020-datasets-are-rebuilt-by-a-node.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datasets/datasets.h"

namespace leat::upkeep {

struct Rebuilt {
  // `removed`: it was not lost, and is not brought back.
  enum class By : std::uint8_t { record, log, shards, nothing, removed };
  datasets::DatasetName dataset{};
  By by = By::record;
  std::uint64_t version = 0;
  std::uint64_t samples = 0;
  std::vector<std::string> unknown{};  // sentences
};

std::string_view word_of(Rebuilt::By by);

// The datasets of a bucket that have no pointer, one to no version although objects tell of it, or
// one to a version whose snapshot is lost: so a rebuild that was killed is ended by the next.
// What is wrong with one of them is told with it, and keeps nobody from the others. `is_dry`: says
// what it would do.
// Lifetime: `datasets` outlives the task. Errors: those of Datasets and of the store.
rt::Task<std::vector<Rebuilt>> rebuild(datasets::Datasets& datasets, std::string bucket,
                                       bool is_dry);

}  // namespace leat::upkeep
