// Names in JSON. Included by source files only: the library's header is heavy.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "http1/uri.h"

namespace leat::stored {

// Names are bytes, JSON's texts are not: one that is no UTF-8 stands, percent-encoded, under
// "NAME_encoded" instead.
inline void add_name(nlohmann::json& to, std::string_view name, std::string_view bytes) {
  using nlohmann::json;
  const json value = std::string(bytes);
  const std::string kept = value.dump(-1, ' ', false, json::error_handler_t::ignore);
  if (json::parse(kept) == value) {
    to[std::string(name)] = value;
  } else {
    to[fmt::format("{}_encoded", name)] = http1::percent_encode(bytes, http1::Slash::keep);
  }
}

}  // namespace leat::stored
