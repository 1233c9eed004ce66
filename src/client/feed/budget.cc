#include "feed/budget.h"

#include <algorithm>

namespace leat::feed {
namespace {

constexpr std::uint64_t kRowsMemory = 256 * kMiB;
constexpr std::uint64_t kMore = 64 * kMiB;  // blocks of the next window but one
// Batches that are filled before somebody takes them: enough to bridge a hiccup, few enough that
// their memory is used again while caches still have it.
constexpr std::uint64_t kReadyBytes = 64 * kMiB;
constexpr std::size_t kReadyMax = 16;
constexpr std::size_t kReadyMin = 2;

// What a filled batch takes, roughly.
std::uint64_t batch_bytes(const FeedOptions& options) {
  std::uint64_t sample = 0;
  for (const ColumnOptions& column : options.fill.columns) {
    if (decode::is_dense(column.decode.to)) sample += decode::size_of(column.decode);
  }
  if (sample == 0 && !options.sources.empty()) {
    const dataset::DatasetFacts& facts = options.sources.front().dataset->facts();
    sample = facts.bytes / std::max<std::uint64_t>(1, facts.samples);
  }
  return std::max<std::uint64_t>(1, sample * options.plan.cut.batch_size);
}

// How many batches are worth having ready, if they may take so much.
std::size_t ready_batches(const FeedOptions& options, std::uint64_t each, std::uint64_t share) {
  const std::size_t useful = std::clamp<std::uint64_t>(
      kReadyBytes / each, std::min(options.fill.threads + 1, kReadyMax), kReadyMax);
  return std::max<std::uint64_t>(kReadyMin, std::min<std::uint64_t>(useful, share / each));
}

// Batches take up to a quarter; cells keep one also if two batches take more than all of it.
Budget share_out(const FeedOptions& options, std::uint64_t memory_bytes) {
  Budget budget{.total_bytes = memory_bytes, .batch_bytes = batch_bytes(options)};
  budget.batches = ready_batches(options, budget.batch_bytes, memory_bytes / 4);
  const std::uint64_t filled = std::min(memory_bytes, budget.batches * budget.batch_bytes);
  budget.cells_bytes = std::max(memory_bytes / 4, memory_bytes - filled);
  return budget;
}

}  // namespace

double average_block_bytes(const SampleOrder& order) {
  const dataset::DatasetFacts& facts = order.dataset().facts();
  const std::uint32_t blocks = order.dataset().view().block_count();
  return blocks == 0 ? 0 : static_cast<double>(facts.bytes) / blocks;
}

double window_bytes(const FeedOptions& options) {
  double sum = 0;
  for (const Source& source : options.sources) {
    const std::uint64_t blocks =
        std::min(source.order->window_blocks() * 3 / 2 + 1, source.order->block_count());
    sum += average_block_bytes(*source.order) * static_cast<double>(blocks);
  }
  return sum;
}

Budget budget_of(const FeedOptions& options, Reading reading) {
  if (options.memory_bytes > 0) return share_out(options, options.memory_bytes);
  Budget budget{.batch_bytes = batch_bytes(options)};
  budget.cells_bytes = reading == Reading::rows
                           ? kRowsMemory
                           : 2 * static_cast<std::uint64_t>(window_bytes(options)) + kMore;
  budget.batches = ready_batches(options, budget.batch_bytes, budget.cells_bytes / 2);
  budget.total_bytes = budget.cells_bytes + budget.batches * budget.batch_bytes;
  // A block has no bound where samples are large, and so has no window.
  const std::uint64_t most = options.machine_bytes / 2;
  return most > 0 && budget.total_bytes > most ? share_out(options, most) : budget;
}

}  // namespace leat::feed
