// Access keys: listing, making and revoking them.
#include <fmt/format.h>

#include <algorithm>

#include "http1/uri.h"
#include "native/calls.h"
#include "native/json.h"

namespace leat::native {
namespace {

using http::Response;
using nlohmann::json;

constexpr std::size_t kRulesMax = 100;
constexpr std::size_t kTextMaxBytes = 1024;

json describe(const keys::Key& key) {
  json rules = json::array();
  for (const keys::Rule& rule : key.rules) {
    json rights = json::array();
    for (const keys::Right right : rule.rights)
      rights.push_back(keys::name_of(right));
    rules.push_back(
        {{"bucket", rule.bucket}, {"prefix", rule.prefix}, {"rights", std::move(rights)}});
  }
  json one = {{"id", key.id},
              {"name", key.name},
              {"created_ms", key.created_ms},
              {"rules", std::move(rules)}};
  if (key.expires_ms) one["expires_ms"] = *key.expires_ms;
  return one;
}

Result<std::string> text_in(const json& object, const char* name) {
  if (!object.contains(name)) return std::string();
  const json& value = object[name];
  if (!value.is_string() || value.get_ref<const std::string&>().size() > kTextMaxBytes) {
    return fail(Errc::bad_request,
                fmt::format("\"{}\" is a text of at most {} bytes", name, kTextMaxBytes));
  }
  return value.get<std::string>();
}

Result<keys::Rule> rule_in(const json& object) {
  const bool is_right = object.is_object() && object.contains("bucket") &&
                        object.contains("rights") && object["rights"].is_array();
  if (!is_right) {
    return fail(Errc::bad_request,
                R"(a rule is {"bucket": "photos", "prefix": "", "rights": ["read"]})");
  }
  keys::Rule rule;
  LEAT_TRY(rule.bucket, text_in(object, "bucket"));
  LEAT_TRY(rule.prefix, text_in(object, "prefix"));
  for (const json& name : object["rights"]) {
    const auto* right = std::ranges::find_if(keys::kRights, [&name](keys::Right one) {
      return name.is_string() && name.get_ref<const std::string&>() == keys::name_of(one);
    });
    if (right == std::end(keys::kRights)) {
      return fail(Errc::bad_request, "rights are read, write, list and admin");
    }
    rule.rights.push_back(*right);
  }
  if (rule.bucket.empty() || rule.rights.empty()) {
    return fail(Errc::bad_request, "a rule names a bucket and at least one right");
  }
  return rule;
}

Result<keys::NewKey> new_key_in(const std::string& text, std::int64_t now_ms) {
  const json body = json::parse(text, nullptr, false);
  if (!body.is_object()) return fail(Errc::bad_request, "the body is no JSON object");
  keys::NewKey wanted{.created_ms = now_ms};
  for (const auto& [name, value] : body.items()) {
    if (name == "expires_ms" && value.is_number_integer()) {
      wanted.expires_ms = value.get<std::int64_t>();
      if (*wanted.expires_ms <= now_ms) return fail(Errc::bad_request, "the expiry is past");
    } else if (name != "name" && name != "rules") {
      return fail(Errc::bad_request,
                  fmt::format("\"{}\" is not known here, or has the wrong type", name));
    }
  }
  LEAT_TRY(wanted.name, text_in(body, "name"));
  const json rules = body.value("rules", json::array());
  if (!rules.is_array() || rules.empty() || rules.size() > kRulesMax) {
    return fail(Errc::bad_request, fmt::format("a key has 1 to {} rules", kRulesMax));
  }
  for (const json& one : rules) {
    LEAT_TRY(keys::Rule rule, rule_in(one));
    wanted.rules.push_back(std::move(rule));
  }
  return wanted;
}

}  // namespace

Answer list_keys(store::ShardStore& store, keys::KeyStore& keys, http::Exchange& /*exchange*/) {
  json list = json::array();
  const keys::KeyTablePtr table = keys.on(store.shard()).table();
  for (const auto& key : table->all())
    list.push_back(describe(*key));
  const json answer = {{"keys", std::move(list)}};
  co_return json_answer(200, answer);
}

Answer create_key(store::ShardStore& store, keys::KeyStore& keys, http::Exchange& exchange) {
  LEAT_CO_TRY(const std::string body, co_await read_text(exchange.body, kBodyMaxBytes));
  LEAT_CO_TRY(auto wanted, new_key_in(body, store.now_ms()));
  LEAT_CO_TRY(const keys::Key made, co_await keys.create(std::move(wanted), store.shard()));
  json answer = describe(made);
  answer["secret"] = made.secret;
  Response response = json_answer(201, answer);
  response.add_checked("Cache-Control: no-store\r\n");
  co_return response;
}

Answer remove_key(store::ShardStore& store, keys::KeyStore& keys, http::Exchange& exchange) {
  LEAT_CO_TRY(std::string id, http1::percent_decode(exchange.head.path.substr(kKeys.size() + 1)));
  LEAT_CO_DO(co_await keys.revoke(std::move(id), store.shard()));
  co_return Response(204);
}

}  // namespace leat::native
