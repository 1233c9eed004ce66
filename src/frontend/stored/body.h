// From the store to the connection: the bytes of an object as the body of an answer.
//
// Small objects are in memory and go out with the head; large ones are handed over as they are read
// and verified. Every protocol that serves objects does it by this one way.
//
// Shard: one. Lifetime: the store outlives the response.
#pragma once

#include <cstdint>

#include "http/response.h"
#include "shards/ranges.h"
#include "shards/recipes.h"
#include "store/shard_store.h"

namespace leat::stored {

// `length`: of the range that was asked of the store.
void set_body(http::Response& response, store::Body body, std::uint64_t length);
// `length`: of all that the source gives.
void set_body(http::Response& response, std::unique_ptr<shards::RangesSource> source,
              std::uint64_t length);
void set_body(http::Response& response, std::unique_ptr<shards::RecipeSource> source,
              std::uint64_t length);

}  // namespace leat::stored
