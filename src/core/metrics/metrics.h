// Counter, Gauge and Histogram: the numbers Leat tells about itself, in seconds and bytes.
//
// They are made by a Registry (metrics/registry.h), live as long as it, and never move: keep the
// reference. Every function is safe from any thread; updates are relaxed atomics, so a scrape may
// see one metric's latest value and not yet another's.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "metrics/cells.h"

namespace leat::metrics {

// Only ever grows.
class Counter {
 public:
  void add(std::uint64_t amount = 1) {
    cells_[thread_cell].count.fetch_add(amount, std::memory_order_relaxed);
  }
  std::uint64_t value() const;

 private:
  struct alignas(kCacheLineBytes) Cell {
    std::atomic<std::uint64_t> count{0};
  };
  std::array<Cell, kCells> cells_;
};

// Goes up and down. One cell: set() has no meaning on several.
class Gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  void add(double amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

// 100 µs to 10 s: from a cached read to a client that is about to give up.
inline constexpr std::array<double, 16> kSecondsBounds = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
    0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};
// 256 B to 1 GiB, each four times the one before.
inline constexpr std::array<double, 12> kBytesBounds = {256,      1024,     4096,      16384,
                                                        65536,    262144,   1048576,   4194304,
                                                        16777216, 67108864, 268435456, 1073741824};

// Counts observations by size. Bucket i holds what is ≤ bounds[i] and above the bound before.
class Histogram {
 public:
  // With the sum, a cell fills exactly four cache lines.
  static constexpr std::size_t kBoundsMax = 30;

  // Requires: 1 to kBoundsMax finite bounds, each above the one before.
  explicit Histogram(std::span<const double> bounds);

  // Requires: `value` is finite; any other would spoil the sum for good.
  void observe(double value);

  struct Snapshot {
    std::vector<std::uint64_t> counts;  // one per bound, then one for what is above them all
    double sum = 0;
  };
  Snapshot snapshot() const;
  std::span<const double> bounds() const { return bounds_; }

 private:
  struct alignas(kCacheLineBytes) Cell {
    std::atomic<double> sum{0};
    std::array<std::atomic<std::uint64_t>, kBoundsMax + 1> counts{};
  };
  static_assert(sizeof(Cell) == 4 * kCacheLineBytes);

  std::vector<double> bounds_;
  std::array<Cell, kCells> cells_;
};

}  // namespace leat::metrics
