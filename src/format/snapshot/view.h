// View: a whole snapshot, mapped or in memory, read where it lies.
//
// Opening looks at the end of it alone, whatever its size; each page of 64 KiB is verified when it
// is touched for the first time. A caller sees what was written or Errc::corrupt, also when the
// bytes come from an enemy: nothing is read outside of them.
//
// Threads: const calls may come from many at once. Lifetime: the bytes outlive it.
// docs/formats/snapshot.md.
#pragma once

#include <functional>

#include "snapshot/catalog.h"
#include "snapshot/key_page.h"

namespace leat::snapshot {

class View {
 public:
  // Errors: corrupt; not_implemented for what a later version wrote.
  static Result<View> open(Bytes whole);

  std::uint32_t sample_count() const { return catalog_.footer().rows; }
  std::uint32_t shard_count() const { return catalog_.footer().shards; }
  std::uint32_t block_count() const { return catalog_.footer().blocks; }
  // Names by field id.
  const std::vector<std::string>& fields() const { return catalog_.fields(); }
  // Names the content: for orders, and for the state of loaders.
  const Fingerprint& fingerprint() const { return catalog_.footer().fingerprint; }
  const Catalog& catalog() const { return catalog_; }

  // Errors of all below: corrupt; bad_request for a number that is too high.
  Result<ShardEntry> shard(std::uint32_t shard) const { return catalog_.shard(shard); }
  Result<Block> block(std::uint32_t block) const;
  Result<std::uint32_t> block_of(Row row) const;
  // How many samples each block has, for order::Epoch.
  Result<std::vector<std::uint32_t>> block_counts() const;

  Result<Sample> sample(Row row) const;
  // The same into memory that is used again, for who reads many.
  Status read_sample(Row row, Sample& sample) const;
  Result<std::string> key(Row row) const;
  // The first row with this key.
  Result<std::optional<Row>> find(std::string_view key) const;

  // Calls `visit` with keys that begin with `prefix` and are behind `after`, in their order, rows
  // of the same key in theirs, until it says false. An empty `after` is before everything.
  using Visit = std::function<bool(std::string_view key, Row row)>;
  Status for_each(std::string_view prefix, std::string_view after, const Visit& visit) const;

  // Reads everything: checksums, the fingerprint, and that all parts say the same.
  Status verify_all() const;

  // A verified page of keys.
  Result<KeyPage> key_page(std::uint32_t page) const;

 private:
  View(Bytes whole, Catalog catalog);

  Result<Row> first_row_of_block(std::uint32_t block) const;
  Status verify_bytes() const;
  Status verify_shards() const;
  Status verify_keys() const;
  Status verify_samples() const;

  Bytes whole_;
  Catalog catalog_;
  Section samples_;
  Section wide_;
  Section blocks_;
  Section keys_;
  Section ranks_;
};

// Walks the keys of a snapshot in their order. Lifetime: `view` outlives it.
class KeyCursor {
 public:
  explicit KeyCursor(const View& view) : view_(view) {}

  // The entry it stands on, after one of the calls below was true.
  const std::string& key() const { return page_->key(); }
  Row row() const { return page_->row(); }

  // Each goes to an entry and says whether there is one; next() of a new cursor to the first.
  // Errors: corrupt.
  Result<bool> next();
  // The first entry that is not before `key`.
  Result<bool> seek(std::string_view key);

 private:
  const View& view_;
  std::optional<KeyPage> page_;
  std::uint32_t next_page_ = 0;
};

}  // namespace leat::snapshot
