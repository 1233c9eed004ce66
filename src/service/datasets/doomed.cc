#include "datasets/doomed.h"

#include <nlohmann/json.hpp>

#include "base/encoding.h"

namespace leat::datasets {

using nlohmann::json;

std::string encode(const Doomed& doomed) {
  json objects = json::array();
  // A key is any bytes, and text in JSON is not.
  for (const auto& [key, until_ms] : doomed.objects)
    objects.push_back({{"key", to_base64(as_bytes(key))}, {"until_ms", until_ms}});
  return json{{"objects", std::move(objects)}}.dump();
}

Result<Doomed> decode_doomed(std::string_view text) {
  const auto damaged = [] { return fail(Errc::corrupt, "what a vacuum removes is damaged"); };
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto objects = document.is_object() ? document.find("objects") : document.end();
  if (objects == document.end() || !objects->is_array()) return damaged();
  Doomed doomed;
  for (const json& one : *objects) {
    const bool is_sound = one.is_object() && one.contains("key") && one["key"].is_string() &&
                          one.contains("until_ms") && one["until_ms"].is_number_integer();
    if (!is_sound) return damaged();
    const auto key = from_base64(one["key"].get_ref<const std::string&>());
    if (!key) return damaged();
    doomed.objects.emplace(as_text(*key), one["until_ms"].get<std::int64_t>());
  }
  return doomed;
}

}  // namespace leat::datasets
