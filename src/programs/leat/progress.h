// How far a transfer is, as a line of text. Pure: time is an argument.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "transfer/tools.h"

namespace leat::programs {

// The counters at one instant.
struct Snapshot {
  std::uint64_t files_total = 0;
  std::uint64_t bytes_total = 0;
  std::uint64_t files_done = 0;
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_moved = 0;
  std::uint64_t files_skipped = 0;
  std::uint64_t files_failed = 0;
  bool is_planned = false;

  static Snapshot of(const transfer::Counters& counters);
};

// Rates as they are now rather than as they were on average: old ones fade within seconds.
class Rates {
 public:
  explicit Rates(Instant start) : last_time_(start) {}
  void look(const Snapshot& now, Instant time);
  double bytes_per_second() const { return bytes_; }
  double files_per_second() const { return files_; }

 private:
  Instant last_time_;
  std::uint64_t last_bytes_ = 0;
  std::uint64_t last_files_ = 0;
  double bytes_ = 0;
  double files_ = 0;
  bool is_first_ = true;
};

// Nothing while it cannot be known.
std::optional<Duration> time_left(const Snapshot& now, const Rates& rates);

// "1h02m", "3m05s", "8s"
std::string duration_text(Duration time);
// "1,281,167"
std::string number_text(std::uint64_t number);

// One line without its end; with a bar if it is for a terminal.
std::string progress_line(const Snapshot& now, const Rates& rates, bool with_bar);

}  // namespace leat::programs
