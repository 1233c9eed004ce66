// RangesSource: some ranges of one object, one after the other, as a stream.
//
// Neighbours are read together, with what little lies between them: one read of 64 KiB costs less
// than two of one.
//
// Shard: one. Lifetime: the store outlives it.
#pragma once

#include <string>

#include "shards/selection.h"
#include "store/shard_store.h"

namespace leat::shards {

// What may lie between two ranges that are read together: the unit that a read verifies.
constexpr std::uint64_t kGapMaxBytes = record::kBlockBytes;

// All of an object, in memory. How long it is was up to who wrote it.
// Errors: too_large; those of the store.
rt::Task<std::string> read_whole(store::ShardStore& store, const store::Found& found,
                                 std::uint64_t max_bytes);

class RangesSource {
 public:
  // `tail` follows the ranges.
  RangesSource(store::ShardStore& store, store::Found found, Ranges ranges, std::string tail)
      : store_(store),
        found_(std::move(found)),
        ranges_(std::move(ranges)),
        tail_(std::move(tail)) {}

  // The next bytes, valid until the next call; empty at the end. Errors: those of the store.
  rt::Task<Bytes> next();

 private:
  // Begins to read from the present range on, with the neighbours behind it.
  rt::Task<void> open();

  store::ShardStore& store_;
  const store::Found found_;
  const Ranges ranges_;
  std::string tail_;
  std::size_t at_ = 0;       // the range that is wanted next …
  std::uint64_t taken_ = 0;  // … and how much of it was given
  std::unique_ptr<store::ObjectStream> stream_;
  std::uint64_t stream_end_ = 0;       // in the object
  std::shared_ptr<const void> owner_;  // of the piece, if it is of no stream
  Bytes piece_{};
  std::uint64_t piece_at_ = 0;  // where it begins in the object
  std::string gathered_;
};

}  // namespace leat::shards
