// LinkTable: how the hosts of a simulated network reach each other: how long it takes, and whether.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "base/time.h"
#include "io/rng.h"

namespace leat::sim {

struct NetworkOptions {
  Duration latency{std::chrono::microseconds(100)};
  // Up to this much more for each piece of data, by chance. Order within a stream is kept.
  Duration jitter{std::chrono::microseconds(100)};
  // What a stream holds in one direction, on the way and unread together: the writer waits beyond
  // it.
  std::size_t buffer_bytes = 64 * 1024;
  // The chance that a read or write moves fewer bytes than it could.
  std::uint64_t short_percent = 0;
  Duration connect_timeout{std::chrono::seconds(30)};
};

class LinkTable {
 public:
  LinkTable(NetworkOptions initial, std::uint64_t seed) : options(initial), rng_(seed) {}

  // May be changed at any time; holds for what is sent from then on.
  NetworkOptions options;

  Duration draw_latency() {
    const auto jitter = static_cast<std::uint64_t>(options.jitter.count());
    return options.latency + Duration(static_cast<Duration::rep>(rng_.below(jitter + 1)));
  }

  // How many of `count` bytes are moved at once. Requires: count > 0.
  std::size_t draw_count(std::size_t count) {
    return rng_.chance(options.short_percent, 100) ? 1 + rng_.below(count) : count;
  }

  void cut(const std::string& from, const std::string& to) { cut_.emplace(from, to); }
  void mend(const std::string& from, const std::string& to) { cut_.erase({from, to}); }
  void mend_all() { cut_.clear(); }
  bool is_cut(const std::string& from, const std::string& to) const {
    return cut_.contains({from, to});
  }

 private:
  io::SeededRng rng_;
  std::set<std::pair<std::string, std::string>> cut_;
};

}  // namespace leat::sim
