// ShardName: how shards are called below the name of their dataset.
//
//   {number}-{id}.tar          train/000007-1f3c….tar
//   images-{number}-{id}.tar   train/images-000007-1f3c….tar
//
// The id is what a shard is made of, or who wrote it: without it shards of two versions could have
// one name, and the later one would replace what the earlier version needs. So a pattern has both.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace leat::ingest {

class ShardName {
 public:
  ShardName() = default;

  // Errors: bad_request, for what is no pattern.
  static Result<ShardName> parse(std::string_view pattern);

  // The key of an object.
  std::string key(std::string_view dataset, std::size_t number, std::string_view id) const;

 private:
  explicit ShardName(std::string_view pattern) : pattern_(pattern) {}

  std::string pattern_ = "{number}-{id}.tar";
};

}  // namespace leat::ingest
