#include "shards/recipes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rt/shard.h"
#include "tar/writer.h"

namespace leat::shards {
namespace {

constexpr std::size_t kGatherBytes = 128 * kKiB;
// A larger piece of an object is handed on as it is read.
constexpr std::uint64_t kStreamBytes = 64 * kKiB;

}  // namespace

bool is_recipe(const record::Version& version) {
  const auto type = std::ranges::find(version.attributes, "content-type", &record::Attribute::name);
  return type != version.attributes.end() && type->value == shard::kRecipeType;
}

rt::Task<RecipePtr> load_recipe(store::ShardStore& store, const store::Found& found) {
  LEAT_CO_TRY(const std::string bytes, co_await read_whole(store, found, shard::kRecipeMaxBytes));
  auto loaded = std::make_shared<LoadedRecipe>();
  loaded->bucket = found.object.bucket;
  LEAT_CO_TRY(loaded->recipe, shard::decode_recipe(as_bytes(bytes)));
  loaded->layout = lay_out(loaded->recipe);
  co_return loaded;
}

rt::Task<void> RecipeSource::take_object(std::size_t number, volume::ByteRange range) {
  const shard::Ingredient& one = recipe_->recipe.members[number];
  record::ObjectKey object{.bucket = recipe_->bucket, .key = one.key};
  LEAT_CO_TRY(store::Found found, co_await store_.find(std::move(object)));
  if (found.version.etag != one.etag || found.version.size_bytes != one.size_bytes) {
    co_return fail(Errc::precondition_failed,
                   fmt::format("{} is another one than when the dataset was committed", one.key));
  }
  if (range.length > kStreamBytes) {
    stream_ = std::make_unique<RangesSource>(store_, std::move(found), Ranges{range}, "");
    co_return Status{};
  }
  LEAT_CO_TRY(const std::string bytes, co_await store_.read_text(found, range));
  gathered_ += bytes;
  co_return Status{};
}

rt::Task<void> RecipeSource::step() {
  const std::uint64_t at = ranges_[at_].offset + taken_;
  const std::uint64_t left = ranges_[at_].length - taken_;
  if (at >= recipe_->layout.size_bytes) {
    co_return fail(Errc::corrupt, "a snapshot leads outside of the shard that a recipe makes");
  }
  const auto& members = recipe_->layout.members;
  const std::size_t number = recipe_->layout.member_at(at);
  std::uint64_t end = recipe_->layout.size_bytes;
  if (number < members.size()) {
    const tar::Member& member = members[number];
    const std::uint64_t data_end = member.data_offset + member.size_bytes;
    if (at < member.data_offset) {
      const std::string header =
          tar::header({.name = member.name, .size_bytes = member.size_bytes});
      gathered_ += std::string_view(header).substr(at - member.start, left);
      taken_ += std::min(member.data_offset - at, left);
      co_return Status{};
    }
    if (at < data_end) {
      const std::uint64_t length = std::min(data_end - at, left);
      taken_ += length;
      const volume::ByteRange wanted{.offset = at - member.data_offset, .length = length};
      co_return co_await take_object(number, wanted);
    }
    end = data_end + tar::padding(member.size_bytes);
  }
  const std::uint64_t zeros = std::min(end - at, left);
  gathered_.append(zeros, '\0');
  taken_ += zeros;
  co_return Status{};
}

rt::Task<Bytes> RecipeSource::next() {
  gathered_.clear();
  for (;;) {
    if (stream_) {
      // What stands before it goes out before it.
      if (!gathered_.empty()) break;
      LEAT_CO_TRY(const Bytes piece, co_await stream_->next());
      if (!piece.empty()) co_return piece;
      stream_.reset();
    }
    if (at_ == ranges_.size() || gathered_.size() >= kGatherBytes) break;
    if (taken_ == ranges_[at_].length) {
      ++at_;
      taken_ = 0;
      continue;
    }
    LEAT_CO_DO(co_await step());
    LEAT_CO_DO(co_await rt::yield());
  }
  if (gathered_.empty()) gathered_ = std::exchange(tail_, std::string());
  co_return as_bytes(gathered_);
}

}  // namespace leat::shards
