#include "snapshot/catalog.h"

#include <algorithm>

#include "codec/codec.h"

namespace leat::snapshot {
namespace {

using codec::Decoder;

constexpr std::uint64_t kShardNumbersBytes = 12;
constexpr std::uint64_t kDirectoryNumbersBytes = 8;
constexpr std::uint32_t kContinuedBit = 0x8000'0000;

auto damaged(std::string what) {
  return fail(Errc::corrupt, "of a snapshot, damaged: " + std::move(what));
}

Status check_below(std::uint64_t number, std::uint64_t count) {
  if (number < count) return {};
  return fail(Errc::bad_request, "a snapshot has no such row, shard, block or key");
}

// The first of `count` numbers for which `is_behind` holds; `count` if for none. Costs log(count).
template <class IsBehind>
Result<std::uint32_t> first_behind(std::uint32_t count, IsBehind is_behind) {
  std::uint32_t low = 0;
  std::uint32_t high = count;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    LEAT_TRY(const bool behind, is_behind(middle));
    if (behind) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

Catalog::Catalog(Pages pages)
    : pages_(std::move(pages)),
      shards_(pages_.section(SectionKind::shards)),
      directory_(pages_.section(SectionKind::directory)),
      wide_(pages_.section(SectionKind::wide)) {}

Result<Catalog> Catalog::open(Bytes last, std::uint64_t file_bytes) {
  LEAT_TRY(Pages pages, Pages::open(last, file_bytes));
  Catalog catalog(std::move(pages));
  LEAT_DO(catalog.read_fields());
  LEAT_DO(catalog.read_recipes());
  LEAT_DO(catalog.check_sizes());
  return catalog;
}

Status Catalog::read_fields() {
  const Section section = pages_.section(SectionKind::fields);
  LEAT_TRY(const Bytes bytes, pages_.read(section, 0, section.size_bytes));
  Decoder in(bytes);
  const std::uint64_t count = in.varint();
  if (count > kFieldsMax) return damaged("fields");
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view name = in.text();
    if (field_id(name)) in.set_failed();
    fields_.emplace_back(name);
    widths_.push_back(in.u8());
    if (widths_.back() > kColumnBytesMax) in.set_failed();
    row_bytes_ += widths_.back();
  }
  return in.finish("fields of a snapshot");
}

Status Catalog::read_recipes() {
  const Section section = pages_.section(SectionKind::recipes);
  if (section.size_bytes == 0) return {};
  LEAT_TRY(const Bytes bytes, pages_.read(section, 0, section.size_bytes));
  Decoder in(bytes);
  while (!in.rest().empty() && !in.failed()) {
    const std::uint32_t number = in.u32();
    const bool is_next = recipes_.empty() || number > recipes_.back();
    if (!is_next || number >= footer().shards) in.set_failed();
    recipes_.push_back(number);
  }
  return in.finish("recipes of a snapshot");
}

Status Catalog::check_sizes() const {
  const Footer& all = footer();
  const Range last_row = all.rows > 0 ? row_range(all.rows - 1) : Range{};
  const std::uint64_t samples_bytes = last_row.offset + last_row.size_bytes;
  const std::uint64_t keys_bytes = pages_.section(SectionKind::keys).size_bytes;
  const std::uint64_t ranks_bytes = pages_.section(SectionKind::ranks).size_bytes;
  const std::uint64_t shard_bytes = (std::uint64_t{all.shards} + 1) * kShardNumbersBytes;
  const std::uint64_t page_bytes = (std::uint64_t{all.key_pages} + 1) * kDirectoryNumbersBytes;
  const bool fits =
      all.rows <= kRowsMax && pages_.section(SectionKind::samples).size_bytes == samples_bytes &&
      pages_.section(SectionKind::blocks).size_bytes == std::uint64_t{all.blocks} * 4 &&
      pages_.section(SectionKind::keys).page_count() == all.key_pages &&
      (keys_bytes == 0) == (all.rows == 0) &&
      (ranks_bytes == 0 || ranks_bytes == std::uint64_t{all.rows} * 4) &&
      shards_.size_bytes >= shard_bytes && directory_.size_bytes >= page_bytes;
  return fits ? Status{} : damaged("sizes of sections");
}

std::optional<std::size_t> Catalog::field_id(std::string_view name) const {
  const auto found = std::ranges::find(fields_, name);
  if (found == fields_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - fields_.begin());
}

Result<Catalog::ShardNumbers> Catalog::shard_numbers(std::uint32_t shard) const {
  LEAT_TRY(const Bytes bytes, pages_.read(shards_, shard * kShardNumbersBytes, kShardNumbersBytes));
  return ShardNumbers{.first_row = load_u32(bytes),
                      .first_block = load_u32(bytes.subspan(4)),
                      .record_at = load_u32(bytes.subspan(8))};
}

Result<Bytes> Catalog::shard_bytes(std::uint32_t shard) const {
  LEAT_DO(check_below(shard, footer().shards));
  LEAT_TRY(const ShardNumbers numbers, shard_numbers(shard));
  LEAT_TRY(const ShardNumbers next, shard_numbers(shard + 1));
  if (next.record_at < numbers.record_at) return damaged("shards");
  const std::uint64_t records = (std::uint64_t{footer().shards} + 1) * kShardNumbersBytes;
  return pages_.read(shards_, records + numbers.record_at, next.record_at - numbers.record_at);
}

Result<Catalog::ShardRecord> Catalog::shard_record(std::uint32_t shard) const {
  LEAT_TRY(const Bytes bytes, shard_bytes(shard));
  Decoder in(bytes);
  ShardRecord record;
  record.shape.lead_units = in.u8();
  record.shape.field_order = in.text();
  record.bucket = in.text();
  record.key = in.text();
  record.version = in.text();
  record.etag = in.text();
  record.size_bytes = in.varint();
  if (record.size_bytes >= kShardMaxBytes) in.set_failed();
  const auto is_field = [&](char id) { return static_cast<unsigned char>(id) < fields_.size(); };
  if (!std::ranges::all_of(record.shape.field_order, is_field)) in.set_failed();
  LEAT_DO(in.finish("a shard of a snapshot"));
  return record;
}

Result<ShardEntry> Catalog::shard(std::uint32_t shard) const {
  LEAT_TRY(const ShardRecord record, shard_record(shard));
  return ShardEntry{.bucket = std::string(record.bucket),
                    .key = std::string(record.key),
                    .version = std::string(record.version),
                    .etag = std::string(record.etag),
                    .size_bytes = record.size_bytes,
                    .is_recipe = std::ranges::binary_search(recipes_, shard)};
}

Result<Row> Catalog::first_row_of_shard(std::uint32_t shard) const {
  LEAT_DO(check_below(shard, std::uint64_t{footer().shards} + 1));
  LEAT_TRY(const ShardNumbers numbers, shard_numbers(shard));
  return numbers.first_row;
}

Result<std::uint32_t> Catalog::first_block_of_shard(std::uint32_t shard) const {
  LEAT_DO(check_below(shard, std::uint64_t{footer().shards} + 1));
  LEAT_TRY(const ShardNumbers numbers, shard_numbers(shard));
  return numbers.first_block;
}

Result<std::uint32_t> Catalog::shard_of(Row row) const {
  LEAT_DO(check_below(row, footer().rows));
  const auto is_behind = [&](std::uint32_t shard) -> Result<bool> {
    LEAT_TRY(const ShardNumbers numbers, shard_numbers(shard));
    return numbers.first_row > row;
  };
  LEAT_TRY(const std::uint32_t behind, first_behind(footer().shards, is_behind));
  if (behind == 0) return damaged("shards");
  LEAT_TRY(const ShardNumbers next, shard_numbers(behind));
  if (next.first_row <= row) return damaged("shards");
  return behind - 1;
}

Result<std::uint32_t> Catalog::directory_number(std::uint32_t page, std::size_t which) const {
  const std::uint64_t at = page * kDirectoryNumbersBytes + which * 4;
  LEAT_TRY(const Bytes bytes, pages_.read(directory_, at, 4));
  return load_u32(bytes);
}

Result<std::string_view> Catalog::first_key_of_page(std::uint32_t page) const {
  LEAT_TRY(const std::uint32_t begin_coded, directory_number(page, 1));
  LEAT_TRY(const std::uint32_t end_coded, directory_number(page + 1, 1));
  const std::uint64_t begin = begin_coded & ~kContinuedBit;
  const std::uint64_t end = end_coded & ~kContinuedBit;
  if (end < begin) return damaged("directory of keys");
  const std::uint64_t keys = (std::uint64_t{footer().key_pages} + 1) * kDirectoryNumbersBytes;
  LEAT_TRY(const Bytes bytes, pages_.read(directory_, keys + begin, end - begin));
  return as_text(bytes);
}

Result<std::optional<std::uint32_t>> Catalog::page_of(std::string_view key) const {
  const auto is_behind = [&](std::uint32_t page) -> Result<bool> {
    LEAT_TRY(const std::string_view first, first_key_of_page(page));
    return first >= key;
  };
  LEAT_TRY(const std::uint32_t page, first_behind(footer().key_pages, is_behind));
  if (page < footer().key_pages) {
    // It begins with the key itself, unless the page before already ends in it.
    LEAT_TRY(const std::string_view first, first_key_of_page(page));
    LEAT_TRY(const std::uint32_t coded, directory_number(page, 1));
    if (first == key && (coded & kContinuedBit) == 0) return std::optional(page);
  }
  if (page == 0) return std::nullopt;
  return std::optional(page - 1);
}

Result<std::uint32_t> Catalog::page_of_rank(std::uint32_t rank) const {
  LEAT_DO(check_below(rank, footer().rows));
  const auto is_behind = [&](std::uint32_t page) -> Result<bool> {
    LEAT_TRY(const std::uint32_t first, directory_number(page, 0));
    return first > rank;
  };
  LEAT_TRY(const std::uint32_t behind, first_behind(footer().key_pages, is_behind));
  if (behind == 0) return damaged("directory of keys");
  return behind - 1;
}

Result<std::uint32_t> Catalog::first_rank_of_page(std::uint32_t page) const {
  LEAT_DO(check_below(page, std::uint64_t{footer().key_pages} + 1));
  return directory_number(page, 0);
}

Range Catalog::row_range(Row row) const {
  const std::uint64_t rows_per_page = kPageBytes / row_bytes_;
  const std::uint64_t page = row / rows_per_page * kPageBytes;
  return {.offset = page + row % rows_per_page * row_bytes_, .size_bytes = row_bytes_};
}

Result<std::optional<std::uint32_t>> Catalog::decode_row(Bytes bytes, Row row,
                                                         Sample& sample) const {
  if (bytes.size() != row_bytes_) return damaged("rows");
  const std::uint32_t place = load_u32(bytes);
  if ((place & kWideBit) != 0) return std::optional(place & ~kWideBit);
  Sizes sizes(widths_.size());
  std::size_t at = kPlaceBytes;
  for (std::size_t id = 0; id < widths_.size(); ++id) {
    const std::uint64_t size_bytes = load(bytes.subspan(at), widths_[id]);
    if (size_bytes != lacks_value(widths_[id])) sizes[id] = size_bytes;
    at += widths_[id];
  }
  LEAT_TRY(sample.shard, shard_of(row));
  LEAT_TRY(const ShardRecord record, shard_record(sample.shard));
  sample.row = row;
  lay_out(record.shape, place * kTarUnit, sizes, sample);
  if (sample.end > record.size_bytes) return damaged("a sample outside of its shard");
  return std::optional<std::uint32_t>();
}

Result<Range> Catalog::wide_range(std::uint32_t wide) const {
  const std::uint64_t begin = std::uint64_t{wide} * kWideUnit;
  if (begin >= wide_.size_bytes) return damaged("rows");
  const std::uint64_t page_end = (begin / kPageBytes + 1) * kPageBytes;
  return Range{.offset = begin, .size_bytes = std::min(page_end, wide_.size_bytes) - begin};
}

Status Catalog::decode_wide_row(Bytes bytes, Row row, Sample& sample) const {
  sample.row = row;
  LEAT_TRY(sample.shard, shard_of(row));
  LEAT_TRY(const ShardRecord record, shard_record(sample.shard));
  LEAT_DO(decode_wide(bytes.first(std::min(bytes.size(), kWideMaxBytes)), fields_.size(), sample));
  if (sample.end > record.size_bytes) return damaged("a sample outside of its shard");
  return {};
}

}  // namespace leat::snapshot
