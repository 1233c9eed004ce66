#include "training/batch_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "rt/shard.h"
#include "shards/recipes.h"
#include "training/calls.h"

namespace leat::training {
namespace {

using datasets::SnapshotReader;
using shards::BatchItem;

// Looked up one after the other, before others have their turn.
constexpr std::size_t kItemsAtOnce = 64;
// What the places of all items may take, and what an object adds to that beside its names.
constexpr std::uint64_t kPlacesMaxBytes = 128 * kMiB;
constexpr std::uint64_t kObjectBytes = 256;

// Where the bytes of a shard are.
struct Source {
  std::uint32_t object = 0;  // its number in the request
  std::string bucket{};
  shards::RecipePtr recipe{};                                // of one that is made of objects
  std::unordered_map<std::size_t, std::uint32_t> objects{};  // of its members
};

class Placing {
 public:
  Placing(ParsedBatch& batch, SnapshotReader& reader, const s3::Call& call)
      : batch_(batch), reader_(reader), call_(call) {
    auto& names = batch.request.field_names;
    first_name_ = static_cast<std::uint32_t>(names.size());
    std::ranges::copy(reader.catalog().fields(), std::back_inserter(names));
  }

  // Keys in their order, then rows in theirs: as they stand in the snapshot.
  rt::Task<void> run(std::uint32_t dataset) {
    std::vector<OfDataset*> named;
    std::vector<OfDataset*> numbered;
    for (OfDataset& one : batch_.of_datasets) {
      if (one.dataset == dataset) (one.row ? numbered : named).push_back(&one);
    }
    std::ranges::sort(named, {}, [this](OfDataset* one) { return std::string_view(name(*one)); });
    for (OfDataset* one : named) {
      const Status found = co_await find_row(*one);
      if (!found) item(*one).set_failed(found.error());
      if (found) numbered.push_back(one);
      LEAT_CO_DO(co_await take_turns());
    }
    std::ranges::sort(numbered, {}, [](OfDataset* one) { return one->row; });
    for (OfDataset* one : numbered) {
      const Status placed = co_await place_one(*one);
      if (!placed) item(*one).set_failed(placed.error());
      if (batch_.places_bytes > kPlacesMaxBytes) {
        co_return fail(Errc::bad_request, "too many fields of samples for one batch");
      }
      LEAT_CO_DO(co_await take_turns());
    }
    co_return Status{};
  }

 private:
  BatchItem& item(const OfDataset& one) { return batch_.request.items[one.item]; }
  const std::string& name(const OfDataset& one) { return item(one).name; }

  rt::Task<void> take_turns() {
    if (++done_ % kItemsAtOnce == 0) LEAT_CO_DO(co_await rt::yield());
    co_return Status{};
  }

  rt::Task<void> find_row(OfDataset& one) {
    LEAT_CO_TRY(const auto sample, co_await reader_.find(name(one)));
    if (!sample) {
      co_return fail(Errc::not_found, fmt::format("the dataset has no sample {:?}", name(one)));
    }
    one.row = sample->row;
    co_return Status{};
  }

  rt::Task<void> place_one(const OfDataset& one) {
    if (*one.row >= reader_.sample_count()) {
      co_return fail(Errc::not_found, fmt::format("the dataset has no row {}", *one.row));
    }
    BatchItem& wanted = item(one);
    LEAT_CO_TRY(const auto sample, co_await reader_.sample(static_cast<snapshot::Row>(*one.row)));
    LEAT_CO_TRY(auto places, place(sample, batch_.request.field_lists[wanted.fields]));
    // What a tar calls it.
    if (wanted.name.empty() && batch_.format == Format::tar) {
      LEAT_CO_TRY(wanted.name, co_await reader_.key(sample.row));
    }
    LEAT_CO_TRY(Source * source, co_await source_of(sample.shard));
    for (shards::PlacedField& field : places) {
      field.object = source->object;
      if (source->recipe) LEAT_CO_DO(place_in_object(*source, field));
    }
    batch_.places_bytes += places.size() * sizeof(shards::PlacedField);
    wanted.what = BatchItem::What::places;
    wanted.places = std::move(places);
    co_return Status{};
  }

