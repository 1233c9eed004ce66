// ingest(): from what was gathered to the next version of a dataset: plan, pack, commit.
//
// Running it again goes on: shards that are there are not sent twice, a version that holds just
// these shards is not committed twice. Nothing of it is to be seen before the one commit at its
// end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ingest/commit.h"
#include "ingest/gathering.h"
#include "ingest/packing.h"
#include "ingest/plan.h"

namespace leat::ingest {

enum class Purpose : std::uint8_t {
  replace,  // the dataset is what was gathered, and nothing else
  append,   // what was gathered is added
};

struct IngestOptions {
  std::string bucket{};
  std::string name{};
  Purpose purpose = Purpose::replace;
  PlanOptions plan{};
  ShardName shard_name{};
  bool sends_everything = false;
  bool verifies = false;
  bool is_dry = false;
  std::string message{};

  std::string dataset() const { return bucket + "/" + name; }
};

struct IngestReport {
  std::optional<Committed> committed{};  // nothing of a dry run
  bool was_up_to_date = false;           // the last version holds just this: nothing was committed
  std::uint64_t samples = 0;
  std::uint64_t shards = 0;
  std::uint64_t shards_there = 0;  // before; they were not sent
  std::uint64_t shard_bytes = 0;
  std::uint64_t failed_samples = 0;
  Quality quality{};
};

// Windows of readers, for the quality of mixing: 256 MiB of blocks.
constexpr std::uint64_t kWindowBlocks = 64;

// `members` are the tools of all cores. What turns out to be bad is told to the gathering's
// complain(). Lifetime: all arguments outlive the task.
// Errors: not_found, when there is nothing to pack; what the service says; conflict, when the
// dataset changed meanwhile.
rt::Task<IngestReport> ingest(std::vector<transfer::Tools*> members, Gathering& gathering,
                              const IngestOptions& options);

}  // namespace leat::ingest
