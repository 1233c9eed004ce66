#include "snapshot/builder.h"

#include <algorithm>

#include "codec/codec.h"
#include "snapshot/key_page.h"

namespace leat::snapshot {
namespace {

constexpr std::uint32_t kLacks = 0xFFFF'FFFF;
constexpr std::uint8_t kLeadUnitsMax = 255;

auto refuse(const char* why) {
  return fail(Errc::bad_request, why);
}

}  // namespace

Builder::Builder(BuilderOptions options)
    : fields_(std::move(options.fields)), block_bytes_(options.block_bytes) {
  sizes_.resize(fields_.size());
}

Status Builder::begin_shard(ShardEntry shard) {
  if (shards_.size() >= kRowsMax) return refuse("a snapshot has too many shards");
  if (shard.size_bytes >= kShardMaxBytes) return refuse("a shard is too large");
  shards_.push_back({.entry = std::move(shard),
                     .first_row = static_cast<Row>(places_.size()),
                     .first_block = static_cast<std::uint32_t>(blocks_.size()),
                     .lead_units = 1,
                     .field_order = {}});
  last_end_ = 0;
  return {};
}

std::optional<std::size_t> Builder::known_field(std::string_view name) const {
  const auto found = std::ranges::find(fields_, name);
  if (found == fields_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - fields_.begin());
}

Status Builder::check_sample(std::string_view key, std::uint64_t start, std::uint64_t end,
                             std::span<const FieldOf> fields) const {
  if (shards_.empty()) return refuse("a sample needs a shard");
  if (places_.size() >= kRowsMax) return refuse("a snapshot has too many samples");
  if (key.size() > kKeyMaxBytes) return refuse("the key of a sample is too long");
  if (start < last_end_) return refuse("samples of a shard overlap or go back");
  if (end < start || end > shards_.back().entry.size_bytes) {
    return refuse("a sample is outside of its shard");
  }
  std::size_t field_count = fields_.size();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldPlace& place = fields[i].place;
    if (place.offset < start || place.offset > end || place.size_bytes > end - place.offset) {
      return refuse("a field is outside of its sample");
    }
    for (std::size_t before = 0; before < i; ++before)
      if (fields[before].name == fields[i].name) return refuse("a sample has a field twice");
    if (!known_field(fields[i].name)) ++field_count;
  }
  if (field_count > kFieldsMax) return refuse("a dataset has too many fields");
  return {};
}

std::size_t Builder::field_id(std::string_view name) {
  if (const auto known = known_field(name)) return *known;
  fields_.emplace_back(name);
  sizes_.emplace_back(places_.size(), kLacks);
  return fields_.size() - 1;
}

Status Builder::add_sample(std::string_view key, std::uint64_t start, std::uint64_t end,
                           std::span<const FieldOf> fields) {
  LEAT_DO(check_sample(key, start, end, fields));
  Sample sample{.row = static_cast<Row>(places_.size()), .start = start, .end = end};
  for (const FieldOf& field : fields) {
    const std::size_t id = field_id(field.name);
    sample.fields.resize(fields_.size());
    sample.fields[id] = field.place;
  }
  sample.fields.resize(fields_.size());
  Shard& shard = shards_.back();
  if (shard.first_row == sample.row) learn_shape(shard, sample, fields);
  if (is_regular(shard, sample)) {
    for (std::size_t id = 0; id < fields_.size(); ++id) {
      const auto& field = sample.fields[id];
      sizes_[id].push_back(field ? static_cast<std::uint32_t>(field->size_bytes) : kLacks);
    }
    places_.push_back(static_cast<std::uint32_t>(start / kTarUnit));
  } else {
    for (auto& column : sizes_)
      column.push_back(kLacks);
    places_.push_back(add_wide(sample));
  }
  keys_.add(key);
  cut_block(sample);
  last_end_ = end;
  return {};
}

// The first sample of a shard shows how the others are expected to look.
void Builder::learn_shape(Shard& shard, const Sample& sample, std::span<const FieldOf> fields) {
  std::vector<std::size_t> ids;
  for (const FieldOf& field : fields)
    ids.push_back(*known_field(field.name));
  std::ranges::sort(ids, {}, [&](std::size_t id) { return sample.fields[id]->offset; });
  for (const std::size_t id : ids)
    shard.field_order.push_back(static_cast<char>(id));
  if (ids.empty()) return;
  const std::uint64_t lead = (sample.fields[ids.front()]->offset - sample.start) / kTarUnit;
  if (lead <= kLeadUnitsMax) shard.lead_units = static_cast<std::uint8_t>(lead);
}

bool Builder::is_regular(const Shard& shard, const Sample& sample) const {
  if (sample.start % kTarUnit != 0 || sample.start / kTarUnit >= kWideBit) return false;
  Sizes sizes(sample.fields.size());
  for (std::size_t id = 0; id < sizes.size(); ++id) {
    if (!sample.fields[id]) continue;
    if (sample.fields[id]->size_bytes >= kLacks) return false;
    sizes[id] = sample.fields[id]->size_bytes;
  }
  Sample expected;
  lay_out({.lead_units = shard.lead_units, .field_order = shard.field_order}, sample.start, sizes,
          expected);
  return expected.end == sample.end && expected.fields == sample.fields;
}

std::uint32_t Builder::add_wide(const Sample& sample) {
  const std::string record = encode_wide(sample);
  // No record crosses pages, so that one page is enough to read it.
  const std::size_t left = kPageBytes - wide_.size() % kPageBytes;
  if (record.size() > left) wide_.append(left, '\0');
  const std::size_t at = wide_.size() / kWideUnit;
  wide_ += record;
  wide_.append((kWideUnit - wide_.size() % kWideUnit) % kWideUnit, '\0');
  return static_cast<std::uint32_t>(at) | kWideBit;
}

void Builder::cut_block(const Sample& sample) {
  const bool begins_shard = shards_.back().first_row == sample.row;
  if (begins_shard || sample.end - block_start_ > block_bytes_) {
    blocks_.push_back(sample.row);
    block_start_ = sample.start;
  }
}

}  // namespace leat::snapshot
