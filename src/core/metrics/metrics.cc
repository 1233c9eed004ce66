#include "metrics/metrics.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/check.h"

namespace leat::metrics {

std::uint64_t Counter::value() const {
  std::uint64_t total = 0;
  for (const Cell& cell : cells_) {
    total += cell.count.load(std::memory_order_relaxed);
  }
  return total;
}

Histogram::Histogram(std::span<const double> bounds) : bounds_(bounds.begin(), bounds.end()) {
  LEAT_CHECK(!bounds_.empty() && bounds_.size() <= kBoundsMax);
  LEAT_CHECK(std::ranges::all_of(bounds_, [](double bound) { return std::isfinite(bound); }));
  LEAT_CHECK(std::ranges::adjacent_find(bounds_, std::greater_equal<>()) == bounds_.end());
}

void Histogram::observe(double value) {
  LEAT_CHECK(std::isfinite(value));
  const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  Cell& cell = cells_[thread_cell];
  cell.counts[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  cell.sum.fetch_add(value, std::memory_order_relaxed);
}

Histogram::Snapshot Histogram::snapshot() const {
  Snapshot total{.counts = std::vector<std::uint64_t>(bounds_.size() + 1), .sum = 0};
  for (const Cell& cell : cells_) {
    for (std::size_t i = 0; i < total.counts.size(); ++i) {
      total.counts[i] += cell.counts[i].load(std::memory_order_relaxed);
    }
    total.sum += cell.sum.load(std::memory_order_relaxed);
  }
  return total;
}

}  // namespace leat::metrics
