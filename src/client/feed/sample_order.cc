#include "feed/sample_order.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace leat::feed {

Result<std::shared_ptr<const SampleOrder>> SampleOrder::make(
    std::shared_ptr<const dataset::Dataset> dataset, const OrderOptions& options) {
  auto order = std::shared_ptr<SampleOrder>(new SampleOrder());
  order->dataset_ = std::move(dataset);
  order->shuffle_ = options.shuffle;
  order->seed_ = options.seed;
  order->window_blocks_ = std::max<std::uint64_t>(1, options.window_bytes / snapshot::kBlockBytes);
  LEAT_TRY(order->counts_, order->dataset_->view().block_counts());
  if (options.rows) {
    LEAT_DO(order->take_rows(*options.rows));
  }
  order->firsts_.reserve(order->counts_.size() + 1);
  for (const std::uint32_t count : order->counts_)
    order->firsts_.push_back(order->firsts_.back() + count);
  return order;
}

Status SampleOrder::take_rows(const std::vector<std::uint64_t>& rows) {
  is_subset_ = true;
  std::vector<std::uint32_t> counts;
  rows_.reserve(rows.size());
  std::size_t block = 0;
  std::uint64_t end = 0;  // of the blocks up to `block`, this one not included
  for (const std::uint64_t row : rows) {
    if (row >= dataset_->view().sample_count()) {
      return fail(Errc::bad_request,
                  fmt::format("{} has no row {}", dataset_->facts().reference(), row));
    }
    if (!rows_.empty() && row <= rows_.back()) {
      return fail(Errc::bad_request,
                  fmt::format("rows of a subset ascend: {} stands behind {}", row, rows_.back()));
    }
    while (row >= end + counts_[block])
      end += counts_[block++];
    const auto stored = static_cast<std::uint32_t>(block);
    if (stored_blocks_.empty() || stored_blocks_.back() != stored) {
      stored_blocks_.push_back(stored);
      counts.push_back(0);
    }
    ++counts.back();
    rows_.push_back(static_cast<snapshot::Row>(row));
  }
  counts_ = std::move(counts);
  return {};
}

order::Epoch SampleOrder::epoch(std::uint64_t number) const {
  order::EpochOptions options{
      .shuffle = shuffle_, .window_blocks = window_blocks_, .seed = seed_, .epoch = number};
  std::ranges::copy(dataset_->view().fingerprint(), options.fingerprint.begin());
  return {counts_, options};
}

std::uint32_t SampleOrder::stored_block(std::uint64_t block) const {
  return is_subset_ ? stored_blocks_[block] : static_cast<std::uint32_t>(block);
}

snapshot::Row SampleOrder::row(std::uint64_t block, std::uint32_t slot) const {
  LEAT_CHECK(slot < counts_[block]);
  return stored_row(firsts_[block] + slot);
}

snapshot::Row SampleOrder::stored_row(std::uint64_t number) const {
  LEAT_CHECK(number < size());
  return is_subset_ ? rows_[number] : static_cast<snapshot::Row>(number);
}

}  // namespace leat::feed
