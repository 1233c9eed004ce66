// The dataset that an ingest goes to: what it holds now, and how shards become its next version.
//
// Shard: the client's. Lifetime: the client outlives the tasks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "s3client/s3client.h"

namespace leat::ingest {

struct Standing {
  bool exists = false;
  std::uint64_t version = 0;  // 0: it has none yet
  std::string transaction{};  // that made it
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> shards{};  // keys
};

// `dataset` is "BUCKET/NAME". Errors: what the service says; not_implemented, when it knows no
// datasets.
rt::Task<Standing> look_at_dataset(s3client::S3Client& client, std::string dataset);

struct NewVersion {
  std::string dataset{};
  std::vector<std::string> shards{};
  // Nothing: shards are added to whatever is there. A version: they take the place of all of its
  // shards, if it is still the last one.
  std::optional<std::uint64_t> replaces{};
  std::uint64_t samples = 0;  // in these shards
  std::string message{};
  std::string transaction{};
};

struct Committed {
  bool is_new = true;  // false: the last version held just that
  std::uint64_t version = 0;
  std::uint64_t samples = 0;
  std::uint64_t shards = 0;
  std::uint64_t bytes = 0;
};

// Whether `key` is the last shard of the version. What a commit adds stands at the end of its
// version: so it is told from one that was made under the same transaction before.
rt::Task<bool> ends_with(s3client::S3Client& client, std::string dataset, Committed version,
                         std::string key);

// Makes the dataset if it is not there. Errors: conflict, when another version came meanwhile.
rt::Task<Committed> commit_version(s3client::S3Client& client, const Standing& standing,
                                   NewVersion next);

}  // namespace leat::ingest
