// JSON for stdout, on one line. Names that are not UTF-8 get U+FFFD where they are not.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace leat::programs {

inline std::string json_text(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace leat::programs
