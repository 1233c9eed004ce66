#include "order/proportions.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace leat::order {
namespace {

constexpr unsigned kUnitBits = 32;
constexpr std::uint64_t kUnit = std::uint64_t{1} << kUnitBits;
constexpr std::uint64_t kPositionsMax = std::uint64_t{1} << 60;

__extension__ using Wide = unsigned __int128;

// How many of the first `positions` have the share: rounded, so that shares that come out even are
// exact although they are not in units of 2^-32.
std::uint64_t taken(std::uint64_t positions, std::uint64_t share) {
  return static_cast<std::uint64_t>((Wide{positions} * share + kUnit / 2) >> kUnitBits);
}

}  // namespace

Proportions::Proportions(std::span<const double> weights) {
  LEAT_CHECK(!weights.empty());
  double rest = 0;
  for (const double weight : weights) {
    LEAT_CHECK(std::isfinite(weight) && weight > 0);
    rest += weight;
  }
  for (const double weight : weights) {
    const double share = std::min(1.0, weight / rest);
    shares_.push_back(static_cast<std::uint64_t>(std::llround(share * static_cast<double>(kUnit))));
    rest -= weight;
  }
  shares_.back() = kUnit;
}

Proportions::Pick Proportions::at(std::uint64_t position) const {
  for (std::uint32_t source = 0;; ++source) {
    const std::uint64_t before = taken(position, shares_[source]);
    if (taken(position + 1, shares_[source]) > before) return {source, before};
    position -= before;
  }
}

bool Proportions::fits(std::uint64_t positions, std::span<const std::uint64_t> sizes) const {
  for (std::size_t source = 0; source < sizes.size(); ++source) {
    const std::uint64_t count = taken(positions, shares_[source]);
    if (count > sizes[source]) return false;
    positions -= count;
  }
  return true;
}

std::uint64_t Proportions::until_used_up(std::span<const std::uint64_t> sizes) const {
  LEAT_CHECK(sizes.size() == shares_.size());
  std::uint64_t low = 0;
  std::uint64_t high = kPositionsMax;
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (fits(middle, sizes)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace leat::order
