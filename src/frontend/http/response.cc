#include "http/response.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "http1/head_writer.h"

namespace leat::http {

Response Response::text(int status, std::string_view content_type, std::string body) {
  Response response(status);
  LEAT_CHECK(response.add("Content-Type", content_type).has_value());
  auto owner = std::make_shared<const std::string>(std::move(body));
  response.body = MemoryBody{.owner = owner, .bytes = as_bytes(*owner)};
  return response;
}

Response Response::of_error(const Error& error) {
  const ErrcTraits& row = traits(error.code());
  nlohmann::json body = {{"error", row.name}};
  if (!error.detail().empty()) body["message"] = error.detail();
  // Client bytes in a detail may not be UTF-8; the answer always is.
  constexpr auto kReplaceBadText = nlohmann::json::error_handler_t::replace;
  std::string text = body.dump(-1, ' ', false, kReplaceBadText) + "\n";
  return Response::text(row.http_status, "application/json", std::move(text));
}

Status Response::add(std::string_view name, std::string_view value) {
  return http1::append_field(fields_, name, value);
}

}  // namespace leat::http
