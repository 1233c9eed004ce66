// Plain objects as shards: recipes of tars that nobody has stored.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "shard/sample_name.h"
#include "upkeep/adopt.h"

namespace leat::upkeep {
namespace {

constexpr std::size_t kPage = 1000;
// Of one recipe, which is read whole.
constexpr std::size_t kMembersMax = 20'000;

struct Candidate {
  std::string sample{};
  shard::Ingredient ingredient{};
};

// Objects that recipes of the version name already.
rt::Task<std::set<std::string>> adopted_before(datasets::Datasets& datasets,
                                               const datasets::Opened& opened) {
  std::set<std::string> keys;
  if (opened.ref.version == 0) co_return keys;
  LEAT_CO_TRY(const auto reader, co_await datasets.reader(opened));
  for (std::uint32_t i = 0; i < reader->shard_count(); ++i) {
    LEAT_CO_TRY(snapshot::ShardEntry entry, reader->catalog().shard(i));
    if (!entry.is_recipe) continue;
    record::ObjectKey object{.bucket = opened.bucket, .key = std::move(entry.key)};
    LEAT_CO_TRY(const auto found, co_await datasets.parts().store.find(std::move(object)));
    LEAT_CO_TRY(const auto recipe, co_await shards::load_recipe(datasets.parts().store, found));
    for (const shard::Ingredient& one : recipe->recipe.members)
      keys.insert(one.key);
  }
  co_return keys;
}

// Samples stay together.
std::vector<shard::Recipe> cut(std::vector<Candidate> all, std::uint64_t shard_bytes) {
  std::vector<shard::Recipe> recipes;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_new_sample = i == 0 || all[i].sample != all[i - 1].sample;
    const bool is_full =
        recipes.empty() || bytes >= shard_bytes || recipes.back().members.size() >= kMembersMax;
    if (is_new_sample && is_full) {
      recipes.emplace_back();
      bytes = 0;
    }
    bytes += all[i].ingredient.size_bytes;
    recipes.back().members.push_back(std::move(all[i].ingredient));
  }
  return recipes;
}

}  // namespace

rt::Task<PlainObjects> find_objects(datasets::Datasets& datasets, datasets::DatasetName name,
                                    std::string prefix, std::uint64_t shard_bytes) {
  datasets::Reference latest{.dataset = name};
  LEAT_CO_TRY(const datasets::Opened opened, co_await datasets.open(std::move(latest)));
  LEAT_CO_TRY(const auto known, co_await adopted_before(datasets, opened));
  LEAT_CO_TRY(const auto present, co_await shards_of(datasets, opened));
  const std::set<std::string> shards(present.begin(), present.end());
  PlainObjects found;
  std::vector<Candidate> candidates;
  index::ListRequest request{.bucket = opened.bucket, .prefix = prefix, .max = kPage};
  for (bool is_more = true; is_more;) {
    LEAT_CO_TRY(const index::ListPage page, co_await datasets.parts().store.list(request));
    is_more = page.is_truncated;
    for (const index::ListItem& item : page.items) {
      request.after = item.name;
      const bool is_own = item.name.find("/_leat/") != item.name.npos;
      if (!item.version || is_own || known.contains(item.name)) continue;
      // Shards and what producers appended are no samples.
      if (!datasets::dataset_of(*item.version).empty()) continue;
      if (datasets::parse_append_key(name, item.name) || shards.contains(item.name)) continue;
      const std::string member = item.name.substr(prefix.size());
      const auto split = shard::split_name(member);
      const bool is_member = split && !member.starts_with('/') && !member.ends_with('/') &&
                             member.find('\0') == member.npos;
      if (!is_member) {
        ++found.passed_over;
        continue;
      }
      candidates.push_back({.sample = std::string(split->key),
                            .ingredient = {.name = member,
                                           .key = item.name,
                                           .etag = item.version->etag,
                                           .size_bytes = item.version->size_bytes}});
      found.keys.push_back(item.name);
    }
  }
  // A folder's name may sort between two fields of a sample.
  std::ranges::sort(candidates, {},
                    [](const Candidate& one) { return std::tie(one.sample, one.ingredient.name); });
  found.recipes = cut(std::move(candidates), shard_bytes);
  co_return found;
}

rt::Task<std::vector<std::string>> write_recipes(datasets::Datasets& datasets,
                                                 datasets::DatasetName name,
                                                 std::vector<shard::Recipe> recipes) {
  LEAT_CO_TRY(const record::BucketId bucket, datasets.find_bucket(name));
  store::ShardStore& store = datasets.parts().store;
  const std::uint64_t stem = store.kit().rng.next();
  std::vector<std::string> keys;
  for (const shard::Recipe& recipe : recipes) {
    keys.push_back(fmt::format("{}/_leat/{:016x}-{:06}.recipe", name.name, stem, keys.size()));
    const std::string bytes = encode(recipe);
    record::ObjectKey object{.bucket = bucket, .key = keys.back()};
    store::PutDetails details;
    details.attributes = {{.name = "content-type", .value = std::string(shard::kRecipeType)},
                          {.name = std::string(datasets::kDatasetAttribute), .value = name.name}};
    LEAT_CO_DO(co_await store.put_text(std::move(object), bytes, std::move(details)));
  }
  co_return keys;
}

}  // namespace leat::upkeep
