// say(): to standard output, without an exception when that is closed or full. Whoever ends the
// command looks whether all of it was written.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace leat::programs {

template <class... Values>
void say(fmt::format_string<Values...> text, Values&&... values) {
  const std::string line = fmt::format(text, std::forward<Values>(values)...);
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stdout));  // ferror() remembers
}

}  // namespace leat::programs
