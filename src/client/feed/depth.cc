#include "feed/depth.h"

#include <algorithm>
#include <cmath>

namespace leat::feed {
namespace {

constexpr std::size_t kWindow = 16;  // requests between two looks
constexpr double kMore = 1.5;        // above what the mean needs
constexpr std::size_t kDecay = 4;    // a quarter less in one step, at most

}  // namespace

std::size_t Depth::most() const {
  if (mean_bytes_ == 0) return kMost;
  return std::clamp<std::uint64_t>(memory_bytes_ / mean_bytes_, kLeast, kMost);
}

void Depth::note_starved() {
  is_starved_ = true;
  depth_ = std::min(depth_ * 2, most());
}

void Depth::note_fetch(Instant begin, Instant end, std::uint64_t size_bytes) {
  if (fetches_ == 0 && window_begin_ == Instant{}) window_begin_ = begin;
  latency_sum_ += end - begin;
  bytes_sum_ += size_bytes;
  if (++fetches_ < kWindow) return;
  mean_bytes_ = bytes_sum_ / kWindow;
  // Requests a second times seconds of a request: how many are under way in the mean.
  const double elapsed = std::chrono::duration<double>(end - window_begin_).count();
  const double under_way =
      elapsed > 0 ? std::chrono::duration<double>(latency_sum_).count() / elapsed : 0;
  const auto needed = static_cast<std::size_t>(std::ceil(under_way * kMore)) + 1;
  const std::size_t decayed = depth_ - depth_ / kDecay;
  if (!is_starved_) depth_ = std::max(std::min(needed, depth_), decayed);
  depth_ = std::clamp(depth_, kLeast, most());
  window_begin_ = end;
  latency_sum_ = {};
  bytes_sum_ = 0;
  fetches_ = 0;
  is_starved_ = false;
}

}  // namespace leat::feed
