// Rng: the only source of randomness. SystemRng is for keys and identities; SeededRng repeats
// itself from its seed, bit for bit on every machine, and drives simulations and tests.
// std::uniform_int_distribution and friends are banned: their output differs between libraries.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace leat::io {

class Rng {
 public:
  virtual ~Rng() = default;

  virtual std::uint64_t next() = 0;

  // Uniform in [0, bound), without modulo bias. Requires: bound > 0.
  std::uint64_t below(std::uint64_t bound);

  // True with probability numerator / denominator. Requires: denominator > 0.
  bool chance(std::uint64_t numerator, std::uint64_t denominator);

  void fill(MutableBytes target);
};

// The kernel's generator. Safe to share between shards.
class SystemRng final : public Rng {
 public:
  std::uint64_t next() override;
};

// SplitMix64 (Steele, Lea, Flood 2014). Golden values in io/rng_test.cc.
class SeededRng final : public Rng {
 public:
  explicit SeededRng(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override;

 private:
  std::uint64_t state_;
};

}  // namespace leat::io
