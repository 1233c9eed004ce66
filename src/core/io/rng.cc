#include "io/rng.h"

#include "base/check.h"

namespace leat::io {

// The values below 2^64 mod bound would make small results more likely than others: draw again.
std::uint64_t Rng::below(std::uint64_t bound) {
  LEAT_CHECK(bound > 0);
  const std::uint64_t unfair = (0 - bound) % bound;
  std::uint64_t drawn = next();
  while (drawn < unfair) {
    drawn = next();
  }
  return drawn % bound;
}

bool Rng::chance(std::uint64_t numerator, std::uint64_t denominator) {
  return below(denominator) < numerator;
}

// Little-endian by hand, so that a seed gives the same bytes on every machine.
void Rng::fill(MutableBytes target) {
  std::uint64_t drawn = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (i % 8 == 0) drawn = next();
    target[i] = static_cast<std::byte>(drawn >> (8 * (i % 8)) & 0xFF);
  }
}

std::uint64_t SeededRng::next() {
  state_ += 0x9E3779B97F4A7C15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

}  // namespace leat::io
