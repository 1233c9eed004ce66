#include "order/permutation.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace leat::order {
namespace {

using Wide = unsigned __int128;

constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15U;

constexpr std::uint64_t low_bits(std::uint64_t value, unsigned bits) {
  return value & ((std::uint64_t{1} << bits) - 1);  // bits <= 32 here
}

}  // namespace

std::uint64_t Draws::next() {
  const std::uint64_t drawn = mix(state_);
  state_ += kStep;
  return drawn;
}

std::uint64_t Draws::below(std::uint64_t bound) {
  LEAT_CHECK(bound > 0);
  Wide product = Wide{next()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t biased = (0 - bound) % bound;  // 2^64 mod bound
    while (static_cast<std::uint64_t>(product) < biased)
      product = Wide{next()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

Permutation::Permutation(std::uint64_t n, std::uint64_t key) : n_(n) {
  if (n <= kTableMax) {
    for (std::size_t i = 0; i < n; ++i)
      table_[i] = static_cast<std::uint8_t>(i);
    Draws draws(key);
    for (std::size_t i = n; i > 1; --i)
      std::swap(table_[i - 1], table_[draws.below(i)]);
    return;
  }
  const auto bits = static_cast<unsigned>(std::bit_width(n - 1));
  left_bits_ = bits / 2;
  right_bits_ = bits - left_bits_;
  for (std::uint64_t round = 0; round < kRounds; ++round)
    round_keys_[round] = mix(key + round * kStep);
}

std::uint64_t Permutation::encipher(std::uint64_t value) const {
  std::uint64_t left = value >> right_bits_;
  std::uint64_t right = low_bits(value, right_bits_);
  unsigned a = left_bits_;
  unsigned b = right_bits_;
  for (const std::uint64_t key : round_keys_) {
    left ^= low_bits(mix(right ^ key), a);
    std::swap(left, right);
    std::swap(a, b);
  }
  return left << right_bits_ | right;
}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
  LEAT_CHECK(i < n_);
  if (n_ <= kTableMax) return table_[i];
  std::uint64_t value = encipher(i);
  while (value >= n_)
    value = encipher(value);
  return value;
}

}  // namespace leat::order
