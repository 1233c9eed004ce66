// Job: one thing to do in a transfer of many, and how it ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "s3client/operations.h"
#include "transfer/tools.h"

namespace leat::transfer {

enum class Action : std::uint8_t { put, get, copy, remove, remove_file };

struct Job {
  Action action = Action::put;
  std::string path{};                   // the file of put, get and remove_file
  s3client::ObjectName source{};        // of get and copy
  s3client::ObjectName target{};        // of put and copy; of remove the bucket
  std::vector<std::string> keys{};      // of remove, at most 1000
  std::vector<std::string> versions{};  // of remove: of each key; empty: the newest ones
  std::uint64_t size_bytes = 0;         // when it was listed
  std::string etag{};                   // of the source of get and copy
  WallTime modified{};                  // of the source of get, as it was listed
  s3client::Content content{};          // of put
  bool compare_first = false;           // send it only if its contents differ
  bool remove_source = false;           // afterwards: a move
  bool is_dry = false;                  // look, and change nothing
};

struct Outcome {
  std::uint64_t size_bytes = 0;
  bool is_skipped = false;                       // it was there
  std::vector<s3client::FailedDelete> failed{};  // of remove
};

// "put ./a → photos/a"
std::string describe(const Job& job);

// Does it, on the shard of `tools`.
rt::Task<Outcome> execute(Tools& tools, Job job);

}  // namespace leat::transfer
