// nearest: the candidate a mistyped word most likely meant, for "did you mean …?".
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace leat::config {

// The number of typing errors (a letter added, missing, wrong, or two neighbours swapped) between
// two words, or `limit` + 1 if there are more than `limit`. This is the Damerau–Levenshtein
// distance in its restricted form: a swapped pair is not edited again.
std::size_t typing_distance(std::string_view a, std::string_view b, std::size_t limit);

// The candidate with the fewest typing errors, the first of several. Nothing if all are too far to
// be meant: about one error in three letters is allowed, at most four, and always fewer than
// there are letters.
// Lifetime: the answer points into `candidates`.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

}  // namespace leat::config