  // The fields of a sample, those asked for or all. Errors: not_found.
  Result<std::vector<shards::PlacedField>> place(const snapshot::Sample& sample,
                                                 const std::vector<std::string>& wanted) const {
    std::vector<shards::PlacedField> places;
    places.reserve(wanted.empty() ? sample.fields.size() : wanted.size());
    const auto add = [&](std::size_t field) {
      const snapshot::FieldPlace& at = *sample.fields[field];
      places.push_back({.data = {.offset = at.offset, .length = at.size_bytes},
                        .name = first_name_ + static_cast<std::uint32_t>(field)});
    };
    for (std::size_t i = 0; i < sample.fields.size() && wanted.empty(); ++i) {
      if (sample.fields[i]) add(i);
    }
    for (const std::string& name : wanted) {
      const auto known = reader_.catalog().field_id(name);
      if (!known || !sample.fields[*known]) {
        return fail(Errc::not_found, fmt::format("the sample has no field {:?}", name));
      }
      add(*known);
    }
    return places;
  }

  std::uint32_t add_object(shards::ObjectName name) {
    auto& all = batch_.request.objects;
    batch_.places_bytes += kObjectBytes + name.bucket.size() + name.key.size() + name.etag.size();
    all.push_back(std::move(name));
    return static_cast<std::uint32_t>(all.size() - 1);
  }

  // Samples come in the order of shards: only the last one is kept, or why it cannot be had.
  rt::Task<Source*> source_of(std::uint32_t shard) {
    if (shard_ != shard) {
      source_ = co_await open_source(shard);
      shard_ = shard;
    }
    if (!source_) co_return fail(source_.error());
    co_return &*source_;
  }

  rt::Task<Source> open_source(std::uint32_t shard) {
    LEAT_CO_TRY(const snapshot::ShardEntry entry, reader_.catalog().shard(shard));
    Source source{.bucket = entry.bucket};
    shards::ObjectName name{.bucket = entry.bucket, .key = entry.key, .etag = entry.etag};
    if (!entry.is_recipe) {
      name.size_bytes = entry.size_bytes;
      source.object = add_object(std::move(name));
      co_return source;
    }
    // A recipe is an object like others; those that it names are judged when they are read.
    LEAT_CO_TRY(const store::Found found, co_await find_readable(call_, std::move(name)));
    LEAT_CO_TRY(source.recipe, co_await shards::load_recipe(call_.store(), found));
    co_return source;
  }

  // From a place in the tar to all of the object that stands there.
  Status place_in_object(Source& source, shards::PlacedField& one) {
    const auto& members = source.recipe->layout.members;
    const auto member =
        std::ranges::lower_bound(members, one.data.offset, {}, &tar::Member::data_offset);
    if (member == members.end() || member->data_offset != one.data.offset ||
        member->size_bytes != one.data.length) {
      return fail(Errc::corrupt, "a snapshot and the recipe of its shard differ");
    }
    const auto number = static_cast<std::size_t>(member - members.begin());
    const auto [known, is_new] = source.objects.try_emplace(number, 0);
    if (is_new) {
      const shard::Ingredient& object = source.recipe->recipe.members[number];
      known->second = add_object({.bucket = source.bucket,
                                  .key = object.key,
                                  .etag = object.etag,
                                  .size_bytes = object.size_bytes});
    }
    one.object = known->second;
    one.data.offset = 0;
    return {};
  }

  ParsedBatch& batch_;
  SnapshotReader& reader_;
  const s3::Call& call_;
  std::uint32_t first_name_ = 0;  // of the dataset's fields, in the request
  std::size_t done_ = 0;
  std::optional<std::uint32_t> shard_;
  Result<Source> source_ = fail(Errc::not_found);
};

}  // namespace

rt::Task<void> place_items(ParsedBatch& batch, std::uint32_t dataset, SnapshotReader& reader,
                           const s3::Call& call) {
  Placing placing(batch, reader, call);
  co_return co_await placing.run(dataset);
}

}  // namespace leat::training
