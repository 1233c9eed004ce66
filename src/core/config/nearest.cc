#include "config/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace leat::config {

std::size_t typing_distance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference > limit) return limit + 1;

  // row[j] is the distance between the first i letters of `a` and the first j of `b`.
  std::vector<std::size_t> before_previous(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_previous, previous);
    std::swap(previous, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, previous[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_previous[j - 2] + 1);
    }
  }
  return std::min(row[b.size()], limit + 1);
}

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
  if (word.empty()) return std::nullopt;
  std::size_t allowed = std::clamp<std::size_t>(word.size() / 3, 1, 4);
  allowed = std::min(allowed, word.size() - 1);
  std::optional<std::string_view> best;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = typing_distance(word, candidate, allowed);
    if (distance > allowed) continue;
    best = candidate;
    if (distance == 0) break;
    allowed = distance - 1;  // Only a strictly better one replaces it.
  }
  return best;
}

}  // namespace leat::config
