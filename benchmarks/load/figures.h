// Figures: what a load generator measured, as one line of JSON.
//
// Latencies are kept whole, so percentiles are exact.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace leat::benchmarks {

using Nanos = std::int64_t;
inline constexpr Nanos kSecond = 1'000'000'000;

inline Nanos now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// Sorts them.
inline std::string percentiles_json(std::vector<Nanos>& latencies) {
  std::sort(latencies.begin(), latencies.end());
  const auto micros_at = [&](double quantile) {
    if (latencies.empty()) return 0.0;
    const double index = quantile * static_cast<double>(latencies.size() - 1);
    return static_cast<double>(latencies[static_cast<std::size_t>(index)]) / 1000;
  };
  return fmt::format(R"({{"p50":{:.1f},"p90":{:.1f},"p99":{:.1f},"p999":{:.1f},"max":{:.1f}}})",
                     micros_at(0.5), micros_at(0.9), micros_at(0.99), micros_at(0.999),
                     micros_at(1));
}

}  // namespace leat::benchmarks
