// Permutation: position i of a shuffled order of n things, computed and never stored.
//
// A keyed Feistel network of 8 rounds that walks until it is inside [0, n); for n <= 64, where such
// a network is visibly biased, a shuffled table. Every machine, compiler and language must agree on
// it to the bit, so mix(), Draws and the table are our own and are frozen as `order_version 1`:
// docs/formats/order.md, tests/golden/order-1.txt. It hides nothing from an adversary.
//
// Values: copy them, share them between threads.
#pragma once

#include <array>
#include <cstdint>

namespace leat::order {

// What is frozen. Another order is another number, and this one stays.
constexpr std::uint64_t kOrderVersion = 1;

// One step of SplitMix64.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

// Numbers drawn from a key: the j-th is mix(key + j * 0x9E3779B97F4A7C15), from j = 0.
class Draws {
 public:
  explicit Draws(std::uint64_t key) : state_(key) {}

  std::uint64_t next();

  // Uniform in [0, bound): the high word of next() * bound, drawn again while the low word is below
  // 2^64 mod bound. Requires: bound > 0.
  std::uint64_t below(std::uint64_t bound);

 private:
  std::uint64_t state_;
};

class Permutation {
 public:
  static constexpr std::uint64_t kTableMax = 64;
  static constexpr unsigned kRounds = 8;

  Permutation(std::uint64_t n, std::uint64_t key);

  std::uint64_t size() const { return n_; }

  // A bijection of [0, n). Requires: i < size().
  std::uint64_t operator()(std::uint64_t i) const;

 private:
  std::uint64_t encipher(std::uint64_t value) const;

  std::uint64_t n_;
  unsigned left_bits_ = 0;
  unsigned right_bits_ = 0;
  std::array<std::uint64_t, kRounds> round_keys_{};
  std::array<std::uint8_t, kTableMax> table_{};  // instead, when n <= kTableMax
};

}  // namespace leat::order
