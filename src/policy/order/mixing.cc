#include "order/mixing.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace leat::order {
namespace {

// Different uses of one seed draw different numbers.
constexpr std::uint64_t kMixerUse = 4;
constexpr std::uint64_t kDrainUse = 5;
constexpr std::uint64_t kSourceUse = 6;

std::uint64_t key_for(std::uint64_t seed, std::uint64_t use) {
  return mix(mix(seed) ^ use);
}

struct Pairs {
  std::uint64_t same = 0;
  std::uint64_t all = 0;

  // Adds the pairs of `labels`, and sorts them.
  void add(std::span<std::uint32_t> labels) {
    std::ranges::sort(labels);
    for (std::size_t begin = 0; begin < labels.size();) {
      std::size_t end = begin;
      while (end < labels.size() && labels[end] == labels[begin])
        ++end;
      same += (end - begin) * (end - begin - 1) / 2;
      begin = end;
    }
    if (!labels.empty()) all += labels.size() * (labels.size() - 1) / 2;
  }

  double rate() const { return static_cast<double>(same) / static_cast<double>(all); }
};

}  // namespace

double expected_inflation(std::uint64_t labels, std::uint64_t window_blocks,
                          std::uint64_t mixed_blocks) {
  LEAT_CHECK(window_blocks > 0 && mixed_blocks > 0);
  return 1 + static_cast<double>(labels) / static_cast<double>(window_blocks) /
                 static_cast<double>(mixed_blocks);
}

double expected_inflation_sorted(std::uint64_t labels, std::uint64_t blocks,
                                 std::uint64_t window_blocks, std::uint64_t mixed_blocks) {
  LEAT_CHECK(window_blocks > 0 && mixed_blocks > 0);
  const double near = static_cast<double>(blocks) / (2 * static_cast<double>(mixed_blocks));
  return 1 + std::min(static_cast<double>(labels), near) / static_cast<double>(window_blocks);
}

double measured_inflation(std::span<const std::uint32_t> labels, std::uint64_t batch) {
  LEAT_CHECK(batch > 1);
  std::vector<std::uint32_t> sorted(labels.begin(), labels.end());
  Pairs inside;
  for (std::size_t begin = 0; begin < sorted.size();) {
    const std::size_t count = std::min<std::uint64_t>(batch, sorted.size() - begin);
    inside.add(std::span(sorted).subspan(begin, count));
    begin += count;
  }
  Pairs all;
  all.add(sorted);
  if (all.same == 0 || inside.all == 0) return 1;
  return inside.rate() / all.rate();
}

Permutation source_order(std::uint64_t runs, std::uint64_t seed) {
  return {runs, key_for(seed, kSourceUse)};
}

Mixer::Mixer(std::uint64_t capacity, std::uint64_t seed)
    : capacity_(capacity), draws_(key_for(seed, kMixerUse)) {
  LEAT_CHECK(capacity > 0);
}

Mixer::Decision Mixer::on_item() {
  LEAT_CHECK(!rest_);
  if (held_ < capacity_) return {.slot = held_++, .emits = false};
  return {.slot = draws_.below(capacity_), .emits = true};
}

std::optional<std::uint64_t> Mixer::on_end() {
  // The key comes from the draws so far, and so from the seed and the number of items alone.
  if (!rest_) rest_.emplace(held_, key_for(draws_.next(), kDrainUse));
  if (drained_ == rest_->size()) return std::nullopt;
  --held_;
  return (*rest_)(drained_++);
}

}  // namespace leat::order
