// Depth: how many requests a feed has under way at once.
//
// As many as it takes to bring bytes at the rate at which they are consumed: rate × latency / bytes
// of a request, and some more, measured over the last requests. A consumer that waits for bytes
// although all requests are under way shows that more are needed than could be measured: the depth
// doubles. When less is needed it decays, so that a slow phase does not leave a herd of requests
// behind. It never holds more than fits into the memory of the feed.
//
// Pure: times are arguments. Thread: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace leat::feed {

class Depth {
 public:
  static constexpr std::size_t kFirst = 4;
  static constexpr std::size_t kLeast = 2;
  static constexpr std::size_t kMost = 32;

  explicit Depth(std::uint64_t memory_bytes) : memory_bytes_(memory_bytes) {}

  std::size_t now() const { return depth_; }

  // A request has come to its end.
  void note_fetch(Instant begin, Instant end, std::uint64_t size_bytes);
  // The consumer waits for bytes, and all requests are under way.
  void note_starved();

 private:
  std::size_t most() const;

  std::uint64_t memory_bytes_;
  std::size_t depth_ = kFirst;
  std::uint64_t mean_bytes_ = 0;  // of a request

  // Of the requests that are looked at together.
  Instant window_begin_{};
  Duration latency_sum_{};
  std::uint64_t bytes_sum_ = 0;
  std::size_t fetches_ = 0;
  bool is_starved_ = false;
};

}  // namespace leat::feed
