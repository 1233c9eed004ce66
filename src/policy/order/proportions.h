// Proportions: which of several sources stands at a position of a mix, and as its how-manieth.
//
// Pure and O(sources): after any number of positions each source has had its share of them, rounded
// to a whole sample at each split between sources. The first source is told apart from the rest by
// where position · weight / sum of weights, rounded, steps up; the second from the rest of those,
// and so on. The arithmetic: docs/formats/order.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace leat::order {

class Proportions {
 public:
  struct Pick {
    std::uint32_t source = 0;
    std::uint64_t number = 0;  // how many of this source stand before it
    bool operator==(const Pick&) const = default;
  };

  // Requires: weights are finite and positive; fewer than 2^32 of them, at least one.
  explicit Proportions(std::span<const double> weights);

  Pick at(std::uint64_t position) const;

  // How many positions there are until a source would be asked for more than it has.
  std::uint64_t until_used_up(std::span<const std::uint64_t> sizes) const;

 private:
  bool fits(std::uint64_t positions, std::span<const std::uint64_t> sizes) const;

  // Of the source among itself and those behind it, in units of 2^-32.
  std::vector<std::uint64_t> shares_;
};

}  // namespace leat::order
