// A dataset version as plain vectors, made up from a seed, and the snapshot that is built of it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "snapshot/builder.h"
#include "snapshot/view.h"

namespace leat::snapshot {

// SplitMix64.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t bound) {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return (x ^ (x >> 31)) % bound;
  }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

struct ModelSample {
  std::string key{};
  std::uint32_t shard = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::map<std::string, FieldPlace> fields{};
};

struct Model {
  std::vector<ShardEntry> shards{};
  std::vector<ModelSample> samples{};

  Result<std::string> build(BuilderOptions options = {}) const {
    Builder builder(std::move(options));
    std::size_t row = 0;
    for (std::size_t shard = 0; shard < shards.size(); ++shard) {
      LEAT_DO(builder.begin_shard(shards[shard]));
      for (; row < samples.size() && samples[row].shard == shard; ++row) {
        const ModelSample& sample = samples[row];
        std::vector<FieldOf> fields;
        for (const auto& [name, place] : sample.fields)
          fields.push_back({.name = name, .place = place});
        LEAT_DO(builder.add_sample(sample.key, sample.start, sample.end, fields));
      }
    }
    return builder.finish();
  }

  // Rows by key, then row.
  std::vector<Row> sorted() const {
    std::vector<Row> rows;
    for (Row row = 0; row < samples.size(); ++row)
      rows.push_back(row);
    std::ranges::sort(rows, {}, [&](Row row) { return std::pair(samples[row].key, row); });
    return rows;
  }
};

// Appends a sample of members with `lead` bytes of headers each, in the order given, to the last
// shard.
inline void add_regular(Model& model, std::string key,
                        const std::vector<std::pair<std::string, std::uint64_t>>& members,
                        std::uint64_t lead = kTarUnit) {
  ShardEntry& shard = model.shards.back();
  ModelSample sample{.key = std::move(key),
                     .shard = static_cast<std::uint32_t>(model.shards.size() - 1),
                     .start = shard.size_bytes};
  std::uint64_t at = shard.size_bytes;
  for (const auto& [name, size_bytes] : members) {
    sample.fields[name] = {.offset = at + lead, .size_bytes = size_bytes};
    at += lead + (size_bytes + kTarUnit - 1) / kTarUnit * kTarUnit;
  }
  sample.end = at;
  shard.size_bytes = at;
  model.samples.push_back(std::move(sample));
}

struct Variety {
  std::uint64_t samples = 200;
  std::uint64_t shards = 5;
  std::uint64_t irregular_one_in = 10;
  std::uint64_t large_one_in = 20;
  std::uint64_t duplicate_one_in = 20;
  bool sorted_keys = false;
};

inline Model make_model(std::uint64_t seed, const Variety& variety) {
  Draw draw(seed);
  Model model;
  const std::vector<std::string> names = {"cls", "jpg", "json", "seg.png", "txt"};
  const std::uint64_t name_count = 1 + draw.below(names.size());
  for (std::uint64_t i = 0; i < variety.samples; ++i) {
    const bool is_new_shard = draw.one_in(variety.samples / variety.shards + 1);
    if (model.shards.empty() || is_new_shard) {
      const std::string number = std::to_string(model.shards.size());
      model.shards.push_back({.bucket = "b" + std::to_string(draw.below(2)),
                              .key = "train/" + number + ".tar",
                              .version = draw.one_in(2) ? "" : "v" + number,
                              .etag = "e" + number,
                              .size_bytes = draw.below(3) * kTarUnit});
    }
    const std::uint64_t lead = model.shards.size() % 3 == 0 ? 3 * kTarUnit : kTarUnit;
    std::vector<std::pair<std::string, std::uint64_t>> members;
    for (std::uint64_t name = 0; name < name_count; ++name) {
      if (draw.one_in(8)) continue;
      const std::uint64_t limit = draw.one_in(variety.large_one_in) ? 5 * kGiB : 3000;
      members.emplace_back(names[name], draw.below(limit));
    }
    std::string key = draw.one_in(3) ? "a/" : "";
    key += std::to_string(variety.sorted_keys ? 1'000'000 + i : draw.below(1'000'000));
    if (variety.sorted_keys) key = "x/" + std::to_string(1'000'000 + i);
    if (!model.samples.empty() && draw.one_in(variety.duplicate_one_in)) {
      key = model.samples[draw.below(model.samples.size())].key;
    }
    add_regular(model, key, members, lead);
    ModelSample& sample = model.samples.back();
    if (draw.one_in(variety.irregular_one_in)) {
      const std::uint64_t more = draw.below(2000);  // something of no field behind, or before
      sample.end += more;
      if (draw.one_in(2)) {
        for (auto& [name, place] : sample.fields)
          place.offset += more;
      }
      model.shards.back().size_bytes = sample.end;
    }
    if (draw.one_in(5)) model.shards.back().size_bytes += draw.below(4) * kTarUnit;
  }
  return model;
}

inline void expect_sample(const View& view, const Model& model, Row row, const Sample& sample) {
  const ModelSample& expected = model.samples.at(row);
  EXPECT_EQ(sample.row, row);
  EXPECT_EQ(sample.shard, expected.shard);
  EXPECT_EQ(sample.start, expected.start);
  EXPECT_EQ(sample.end, expected.end);
  std::map<std::string, FieldPlace> fields;
  for (std::size_t id = 0; id < sample.fields.size(); ++id)
    if (sample.fields[id]) fields[view.fields().at(id)] = *sample.fields[id];
  EXPECT_EQ(fields, expected.fields) << row;
}

}  // namespace leat::snapshot
