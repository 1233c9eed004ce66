#include "dataset/json_call.h"

#include <fmt/format.h>

namespace leat::dataset {
namespace {

using nlohmann::json;

Result<std::string> text_of(const json& body) {
  try {
    return body.dump();
  } catch (const json::type_error&) {
    return fail(Errc::bad_request, "a name or text is no UTF-8, and cannot be sent in JSON");
  }
}

}  // namespace

rt::Task<json> call_json(s3client::S3Client& client, NativeCall call, json body) {
  if (!body.is_null()) {
    LEAT_CO_TRY(call.body, text_of(body));
  }
  LEAT_CO_TRY(const std::string text, co_await call_native(client, std::move(call)));
  if (text.empty()) co_return json::object();
  json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) {
    co_return fail(Errc::io, "the service answered something else than a JSON object");
  }
  co_return document;
}

std::string as_utf8(std::string_view text) {
  const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(quoted).get<std::string>();
}

const json* AnswerReader::find(const std::string& name) const {
  if (!document_.is_object()) return nullptr;
  const auto found = document_.find(name);
  return found == document_.end() ? nullptr : &*found;
}

void AnswerReader::note(const std::string& name, std::string_view kind) {
  if (problem_.empty()) problem_ = fmt::format("its {:?} is no {}", name, kind);
}

std::uint64_t AnswerReader::number(const std::string& name) {
  const json* const found = find(name);
  if (found != nullptr && found->is_number_unsigned()) return found->get<std::uint64_t>();
  note(name, "number");
  return 0;
}

std::string AnswerReader::text(const std::string& name) {
  const json* const found = find(name);
  if (found != nullptr && found->is_string()) return found->get<std::string>();
  note(name, "text");
  return "";
}

std::string AnswerReader::name(const std::string& name) {
  const json* const encoded = find(name + "_encoded");
  if (encoded == nullptr || !encoded->is_string()) return text(name);
  auto bytes = http1::percent_decode(encoded->get<std::string>());
  if (bytes) return *std::move(bytes);
  note(name, "name");
  return "";
}

const json& AnswerReader::list(const std::string& name) {
  const json* const found = find(name);
  if (found != nullptr && found->is_array()) return *found;
  note(name, "list");
  static const json none = json::array();
  return none;
}

const json& AnswerReader::object(const std::string& name) {
  const json* const found = find(name);
  if (found != nullptr && found->is_object()) return *found;
  note(name, "object");
  static const json none = json::object();
  return none;
}

std::vector<std::string> AnswerReader::texts(const std::string& name) {
  std::vector<std::string> all;
  for (const json& one : list(name)) {
    if (one.is_string()) {
      all.push_back(one.get<std::string>());
    } else {
      note(name, "list of texts");
    }
  }
  return all;
}

Status AnswerReader::status() const {
  if (problem_.empty()) return {};
  return fail(Errc::io, fmt::format("the service answered something unexpected: {}", problem_));
}

}  // namespace leat::dataset
