// JSON of the native API. Included by source files only: the library's header is heavy.
#pragma once

#include <nlohmann/json.hpp>

#include "http/response.h"

namespace leat::native {

// What a request may bring as JSON.
constexpr std::size_t kBodyMaxBytes = 64 * 1024;

inline http::Response json_answer(int status, const nlohmann::json& value) {
  // Keys are bytes; what is not UTF-8 is shown with U+FFFD, unless encoding=url was asked for.
  const auto handler = nlohmann::json::error_handler_t::replace;
  return http::Response::text(status, "application/json",
                              value.dump(-1, ' ', false, handler) + "\n");
}

}  // namespace leat::native
