// SampleOrder: the order in which epochs visit one dataset, or some rows of it.
//
// A subset keeps the blocks of the dataset, each with the rows that are wanted of it, and leaves
// out those of which none is. It is the order of docs/formats/order.md for these counts.
//
// Immutable: share it between threads.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "dataset/dataset.h"
#include "order/epoch.h"

namespace leat::feed {

struct OrderOptions {
  order::Shuffle shuffle = order::Shuffle::block;
  std::uint64_t seed = 0;
  std::uint64_t window_bytes = 256 * kMiB;           // in blocks of snapshot::kBlockBytes each
  std::optional<std::vector<std::uint64_t>> rows{};  // ascending; nothing: all
};

class SampleOrder {
 public:
  // Errors: bad_request (rows that are not there or not in their order), corrupt.
  static Result<std::shared_ptr<const SampleOrder>> make(
      std::shared_ptr<const dataset::Dataset> dataset, const OrderOptions& options);

  const dataset::Dataset& dataset() const { return *dataset_; }
  order::Shuffle shuffle() const { return shuffle_; }
  std::uint64_t size() const { return firsts_.back(); }
  std::uint64_t block_count() const { return counts_.size(); }
  std::uint64_t window_blocks() const { return window_blocks_; }

  // Lifetime: the order outlives it.
  order::Epoch epoch(std::uint64_t number) const;

  // Of blocks by their number in this order, which is that of the epoch's places.
  std::uint32_t samples_of(std::uint64_t block) const { return counts_[block]; }
  // The block of the snapshot.
  std::uint32_t stored_block(std::uint64_t block) const;
  // Requires: slot < samples_of(block).
  snapshot::Row row(std::uint64_t block, std::uint32_t slot) const;
  // The row that stands at `number` of all, as stored. Requires: number < size().
  snapshot::Row stored_row(std::uint64_t number) const;

 private:
  SampleOrder() = default;

  Status take_rows(const std::vector<std::uint64_t>& rows);

  std::shared_ptr<const dataset::Dataset> dataset_;
  order::Shuffle shuffle_ = order::Shuffle::block;
  std::uint64_t seed_ = 0;
  std::uint64_t window_blocks_ = 1;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint64_t> firsts_{0};  // samples before each block, and all
  bool is_subset_ = false;
  std::vector<std::uint32_t> stored_blocks_;  // of a subset
  std::vector<snapshot::Row> rows_;           // of a subset
};

}  // namespace leat::feed
