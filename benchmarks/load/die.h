// die(): how a load generator ends when it cannot go on. One line on stderr, no figure.
#pragma once

#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace leat::benchmarks {

template <class... Args>
[[noreturn]] void die(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(stderr, "{}\n", fmt::format(format, std::forward<Args>(args)...));
  std::exit(2);
}

}  // namespace leat::benchmarks
