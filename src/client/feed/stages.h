// Stages: what a feed counts about itself, and what it says about it. Times are of all threads
// together, in seconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "io/clock.h"

namespace leat::feed {

// Added to by many threads.
struct Stages {
  std::atomic<std::uint64_t> plan_ns{0};
  std::atomic<std::uint64_t> fetches{0};
  std::atomic<std::uint64_t> fetched_bytes{0};
  std::atomic<std::uint64_t> local_bytes{0};  // of them, from files of this machine
  std::atomic<std::uint64_t> fetch_ns{0};     // from asking to the last byte
  std::atomic<std::uint64_t> split_ns{0};
  std::atomic<std::uint64_t> fill_ns{0};  // copying, or decoding if there is something to decode
  std::atomic<std::uint64_t> batches{0};
  std::atomic<std::uint64_t> samples{0};
  std::atomic<std::uint64_t> errors{0};
  // How long next() waited: for bytes, for threads that fill, and how long its caller was away.
  std::atomic<std::uint64_t> wait_fetch_ns{0};
  std::atomic<std::uint64_t> wait_fill_ns{0};
  std::atomic<std::uint64_t> away_ns{0};
  std::atomic<std::uint64_t> first_batch_ns{0};
};

// Adds the time from its making to its end.
class Stopwatch {
 public:
  Stopwatch(const io::Clock& clock, std::atomic<std::uint64_t>& into)
      : clock_(clock), begin_(clock.now()), into_(into) {}
  ~Stopwatch() { into_ += static_cast<std::uint64_t>((clock_.now() - begin_).count()); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  const io::Clock& clock_;
  Instant begin_;
  std::atomic<std::uint64_t>& into_;
};

// What the shape of a feed is, for its report.
struct FeedShape {
  bool reads_blocks = true;
  bool decodes = false;
  std::size_t threads = 0;
  std::size_t depth = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_most_bytes = 0;
};

// JSON: stages, rates, a verdict ("consumer", "disk", "network" or "decode") and what to do about
// it.
std::string report_of(const Stages& stages, const FeedShape& shape);

}  // namespace leat::feed
