#include "training/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "training/json_size.h"

namespace leat::training {

using datasets::DatasetName;
using http::Response;
using nlohmann::json;

namespace {

constexpr std::size_t kBodyMaxBytes = 16 * kMiB;
constexpr std::size_t kValuesMax = 1'000'000;  // keys of shards and samples

std::unexpected<Error> wrong_kind(const char* name, std::string_view kind) {
  return fail(Errc::bad_request, fmt::format("\"{}\" is no {}", name, kind));
}

}  // namespace

Status Request::parse() {
  LEAT_TRY(const std::string path, http1::percent_decode(exchange.head.path));
  std::string_view name = std::string_view(path).substr(kDatasets.size() + 1);
  // Names have no '@' and versions no '/': what is behind both is inside the version.
  const std::size_t at = name.find('@');
  const std::size_t slash = at == name.npos ? name.npos : name.find('/', at);
  if (slash != name.npos) {
    inside = name.substr(slash + 1);
    name = name.substr(0, slash);
  }
  LEAT_TRY(reference, datasets::parse_reference(name));
  return parse_query();
}

Status Request::parse_query() {
  LEAT_TRY(query_, http1::parse_query(exchange.head.query));
  return {};
}

std::optional<std::string> Request::query(std::string_view name) const {
  const auto found = std::ranges::find(query_, name, &http1::QueryPair::name);
  if (found == query_.end()) return std::nullopt;
  return found->value;
}

Status Request::allow(std::initializer_list<std::string_view> names) const {
  for (const http1::QueryPair& pair : query_) {
    if (std::ranges::find(names, pair.name) == names.end() && !pair.name.starts_with("X-Amz-")) {
      return fail(Errc::bad_request, fmt::format("?{} is not known here", pair.name));
    }
  }
  return {};
}

Result<std::uint64_t> Request::number(std::string_view name, std::uint64_t otherwise,
                                      std::uint64_t max) const {
  const auto text = query(name);
  if (!text) return otherwise;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) {
    return fail(Errc::bad_request, fmt::format("?{} is no number", name));
  }
  return std::min(value, max);
}

Status Request::may(access::Action action, const DatasetName& name) const {
  if (call->may(action, name.bucket, name.name + "/")) return {};
  return fail(Errc::denied, fmt::format("this key may not do that to {}", name.text()));
}

Status Request::may_show(const DatasetName& name, const std::vector<std::string>& keys) const {
  for (const std::string& key : keys) {
    if (call->may(access::Action::get_object, name.bucket, key)) continue;
    return fail(Errc::denied, fmt::format("this key may not read {}/{}", name.bucket, key));
  }
  return {};
}

Status Request::check_no_version(std::string_view what) const {
  if (std::holds_alternative<datasets::Latest>(reference.which) && inside.empty()) return {};
  return fail(Errc::bad_request, fmt::format("{} is of the dataset, not of a version", what));
}

rt::Task<json> Request::read_json() {
  LEAT_CO_TRY(const std::string text, co_await read_body(*call, kBodyMaxBytes));
  LEAT_CO_DO(check_json_size(text, kValuesMax));
  json document = json::parse(text.empty() ? "{}" : text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) co_return fail(Errc::bad_request, "the body is no JSON");
  co_return document;
}

Response json_answer(int status, const json& value) {
  return Response::text(status, "application/json",
                        value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

json json_of(const datasets::CommitRecord& record) {
  return {{"version", record.version},
          {"committed_ms", record.committed_ms},
          {"message", record.message},
          {"transaction", record.transaction},
          {"samples", record.samples},
          {"shards", record.shards},
          {"bytes", record.bytes},
          {"fields", record.fields},
          {"added", record.added.size()},
          {"removed", record.removed.size()},
          {"deleted_samples", record.deleted_samples}};
}

json json_of(const datasets::Opened& opened) {
  json info = json_of(opened.record);
  info["dataset"] = opened.dataset.text();
  info["fingerprint"] = opened.record.snapshot.fingerprint;
  info["snapshot_bytes"] = opened.record.snapshot.size_bytes;
  return info;
}

Status take(const json& from, const char* name, std::string& to) {
  const auto found = from.find(name);
  if (found == from.end()) return {};
  if (!found->is_string()) return wrong_kind(name, "text");
  to = found->get<std::string>();
  return {};
}

Status take(const json& from, const char* name, bool& to) {
  const auto found = from.find(name);
  if (found == from.end()) return {};
  if (!found->is_boolean()) return wrong_kind(name, "true or false");
  to = found->get<bool>();
  return {};
}

Status take(const json& from, const char* name, std::uint64_t& to) {
  const auto found = from.find(name);
  if (found == from.end()) return {};
  if (!found->is_number_unsigned()) return wrong_kind(name, "number");
  to = found->get<std::uint64_t>();
  return {};
}

Status take(const json& from, const char* name, std::optional<std::uint64_t>& to) {
  const auto found = from.find(name);
  if (found == from.end() || found->is_null()) return {};
  if (!found->is_number_unsigned()) return wrong_kind(name, "version number");
  to = found->get<std::uint64_t>();
  return {};
}

Status take(const json& from, const char* name, std::vector<std::string>& to) {
  const auto found = from.find(name);
  if (found == from.end()) return {};
  const auto is_text = [](const json& one) { return one.is_string(); };
  if (!found->is_array() || !std::ranges::all_of(*found, is_text)) {
    return wrong_kind(name, "list of texts");
  }
  to = found->get<std::vector<std::string>>();
  return {};
}

Status check_words(const json& document, std::initializer_list<std::string_view> known) {
  if (!document.is_object()) return fail(Errc::bad_request, "the body is no JSON object");
  for (const auto& [name, value] : document.items()) {
    if (std::ranges::find(known, name) == known.end()) {
      return fail(Errc::bad_request, fmt::format("\"{}\" is not known", name));
    }
  }
  return {};
}

}  // namespace leat::training
