#include "feed/feed.h"

#include <fmt/format.h>

#include <algorithm>

#include "dataset/batch.h"
#include "feed/budget.h"
#include "feed/pipeline.h"

namespace leat::feed {
namespace {

constexpr std::uint64_t kProbes = 64;
constexpr std::uint64_t kBatchMax = dataset::kBatchItemsMax;
// What a sample of a batch request costs more than its bytes, in bytes of a block that could be
// moved in the same time.
constexpr double kItemCostBytes = 8 * kKiB;
constexpr std::uint64_t kBatchBytesMax = 64 * kGiB;

// Bytes of the wanted fields of a sample, as the mean of some.
double wanted_bytes(const Source& source) {
  const SampleOrder& order = *source.order;
  const std::uint64_t probes = std::min(kProbes, order.size());
  double sum = 0;
  for (std::uint64_t i = 0; i < probes; ++i) {
    const auto sample =
        order.dataset().view().sample(order.stored_row(i * (order.size() / probes)));
    if (!sample) continue;  // who reads it hears of it
    for (const auto& field : source.fields) {
      if (field && sample->fields[*field]) {
        sum += static_cast<double>(sample->fields[*field]->size_bytes);
      }
    }
  }
  return probes == 0 ? 0 : sum / static_cast<double>(probes);
}

// Refuses batches that no machine has the memory for, before anybody asks for it.
Status check_memory(const FeedOptions& options) {
  std::uint64_t sample = 0;
  for (const ColumnOptions& column : options.fill.columns) {
    if (decode::is_dense(column.decode.to)) sample += decode::size_of(column.decode);
  }
  // At most kBatchMax samples, so that nothing overflows.
  if (sample <= kBatchBytesMax && sample * options.plan.cut.batch_size <= kBatchBytesMax) return {};
  return fail(Errc::bad_request,
              fmt::format("a batch of {} samples with {} decoded bytes each is above the {} GiB "
                          "that a batch may have",
                          options.plan.cut.batch_size, sample, kBatchBytesMax / kGiB));
}

}  // namespace

Reading choose_reading(const FeedOptions& options) {
  double as_blocks = 0;
  double as_rows = 0;
  bool is_held = false;  // a window is
  for (const Source& source : options.sources) {
    // The bytes of a recipe's blocks are in no one object; the node knows where.
    const bool has_recipes = source.order->dataset().view().catalog().has_recipes();
    if (has_recipes || source.order->shuffle() == order::Shuffle::full) return Reading::rows;
    if (source.order->shuffle() == order::Shuffle::block) is_held = true;
    const auto samples = static_cast<double>(source.order->size());
    const CutOptions& cut = options.plan.cut;
    const double own = samples / static_cast<double>(cut.world * cut.workers);
    as_blocks +=
        average_block_bytes(*source.order) * static_cast<double>(source.order->block_count());
    as_rows += own * (wanted_bytes(source) + kItemCostBytes);
  }
  const auto room = static_cast<double>(budget_of(options, Reading::blocks).cells_bytes);
  const bool is_too_small = is_held && room < window_bytes(options);
  return is_too_small || as_rows < as_blocks ? Reading::rows : Reading::blocks;
}

Result<FeedCounts> count_batches(const FeedOptions& options) {
  if (options.sources.empty()) return fail(Errc::bad_request, "a feed needs a dataset");
  const CutOptions& cut = options.plan.cut;
  const bool is_cut = cut.batch_size > 0 && cut.batch_size <= kBatchMax && cut.world > 0 &&
                      cut.world <= UINT32_MAX && cut.rank < cut.world && cut.workers > 0 &&
                      cut.workers <= UINT32_MAX && cut.worker < cut.workers;
  if (!is_cut) {
    return fail(
        Errc::bad_request,
        fmt::format("batch_size is 1 to {}, rank below world, worker below workers", kBatchMax));
  }
  LEAT_DO(check_memory(options));
  const std::uint64_t size = Order(options.sources, options.plan).size();
  if (cut.position > size) {
    return fail(Errc::bad_request, fmt::format("position {} is behind the {} samples of an epoch",
                                               cut.position, size));
  }
  return FeedCounts{.batches = Cut(size, cut).batches(), .samples = size};
}

Result<std::unique_ptr<Feed>> Feed::open(std::vector<Lane> lanes, io::Clock& clock,
                                         FeedOptions options) {
  LEAT_DO(count_batches(options));
  const Reading reading = options.reading.value_or(choose_reading(options));
  return std::unique_ptr<Feed>(
      new Feed(std::make_shared<Pipeline>(std::move(lanes), clock, std::move(options), reading)));
}

Feed::~Feed() {
  pipeline_->close();
}

std::expected<BatchHandle, Failure> Feed::next(std::optional<Duration> limit) {
  return pipeline_->next(limit);
}

void Feed::cancel() {
  pipeline_->cancel();
}

std::string Feed::report() const {
  return pipeline_->report();
}

}  // namespace leat::feed
