// Builder::finish(): from columns in memory to sections.
#include <algorithm>
#include <numeric>
#include <set>

#include "codec/codec.h"
#include "snapshot/builder.h"
#include "snapshot/key_page.h"

namespace leat::snapshot {
namespace {

using codec::Encoder;

constexpr std::uint32_t kLacks = 0xFFFF'FFFF;
// About what a wide record costs beside its row.
constexpr std::uint64_t kWideCostBytes = 24;
constexpr std::uint64_t kWideSectionMax = std::uint64_t{kWideBit} * kWideUnit;
constexpr std::uint32_t kContinuedBit = 0x8000'0000;

// Writes the section of keys, page by page, and collects its directory. Lifetime: `out` outlives
// it.
class KeysWriter {
 public:
  explicit KeysWriter(SectionWriter& out) : out_(out) { out_.begin(SectionKind::keys); }

  // `place`: of the row.
  void add(std::string_view key, Row row, std::uint32_t place) {
    std::optional<std::uint32_t> wide;
    if ((place & kWideBit) != 0) wide = place & ~kWideBit;
    if (page_.count() == 0 || !page_.add(key, row, wide)) {
      end_page(key);
      page_.add(key, row, wide);
    }
    last_ = key;
    ++rank_;
  }

  std::string finish() {
    if (page_.count() > 0) out_.append(page_.take());
    out_.end();
    Encoder(numbers_).u32(rank_);
    Encoder(numbers_).u32(static_cast<std::uint32_t>(first_keys_.size()));
    return numbers_ + first_keys_;
  }

  std::uint32_t page_count() const { return page_count_; }

 private:
  // The next page begins with `key`.
  void end_page(std::string_view key) {
    if (page_.count() > 0) {
      out_.append(page_.take());
      out_.fill_page();
    }
    const bool continues = rank_ > 0 && last_ == key;
    Encoder(numbers_).u32(rank_);
    Encoder(numbers_).u32(static_cast<std::uint32_t>(first_keys_.size()) |
                          (continues ? kContinuedBit : 0));
    first_keys_ += key;
    ++page_count_;
  }

