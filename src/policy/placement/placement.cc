#include "placement/placement.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"

namespace leat::placement {
namespace {

// SplitMix64's finaliser (Steele, Lea, Flood 2014).
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

using Wide = unsigned __int128;

// log2(1 + i/256) in 32 fractional bits, bit by bit: squaring doubles the logarithm.
constexpr std::uint64_t log2_fraction(std::uint32_t i) {
  Wide mantissa = (Wide{256} + i) << 54;  // in [1, 2), scaled by 2^62
  std::uint64_t bits = 0;
  for (int step = 0; step < 32; ++step) {
    mantissa = (mantissa * mantissa) >> 62;
    bits <<= 1;
    if (mantissa >> 63 != 0) {
      bits |= 1;
      mantissa >>= 1;
    }
  }
  return bits;
}

constexpr std::array<std::uint64_t, 257> kLog2 = [] {
  std::array<std::uint64_t, 257> table{};
  for (std::uint32_t i = 0; i < 256; ++i)
    table[i] = log2_fraction(i);
  table[256] = std::uint64_t{1} << 32;
  return table;
}();

// -log2(u / 2^64) for a uniform u, in 32 fractional bits: exponentially distributed.
std::uint64_t draw(std::uint64_t u) {
  u |= 1;
  const int zeros = std::countl_zero(u);
  const std::uint64_t mantissa = u << zeros;  // the top bit is set
  const auto index = static_cast<std::size_t>((mantissa << 1) >> 56);
  const std::uint64_t rest = (mantissa << 9) >> 32;
  const std::uint64_t low = kLog2[index];
  const std::uint64_t fraction = low + (((kLog2[index + 1] - low) * rest) >> 32);
  return ((static_cast<std::uint64_t>(zeros) + 1) << 32) - fraction;
}

struct Bid {
  std::uint64_t draw;
  std::uint32_t weight;
  std::uint64_t identity;

  // Lower draw per weight wins; without a weight one is behind all that have one.
  bool operator<(const Bid& other) const {
    if ((weight == 0) != (other.weight == 0)) return other.weight == 0;
    if (weight == 0) return std::pair(draw, identity) < std::pair(other.draw, other.identity);
    const Wide mine = Wide{draw} * other.weight;
    const Wide theirs = Wide{other.draw} * weight;
    return mine != theirs ? mine < theirs : identity < other.identity;
  }
};

Bid bid(std::uint64_t hash, const Candidate& candidate) {
  return {draw(mix(hash ^ mix(candidate.identity))), candidate.weight, candidate.identity};
}

}  // namespace

std::uint64_t hash_key(std::uint32_t bucket, std::string_view key) {
  std::uint64_t hash = 0xCBF29CE484222325 ^ mix(bucket);
  for (const char c : key) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001B3;
  }
  return mix(hash);
}

std::size_t choose(std::uint64_t hash, std::span<const Candidate> candidates) {
  LEAT_CHECK(!candidates.empty());
  std::size_t best = 0;
  Bid lowest = bid(hash, candidates[0]);
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const Bid next = bid(hash, candidates[i]);
    if (next < lowest) {
      lowest = next;
      best = i;
    }
  }
  return best;
}

std::vector<std::size_t> rank(std::uint64_t hash, std::span<const Candidate> candidates) {
  std::vector<std::pair<Bid, std::size_t>> bids;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    bids.emplace_back(bid(hash, candidates[i]), i);
  std::ranges::sort(bids, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::size_t> order;
  for (const auto& [bid, i] : bids)
    order.push_back(i);
  return order;
}

}  // namespace leat::placement
