#include "access/pattern.h"

namespace leat::access {
namespace {

char folded(char c, Case letters) {
  return letters == Case::ignored && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text, Case letters) {
  std::size_t p = 0;
  std::size_t t = 0;
  // Where to go on when what follows the last star did not match: one byte more for the star.
  std::size_t star = pattern.npos;
  std::size_t taken = 0;
  while (t < text.size()) {
    const bool is_star = p < pattern.size() && pattern[p] == '*';
    const bool is_same = p < pattern.size() && (pattern[p] == '?' || folded(pattern[p], letters) ==
                                                                         folded(text[t], letters));
    if (is_star) {
      star = p++;
      taken = t;
    } else if (is_same) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

}  // namespace leat::access