  SectionWriter& out_;
  KeyPageWriter page_;
  std::string numbers_;
  std::string first_keys_;
  std::string last_;
  std::uint32_t rank_ = 0;
  std::uint32_t page_count_ = 0;
};

}  // namespace

// For each field the width that costs least, if sizes that do not fit make their samples wide.
std::vector<std::uint8_t> Builder::column_widths() const {
  std::vector<std::uint8_t> widths;
  for (const auto& column : sizes_) {
    std::array<std::uint64_t, kColumnBytesMax + 1> misfits{};
    for (std::size_t row = 0; row < column.size(); ++row) {
      if (column[row] == kLacks) continue;
      for (std::size_t width = 0; width < kColumnBytesMax && column[row] >= lacks_value(width);
           ++width)
        ++misfits[width];
    }
    std::size_t best = kColumnBytesMax;
    const auto cost = [&](std::size_t width) {
      return width * column.size() + misfits[width] * kWideCostBytes;
    };
    for (std::size_t width = kColumnBytesMax; width-- > 0;)
      if (cost(width) <= cost(best)) best = width;
    widths.push_back(static_cast<std::uint8_t>(best));
  }
  return widths;
}

Sample Builder::sample_of(Row row, const Shard& shard) const {
  Sizes sizes(fields_.size());
  for (std::size_t id = 0; id < sizes.size(); ++id)
    if (sizes_[id][row] != kLacks) sizes[id] = sizes_[id][row];
  Sample sample{.row = row};
  lay_out({.lead_units = shard.lead_units, .field_order = shard.field_order},
          places_[row] * kTarUnit, sizes, sample);
  return sample;
}

void Builder::write_samples(SectionWriter& out, const std::vector<std::uint8_t>& widths) {
  const std::size_t row_bytes =
      std::accumulate(widths.begin(), widths.end(), std::size_t{kPlaceBytes});
  const std::uint64_t rows_per_page = kPageBytes / row_bytes;
  out.begin(SectionKind::samples);
  std::size_t shard = 0;
  std::string bytes;
  for (std::size_t row = 0; row < places_.size(); ++row) {
    while (shard + 1 < shards_.size() && shards_[shard + 1].first_row <= row)
      ++shard;
    bool fits = true;
    for (std::size_t id = 0; id < widths.size(); ++id)
      fits = fits && (sizes_[id][row] == kLacks || sizes_[id][row] < lacks_value(widths[id]));
    if (!fits) {
      places_[row] = add_wide(sample_of(static_cast<Row>(row), shards_[shard]));
      for (auto& column : sizes_)
        column[row] = kLacks;
    }
    if (row % rows_per_page == 0) out.fill_page();
    bytes.clear();
    Encoder(bytes).u32(places_[row]);
    for (std::size_t id = 0; id < widths.size(); ++id)
      for (std::size_t i = 0; i < widths[id]; ++i)
        bytes.push_back(static_cast<char>(sizes_[id][row] >> (8 * i)));
    out.append(bytes);
  }
  out.end();
}

void Builder::write_blocks(SectionWriter& out) const {
  out.begin(SectionKind::blocks);
  std::string bytes;
  for (const Row first : blocks_) {
    bytes.clear();
    Encoder(bytes).u32(first);
    out.append(bytes);
  }
  out.end();
}

std::vector<Row> Builder::sorted_rows() const {
  if (keys_.is_sorted()) return {};
  std::vector<Row> rows(places_.size());
  std::iota(rows.begin(), rows.end(), 0U);
  std::ranges::sort(rows, [&](Row a, Row b) {
    const int order = keys_.at(a).compare(keys_.at(b));
    return order != 0 ? order < 0 : a < b;
  });
  return rows;
}

void Builder::write_ranks(SectionWriter& out, const std::vector<Row>& sorted) const {
  if (keys_.is_sorted()) return;
  std::vector<std::uint32_t> ranks(sorted.size());
  for (std::size_t rank = 0; rank < sorted.size(); ++rank)
    ranks[sorted[rank]] = static_cast<std::uint32_t>(rank);
  out.begin(SectionKind::ranks);
  std::string bytes;
  for (const std::uint32_t rank : ranks) {
    bytes.clear();
    Encoder(bytes).u32(rank);
    out.append(bytes);
  }
  out.end();
}

std::string Builder::write_keys(SectionWriter& out, const std::vector<Row>& sorted,
                                std::uint32_t& page_count) const {
  KeysWriter writer(out);
  if (keys_.is_sorted()) {
    KeyStore::Walker walker(keys_);
    for (std::size_t row = 0; row < places_.size(); ++row)
      writer.add(walker.next(), static_cast<Row>(row), places_[row]);
  }
  for (const Row row : sorted)
    writer.add(keys_.at(row), row, places_[row]);
  page_count = writer.page_count();
  return writer.finish();
}

void Builder::write_shards(SectionWriter& out) const {
  std::string numbers;
  std::string records;
  Encoder number(numbers);
  Encoder record(records);
  for (const Shard& shard : shards_) {
    number.u32(shard.first_row);
    number.u32(shard.first_block);
    number.u32(static_cast<std::uint32_t>(records.size()));
    record.u8(shard.lead_units);
    record.text(shard.field_order);
    record.text(shard.entry.bucket);
    record.text(shard.entry.key);
    record.text(shard.entry.version);
    record.text(shard.entry.etag);
    record.varint(shard.entry.size_bytes);
  }
  number.u32(static_cast<std::uint32_t>(places_.size()));
  number.u32(static_cast<std::uint32_t>(blocks_.size()));
  number.u32(static_cast<std::uint32_t>(records.size()));
  out.begin(SectionKind::shards);
  out.append(numbers);
  out.append(records);
  out.end();
}

void Builder::write_recipes(SectionWriter& out) const {
  std::string numbers;
  Encoder number(numbers);
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    if (shards_[i].entry.is_recipe) number.u32(static_cast<std::uint32_t>(i));
  }
  if (numbers.empty()) return;
  out.begin(SectionKind::recipes);
  out.append(numbers);
  out.end();
}

void Builder::write_fields(SectionWriter& out, const std::vector<std::uint8_t>& widths) const {
  std::string bytes;
  Encoder encoder(bytes);
  encoder.varint(fields_.size());
  for (std::size_t id = 0; id < fields_.size(); ++id) {
    encoder.text(fields_[id]);
    encoder.u8(widths[id]);
  }
  out.begin(SectionKind::fields);
  out.append(bytes);
  out.end();
}

Result<std::uint64_t> Builder::finish(const Sink& sink) {
  const std::set<std::string_view> names(fields_.begin(), fields_.end());
  if (fields_.size() > kFieldsMax || names.size() != fields_.size()) {
    return fail(Errc::bad_request, "a dataset has too many fields, or one twice");
  }
  SectionWriter out(sink);
  Footer counts;
  const std::vector<std::uint8_t> widths = column_widths();
  write_samples(out, widths);
  sizes_ = {};  // its memory is needed below
  if (wide_.size() >= kWideSectionMax) {
    return fail(Errc::bad_request, "too many samples of a snapshot are irregular");
  }
  out.begin(SectionKind::wide);
  out.append(wide_);
  out.end();
  write_blocks(out);
  const std::vector<Row> sorted = sorted_rows();
  write_ranks(out, sorted);
  const std::string directory = write_keys(out, sorted, counts.key_pages);
  out.begin_resident();
  write_shards(out);
  write_recipes(out);
  out.begin(SectionKind::directory);
  out.append(directory);
  out.end();
  write_fields(out, widths);
  counts.rows = static_cast<std::uint32_t>(places_.size());
  counts.shards = static_cast<std::uint32_t>(shards_.size());
  counts.blocks = static_cast<std::uint32_t>(blocks_.size());
  return out.finish(counts);
}

Result<std::string> Builder::finish() {
  std::string snapshot;
  const Sink sink = [&snapshot](std::string_view bytes) -> Status {
    snapshot += bytes;
    return {};
  };
  LEAT_DO(finish(sink));
  return snapshot;
}

}  // namespace leat::snapshot
