#include "keys/key.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "hash/crc64nvme.h"

namespace leat::keys {
namespace {

using nlohmann::json;

constexpr const char* kSum = "sum";

bool is_of(const Rule& rule, std::string_view bucket) {
  const std::string_view pattern = rule.bucket;
  if (!pattern.ends_with('*')) return pattern == bucket;
  return bucket.starts_with(pattern.substr(0, pattern.size() - 1));
}

Result<Right> right_from(const std::string& name) {
  for (const Right right : kRights) {
    if (name_of(right) == name) return right;
  }
  return fail(Errc::corrupt, "a right that this version does not know: " + name);
}

json describe(const Rule& rule) {
  json rights = json::array();
  for (const Right right : rule.rights)
    rights.push_back(name_of(right));
  return {{"bucket", rule.bucket}, {"prefix", rule.prefix}, {"rights", std::move(rights)}};
}

Result<Rule> rule_in(const json& value) {
  Rule rule{.bucket = value.at("bucket").get<std::string>(),
            .prefix = value.at("prefix").get<std::string>()};
  for (const json& name : value.at("rights")) {
    LEAT_TRY(const Right right, right_from(name.get<std::string>()));
    rule.rights.push_back(right);
  }
  return rule;
}

Result<Key> key_in(const json& value) {
  Key key{.id = value.at("id").get<std::string>(),
          .secret = value.at("secret").get<std::string>(),
          .name = value.at("name").get<std::string>(),
          .created_ms = value.at("created_ms").get<std::int64_t>()};
  if (value.contains("expires_ms")) key.expires_ms = value.at("expires_ms").get<std::int64_t>();
  for (const json& one : value.at("rules")) {
    LEAT_TRY(Rule rule, rule_in(one));
    key.rules.push_back(std::move(rule));
  }
  return key;
}

// Bytes that are no text are replaced, the same way each time.
std::string text_of(const json& document, int indent) {
  return document.dump(indent, ' ', false, json::error_handler_t::replace);
}

// Of what the file says, however it is laid out; the members stand in the order of their names.
std::string sum_of(const json& document) {
  return fmt::format("{:016x}", hash::crc64nvme(as_bytes(text_of(document, -1))));
}

// A flipped bit must not give a key another right. Files from before have no sum, nor need those
// that somebody wrote by hand. Throws as table_in() does.
Status check_sum(json& document) {
  const auto found = document.find(kSum);
  if (found == document.end()) return {};
  const auto said = found->get<std::string>();
  document.erase(found);
  if (said == sum_of(document)) return {};
  return fail(
      Errc::corrupt,
      "the file of keys is damaged: its checksum is another. Put a copy of it in its place; "
      "or take the line \"sum\" out if it was changed by hand");
}

// Throws json::exception where a member is missing or of another type.
Result<KeyTable> table_in(const json& document) {
  if (document.at("version").get<int>() != 1) {
    return fail(Errc::corrupt, "the file of keys is of a later version");
  }
  std::vector<Key> keys;
  for (const json& one : document.at("keys")) {
    LEAT_TRY(Key key, key_in(one));
    keys.push_back(std::move(key));
  }
  return KeyTable(document.at("seal").get<std::string>(), std::move(keys));
}

}  // namespace

std::string_view name_of(Right right) {
  switch (right) {
    case Right::read: return "read";
    case Right::write: return "write";
    case Right::list: return "list";
    case Right::admin: return "admin";
  }
  return "";
}

bool allows(const Key& who, Right right, std::string_view bucket, std::string_view key) {
  return std::ranges::any_of(who.rules, [&](const Rule& rule) {
    return is_of(rule, bucket) && key.starts_with(rule.prefix) &&
           std::ranges::find(rule.rights, right) != rule.rights.end();
  });
}

bool knows(const Key& who, std::string_view bucket) {
  return std::ranges::any_of(
      who.rules, [&](const Rule& rule) { return is_of(rule, bucket) && !rule.rights.empty(); });
}

KeyTable::KeyTable(std::string seal, std::vector<Key> keys) : seal_(std::move(seal)) {
  std::ranges::sort(keys, {}, &Key::id);
  for (Key& key : keys)
    keys_.push_back(std::make_shared<const Key>(std::move(key)));
}

std::shared_ptr<const Key> KeyTable::find(std::string_view id) const {
  const auto at = std::ranges::lower_bound(
      keys_, id, {}, [](const auto& key) { return std::string_view(key->id); });
  return at != keys_.end() && (*at)->id == id ? *at : nullptr;
}

std::string encode(const KeyTable& table) {
  json keys = json::array();
  for (const auto& key : table.all()) {
    json rules = json::array();
    for (const Rule& rule : key->rules)
      rules.push_back(describe(rule));
    json one = {{"id", key->id},
                {"secret", key->secret},
                {"name", key->name},
                {"created_ms", key->created_ms},
                {"rules", std::move(rules)}};
    if (key->expires_ms) one["expires_ms"] = *key->expires_ms;
    keys.push_back(std::move(one));
  }
  json document = {{"version", 1}, {"seal", table.seal()}, {"keys", std::move(keys)}};
  document[kSum] = sum_of(document);
  return text_of(document, 2) + "\n";
}

Result<KeyTable> decode(std::string_view text) {
  // The library says that a member is missing by throwing.
  try {
    json document = json::parse(text);
    LEAT_DO(check_sum(document));
    return table_in(document);
  } catch (const json::exception&) {
    return fail(Errc::corrupt, "the file of keys cannot be read; put a copy of it in its place");
  }
}

}  // namespace leat::keys
