// Catalog: what a reader of a snapshot holds: fields, shards, the directory of key pages, and the
// checksums of all other pages. It is small and stands at the end of the file, so that a remote
// reader fetches it once.
//
// Opening decodes the footer and the fields; shards and directory are read, and verified, when they
// are asked for. Threads: const calls may come from many at once. Lifetime: `last` outlives it.
#pragma once

#include "snapshot/pages.h"
#include "snapshot/rows.h"

namespace leat::snapshot {

class Catalog {
 public:
  // `last`: at least the resident_bytes() at the end of the snapshot.
  // Errors: corrupt; not_implemented for what a later version wrote.
  static Result<Catalog> open(Bytes last, std::uint64_t file_bytes);

  const Pages& pages() const { return pages_; }
  const Footer& footer() const { return pages_.footer(); }
  const std::vector<std::string>& fields() const { return fields_; }
  std::optional<std::size_t> field_id(std::string_view name) const;
  // Some shards are made of plain objects: the object of such a shard does not hold its bytes.
  bool has_recipes() const { return !recipes_.empty(); }

  // Errors of all below: corrupt; bad_request for a number that is too high.
  Result<ShardEntry> shard(std::uint32_t shard) const;
  Result<Row> first_row_of_shard(std::uint32_t shard) const;
  Result<std::uint32_t> first_block_of_shard(std::uint32_t shard) const;
  Result<std::uint32_t> shard_of(Row row) const;

  // The page of the section `keys` that has the first `key`, if any page has it.
  Result<std::optional<std::uint32_t>> page_of(std::string_view key) const;
  // The page that has the key of this rank in sorted order.
  Result<std::uint32_t> page_of_rank(std::uint32_t rank) const;
  Result<std::uint32_t> first_rank_of_page(std::uint32_t page) const;

  // Where a row is in the section `samples`.
  Range row_range(Row row) const;
  // Decodes the bytes of a row into `sample`; gives the place of the wide record if it has one, and
  // the sample is not decoded then.
  // Ensures, of both that decode: the sample lies inside its shard, and its fields inside it.
  Result<std::optional<std::uint32_t>> decode_row(Bytes bytes, Row row, Sample& sample) const;
  // Where a wide record is in the section `wide`: from its first byte to the end of its page.
  Result<Range> wide_range(std::uint32_t wide) const;
  Status decode_wide_row(Bytes bytes, Row row, Sample& sample) const;

 private:
  struct ShardNumbers {
    Row first_row;
    std::uint32_t first_block;
    std::uint32_t record_at;
  };

  // What stands in the snapshot of a shard.
  struct ShardRecord {
    Shape shape{};
    std::string_view bucket{};
    std::string_view key{};
    std::string_view version{};
    std::string_view etag{};
    std::uint64_t size_bytes = 0;
  };

  explicit Catalog(Pages pages);

  Status read_fields();
  Status read_recipes();
  Status check_sizes() const;
  Result<ShardNumbers> shard_numbers(std::uint32_t shard) const;
  Result<Bytes> shard_bytes(std::uint32_t shard) const;
  Result<ShardRecord> shard_record(std::uint32_t shard) const;
  Result<std::uint32_t> directory_number(std::uint32_t page, std::size_t which) const;
  Result<std::string_view> first_key_of_page(std::uint32_t page) const;

  Pages pages_;
  Section shards_;
  Section directory_;
  Section wide_;
  std::vector<std::string> fields_;
  std::vector<std::uint32_t> recipes_;  // numbers of shards, sorted
  std::vector<std::uint8_t> widths_;
  std::uint64_t row_bytes_ = kPlaceBytes;
};

}  // namespace leat::snapshot
