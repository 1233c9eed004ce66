// Lint: what readers of a version may stumble over. Reads headers and indexes, no data.
//
// Shard: one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "datasets/datasets.h"

namespace leat::upkeep {

struct Problem {
  std::string kind{};  // as docs/reference/datasets.md names them
  std::string shard{};
  std::string name{};  // of the sample or member
  std::string detail{};
};

struct LintReport {
  std::map<std::string, std::uint64_t> counts{};  // by kind
  std::vector<Problem> problems{};                // the first ones of each kind
};

// `max`: how many of a kind are named. Lifetime: both references outlive the task.
// Requires: the version is not 0. Errors: those of Datasets, but none of a shard.
rt::Task<LintReport> lint(datasets::Datasets& datasets, const datasets::Opened& opened,
                          std::uint64_t max);

}  // namespace leat::upkeep
