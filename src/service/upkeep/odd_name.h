// Names of members on which readers of samples differ. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace leat::upkeep {

// Why; nothing for a name that all readers take apart alike. Vectors: odd_name_test.cc.
std::optional<std::string> why_odd(std::string_view name);

}  // namespace leat::upkeep
