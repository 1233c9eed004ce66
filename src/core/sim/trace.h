// Trace: the history of a simulated world folded into one number, and its last few events as text.
//
// Two runs with the same seed must give the same hash: a test that compares them finds any hidden
// source of chance (addresses, hash orders, the machine's clock). Nothing that differs between two
// runs of the same program may be recorded, pointers above all.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/time.h"

namespace leat::sim {

// FNV-1a, 64 bits: the same on every machine.
std::uint64_t fnv1a(std::string_view text, std::uint64_t state = 0xCBF29CE484222325);

class Trace {
 public:
  static constexpr std::size_t kRecentMax = 16;

  // Lifetime: `what` is a literal.
  void record(Instant when, std::string_view what, std::string_view subject, std::uint64_t a,
              std::uint64_t b);

  std::uint64_t hash() const { return hash_; }
  std::uint64_t events() const { return events_; }

  // The last events, oldest first, one line each.
  std::string recent() const;

 private:
  struct Event {
    Instant when;
    std::string_view what;
    std::string subject;
    std::uint64_t a;
    std::uint64_t b;
  };

  std::uint64_t hash_ = fnv1a("");
  std::uint64_t events_ = 0;
  std::deque<Event> recent_;
};

}  // namespace leat::sim
