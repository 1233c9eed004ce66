// shell_text(): a word that a POSIX shell takes as it is, whatever is in it: for lines that people
// and `eval` give to one. Pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace leat::programs {

// Plain words stay as they are, so that they are read easily.
inline std::string shell_text(std::string_view word) {
  const auto is_plain = [](char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_letter || (c >= '0' && c <= '9') || std::string_view("-_./:@%+=,").contains(c);
  };
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";  // ends the quotes, gives one, begins them again
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace leat::programs
