// Builder: collects the samples of a dataset version and writes its snapshot.
//
//   Builder builder;
//   LEAT_DO(builder.begin_shard({.bucket = "train", .key = "000.tar", …}));
//   LEAT_DO(builder.add_sample("000123", start, end, fields));
//   LEAT_TRY(const std::uint64_t size_bytes, builder.finish(sink));
//
// Memory: 4 bytes a sample and 4 for each field of it, and keys: as far as they differ while they
// come sorted, else whole with 12 bytes each. The same samples give the same bytes. Fields are
// numbered as they come.
#pragma once

#include <span>

#include "snapshot/key_store.h"
#include "snapshot/rows.h"
#include "snapshot/writer.h"

namespace leat::snapshot {

struct BuilderOptions {
  std::vector<std::string> fields{};  // that get the first ids, also if no sample has them
  std::uint64_t block_bytes = kBlockBytes;
};

class Builder {
 public:
  explicit Builder(BuilderOptions options = {});

  // Errors: bad_request when there are too many.
  Status begin_shard(ShardEntry shard);

  // `start`, `end`: the sample's members in the shard, from the first header to the last padding.
  // Errors: bad_request for a key that is too long, samples that overlap or go back, fields outside
  // of the sample or twice in it, and more than kFieldsMax of them; nothing was added then.
  Status add_sample(std::string_view key, std::uint64_t start, std::uint64_t end,
                    std::span<const FieldOf> fields);

  std::uint64_t sample_count() const { return places_.size(); }

  // Writes the snapshot; gives its size. The builder is used up.
  // Errors: those of the sink; bad_request for a snapshot that is too large for the format, and for
  // fields given twice to the constructor.
  Result<std::uint64_t> finish(const Sink& sink);
  Result<std::string> finish();

 private:
  struct Shard {
    ShardEntry entry;
    Row first_row;
    std::uint32_t first_block;
    std::uint8_t lead_units;
    std::string field_order;
  };

  std::optional<std::size_t> known_field(std::string_view name) const;
  Status check_sample(std::string_view key, std::uint64_t start, std::uint64_t end,
                      std::span<const FieldOf> fields) const;
  std::size_t field_id(std::string_view name);
  void learn_shape(Shard& shard, const Sample& sample, std::span<const FieldOf> fields);
  bool is_regular(const Shard& shard, const Sample& sample) const;
  // The place of a row that has this wide record.
  std::uint32_t add_wide(const Sample& sample);
  void cut_block(const Sample& sample);

  std::vector<std::uint8_t> column_widths() const;
  Sample sample_of(Row row, const Shard& shard) const;

  void write_samples(SectionWriter& out, const std::vector<std::uint8_t>& widths);
  void write_blocks(SectionWriter& out) const;
  std::vector<Row> sorted_rows() const;
  void write_ranks(SectionWriter& out, const std::vector<Row>& sorted) const;
  // Gives the directory, and the number of pages. `sorted` is not needed if keys came sorted.
  std::string write_keys(SectionWriter& out, const std::vector<Row>& sorted,
                         std::uint32_t& page_count) const;
  void write_shards(SectionWriter& out) const;
  void write_recipes(SectionWriter& out) const;
  void write_fields(SectionWriter& out, const std::vector<std::uint8_t>& widths) const;

  std::vector<std::string> fields_;
  std::uint64_t block_bytes_;
  std::vector<Shard> shards_;
  std::vector<std::uint32_t> places_;              // by row
  std::vector<std::vector<std::uint32_t>> sizes_;  // by field, then row; all ones: lacks
  KeyStore keys_;
  std::string wide_;
  std::vector<Row> blocks_;  // their first rows
  std::uint64_t block_start_ = 0;
  std::uint64_t last_end_ = 0;
};

}  // namespace leat::snapshot
