// Recipes of shards: read from the store, and their tars made when somebody wants them.
//
// Shard: one. Lifetime: the store outlives everything here.
#pragma once

#include <memory>
#include <string>

#include "shard/recipe.h"
#include "shards/ranges.h"

namespace leat::shards {

struct LoadedRecipe {
  record::BucketId bucket{};  // of its objects
  shard::Recipe recipe{};
  shard::RecipeLayout layout{};
};
using RecipePtr = std::shared_ptr<const LoadedRecipe>;

// What its writer says it is; load_recipe() finds out.
bool is_recipe(const record::Version& version);

// Errors: corrupt; those of the store.
rt::Task<RecipePtr> load_recipe(store::ShardStore& store, const store::Found& found);

// Ranges of a recipe's tar, one after the other, as a stream.
class RecipeSource {
 public:
  // `tail` follows the ranges.
  RecipeSource(store::ShardStore& store, RecipePtr recipe, Ranges ranges, std::string tail)
      : store_(store),
        recipe_(std::move(recipe)),
        ranges_(std::move(ranges)),
        tail_(std::move(tail)) {}

  // The next bytes, valid until the next call; empty at the end.
  // Errors: precondition_failed, when an object is another one now; those of the store.
  rt::Task<Bytes> next();

 private:
  // Bytes of the object of a member, or its beginning as a stream.
  rt::Task<void> take_object(std::size_t number, volume::ByteRange range);
  // Adds the next bytes of the present range to what was gathered.
  rt::Task<void> step();

  store::ShardStore& store_;
  const RecipePtr recipe_;
  const Ranges ranges_;
  std::string tail_;
  std::size_t at_ = 0;                    // the range that is wanted next …
  std::uint64_t taken_ = 0;               // … and how much of it was given
  std::unique_ptr<RangesSource> stream_;  // of a large object
  std::string gathered_;
};

}  // namespace leat::shards
