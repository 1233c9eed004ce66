#include "sim/trace.h"

#include <fmt/format.h>

namespace leat::sim {
namespace {

constexpr std::uint64_t kPrime = 0x100000001B3;

std::uint64_t fold(std::uint64_t state, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) {
    state = (state ^ (value >> shift & 0xFF)) * kPrime;
  }
  return state;
}

}  // namespace

std::uint64_t fnv1a(std::string_view text, std::uint64_t state) {
  for (const char c : text) {
    state = (state ^ static_cast<unsigned char>(c)) * kPrime;
  }
  return state;
}

void Trace::record(Instant when, std::string_view what, std::string_view subject, std::uint64_t a,
                   std::uint64_t b) {
  hash_ = fold(hash_, static_cast<std::uint64_t>(when.time_since_epoch().count()));
  hash_ = fnv1a(subject, fold(fnv1a(what, hash_), what.size()));
  hash_ = fold(fold(hash_, a), b);
  ++events_;
  if (recent_.size() == kRecentMax) recent_.pop_front();
  recent_.push_back(Event{when, what, std::string(subject), a, b});
}

std::string Trace::recent() const {
  std::string lines;
  for (const Event& e : recent_) {
    lines += fmt::format("  {:>16} ns  {} {} {} {}\n", e.when.time_since_epoch().count(), e.what,
                         e.subject, e.a, e.b);
  }
  return lines;
}

}  // namespace leat::sim
