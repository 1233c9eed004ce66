// Which versions of a dataset were given up. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace leat::datasets {

// All versions below `below` but those that were kept.
struct Vacuumed {
  std::uint64_t below = 0;
  std::set<std::uint64_t> kept{};

  bool is_gone(std::uint64_t version) const { return version < below && !kept.contains(version); }
  bool operator==(const Vacuumed&) const = default;
};

std::string encode(const Vacuumed& vacuumed);
// Errors: corrupt.
Result<Vacuumed> decode_vacuumed(std::string_view text);

}  // namespace leat::datasets
