// Datasets of made-up samples in memory, for tests: their snapshot, and the bytes of their shards.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "feed/block_source.h"
#include "feed/sample_order.h"
#include "snapshot/builder.h"

namespace leat::feed {

struct SmallDataset {
  std::shared_ptr<const dataset::Dataset> dataset{};
  std::vector<std::string> shards{};  // bytes

  // What sample `row` has in its field "txt".
  static std::string text(std::uint64_t row) {
    return fmt::format("sample {} {}", row, std::string(row % 97, 'x'));
  }
};

// `samples` in shards of `per_shard`, blocks of about `block_bytes`. Every seventh lacks "cls".
inline SmallDataset small_dataset(std::uint64_t samples, std::uint64_t per_shard,
                                  std::uint64_t block_bytes, bool is_recipe = false) {
  SmallDataset made;
  snapshot::Builder builder({.fields = {"txt", "cls"}, .block_bytes = block_bytes});
  const auto add_member = [](std::string& shard, std::string_view data) {
    shard.append(512, 'h');
    const snapshot::FieldPlace place{.offset = shard.size(), .size_bytes = data.size()};
    shard += data;
    shard.append((512 - shard.size() % 512) % 512, '\0');
    return place;
  };
  std::uint64_t row = 0;
  while (row < samples) {
    std::string& shard = made.shards.emplace_back();
    struct Place {
      std::string key;
      std::uint64_t start;
      std::uint64_t end;
      std::vector<snapshot::FieldOf> fields;
    };
    std::vector<Place> places;
    for (std::uint64_t i = 0; i < per_shard && row < samples; ++i, ++row) {
      Place place{.key = fmt::format("{:08}", row), .start = shard.size(), .end = 0, .fields = {}};
      if (row % 7 != 3) {
        place.fields.push_back({.name = "cls", .place = add_member(shard, std::to_string(row))});
      }
      place.fields.push_back({.name = "txt", .place = add_member(shard, SmallDataset::text(row))});
      place.end = shard.size();
      places.push_back(std::move(place));
    }
    EXPECT_TRUE(builder.begin_shard({.bucket = "b",
                                     .key = std::to_string(made.shards.size() - 1),
                                     .etag = "e",
                                     .size_bytes = shard.size(),
                                     .is_recipe = is_recipe}));
    for (const Place& place : places)
      EXPECT_TRUE(builder.add_sample(place.key, place.start, place.end, place.fields));
  }
  const std::string snapshot = builder.finish().value();
  std::vector<std::byte> bytes(snapshot.size());
  std::ranges::copy(as_bytes(snapshot), bytes.begin());
  std::uint64_t total = 0;
  for (const std::string& shard : made.shards)
    total += shard.size();
  dataset::DatasetFacts facts{
      .name = "b/n", .version = 1, .samples = samples, .bytes = total, .fields = {"txt", "cls"}};
  made.dataset = dataset::Dataset::open(std::move(facts), std::move(bytes)).value();
  return made;
}

}  // namespace leat::feed
