// How a bucket keeps its objects, in the words of people and requests.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "record/types.h"

namespace leat::record {

constexpr std::array<std::pair<Durability, std::string_view>, 3> kDurabilityWords = {{
    {Durability::sync, "sync"},
    {Durability::group, "group"},
    {Durability::relaxed, "relaxed"},
}};

constexpr std::string_view word_of(Durability durability) {
  return kDurabilityWords[static_cast<std::size_t>(durability)].second;
}

constexpr std::optional<Durability> durability_from_word(std::string_view word) {
  const auto* known =
      std::ranges::find(kDurabilityWords, word, &std::pair<Durability, std::string_view>::second);
  if (known == kDurabilityWords.end()) return std::nullopt;
  return known->first;
}

// A hundred years: with more the end of a window would be no time.
constexpr std::uint64_t kUndoWindowMaxMs = 36'500ULL * 24 * 3'600 * 1'000;

}  // namespace leat::record
