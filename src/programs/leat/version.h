// What this build calls itself. The number is CMake's (project(leat VERSION …)).
#pragma once

#include <string_view>

namespace leat::programs {

inline constexpr std::string_view kVersion = LEAT_VERSION;

}  // namespace leat::programs
