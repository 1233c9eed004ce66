// Lookup: finds a sample of a remote snapshot by its key in two reads.
//
// Pure: it says which page of the snapshot it needs, and whoever can read gives it.
//
//   Lookup lookup(catalog, "000123");
//   while (const auto range = lookup.next()) LEAT_DO(lookup.feed(read(*range)));
//   if (lookup.found()) …
//
// Lifetime: the catalog outlives it.
#pragma once

#include "snapshot/catalog.h"

namespace leat::snapshot {

class Lookup {
 public:
  Lookup(const Catalog& catalog, std::string key);

  // The bytes of the snapshot that are needed next; nothing when the answer is there.
  // Errors: corrupt.
  Result<std::optional<Range>> next();

  // Requires: `bytes` are those of the range that next() gave.
  // Errors: corrupt.
  Status feed(Bytes bytes);

  // The first sample with the key; nothing if there is none. Requires: next() gave nothing.
  const std::optional<Sample>& found() const { return found_; }

 private:
  enum class Step : std::uint8_t { begin, key, row, done };

  Status feed_keys(Bytes page);

  const Catalog& catalog_;
  std::string key_;
  Step step_ = Step::begin;
  Section section_;
  std::uint64_t page_ = 0;
  Row row_ = 0;
  std::optional<std::uint32_t> wide_;
  std::optional<Sample> found_;
};

}  // namespace leat::snapshot
