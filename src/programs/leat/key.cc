#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "config/parse.h"
#include "http1/uri.h"
#include "io/clock.h"
#include "leat/arguments.h"
#include "leat/change.h"
#include "leat/columns.h"
#include "leat/json_text.h"
#include "leat/node_client.h"
#include "leat/say.h"
#include "leat/subcommands.h"
#include "leat/table.h"
#include "s3client/answers.h"

namespace leat::programs {
namespace {

using nlohmann::json;

constexpr std::array kSwitches = {
    Switch{"--json", "JSON on stdout."},
    kDrySwitch,
};

constexpr std::array kRightFlags = {
    ValueFlag{"--read", "WHERE", "Reading objects: BUCKET, BUCKET/PREFIX or *. May be repeated."},
    ValueFlag{"--write", "WHERE", "Making, replacing and removing objects."},
    ValueFlag{"--list", "WHERE", "Names of objects."},
    ValueFlag{"--admin", "BUCKET",
              "Making, configuring and removing buckets; making objects public."},
    ValueFlag{"--expires", "TIME", "From now on, such as 90d; without it the key stays good."},
};

constexpr std::string_view kEpilogue =
    "  leat key create alice --read imagenet --list imagenet --write ckpt/alice/ --expires 90d\n"
    "  leat key list\n"
    "  leat key revoke ID       it is good nowhere once this returns\n"
    "\n"
    "BUCKET may end in *, for all whose names begin so. The secret is shown once. All of these "
    "need\n"
    "the operators' token: --token-file DIR/admin-token. The node is the one at --listen or\n"
    "--endpoint, else the one that LEAT_ENDPOINT, a profile or `leat env` names.";

constexpr std::string_view kKeys = "/_/v1/keys";

// "bucket/prefix" as a rule with one right.
json rule_of(std::string_view flag, const std::string& where) {
  const std::size_t slash = std::min(where.find('/'), where.size());
  return {{"bucket", where.substr(0, slash)},
          {"prefix", where.substr(std::min(slash + 1, where.size()))},
          {"rights", {std::string(flag.substr(2))}}};
}

std::int64_t now_ms() {
  const auto now = io::RealClock().wall_now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Result<json> wanted_key(const Arguments& arguments) {
  json rules = json::array();
  json wanted = {{"name", arguments.positionals[1]}};
  for (const ValueFlag& right : kRightFlags) {
    const auto given = arguments.values.find(right.flag);
    if (given == arguments.values.end()) continue;
    if (right.flag == "--expires") {
      LEAT_TRY(const Duration time, config::parse_duration(given->second.back()));
      wanted["expires_ms"] =
          now_ms() + std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
      continue;
    }
    for (const std::string& where : given->second)
      rules.push_back(rule_of(right.flag, where));
  }
  if (rules.empty()) {
    return fail(Errc::bad_request,
                "a key may do nothing without --read, --write, --list or --admin");
  }
  wanted["rules"] = std::move(rules);
  return wanted;
}

std::string summary_of(const json& key) {
  std::string text;
  for (const json& rule : key.value("rules", json::array())) {
    for (const json& right : rule.value("rights", json::array())) {
      text += fmt::format("{}{}:{}/{}", text.empty() ? "" : " ", right.get<std::string>(),
                          rule.value("bucket", ""), rule.value("prefix", ""));
    }
  }
  return text;
}

Result<json> keys_of(const NodeAddress& node) {
  LEAT_TRY(const std::string answer,
           ask_node(node, {.method = "GET", .target = std::string(kKeys)}));
  json document = json::parse(answer, nullptr, false);
  if (!document.is_object()) return fail(Errc::io, "the node's answer is no JSON object");
  return document;
}

Status create(const NodeAddress& node, const Arguments& arguments) {
  LEAT_TRY(const json wanted, wanted_key(arguments));
  if (arguments.has("--dry-run")) {
    LEAT_DO(keys_of(node));  // who may see them may make one
    const std::string& name = arguments.positionals[1];
    tell(arguments, {.type = "key",
                     .action = "create",
                     .name = name,
                     .shown = fmt::format("a key {} for {}", name, summary_of(wanted)),
                     .more = wanted});
    return {};
  }
  LEAT_TRY(const std::string answer,
           ask_node(node, {.method = "POST", .target = std::string(kKeys), .body = wanted.dump()}));
  if (arguments.has("--json")) {
    say("{}", answer);
    return {};
  }
  const json made = json::parse(answer, nullptr, false);
  if (!made.is_object()) return fail(Errc::io, "the node's answer is no JSON object");
  say("export AWS_ACCESS_KEY_ID={}\nexport AWS_SECRET_ACCESS_KEY={}\n", made.value("id", ""),
      made.value("secret", ""));
  return {};
}

// For people the time that is left; a program gets the time itself.
std::string expiry_of(const json& key, bool is_terminal) {
  if (!key.contains("expires_ms")) return "never";
  const std::int64_t at = key.value("expires_ms", std::int64_t{0});
  if (!is_terminal) return s3client::iso_time(WallTime(std::chrono::milliseconds(at)));
  const std::int64_t left = at - now_ms();
  return left <= 0 ? "past" : fmt::format("{} h", left / 3'600'000);
}

Status list(const NodeAddress& node, const Invocation& invocation, const Arguments& arguments) {
  LEAT_TRY(const json document, keys_of(node));
  if (arguments.has("--json")) {
    say("{}\n", json_text(document));
    return {};
  }
  constexpr std::array kColumns = {Column{"ID"}, Column{"NAME"}, Column{"EXPIRES"}, Column{"MAY"}};
  std::vector<std::vector<std::string>> rows;
  for (const json& key : document.value("keys", json::array())) {
    rows.push_back({key.value("id", ""), key.value("name", ""),
                    expiry_of(key, invocation.stdout_is_terminal), summary_of(key)});
  }
  say("{}", columns_text(kColumns, rows, invocation.stdout_is_terminal));
  return {};
}

Status check_key(const NodeAddress& node, const std::string& id) {
  LEAT_TRY(const json document, keys_of(node));
  for (const json& key : document.value("keys", json::array())) {
    if (key.value("id", "") == id) return {};
  }
  return fail(Errc::not_found, fmt::format("there is no key {}; `leat key list` has them", id));
}

Status revoke(const NodeAddress& node, const Arguments& arguments) {
  const std::string& id = arguments.positionals[1];
  if (arguments.has("--dry-run")) {
    LEAT_DO(check_key(node, id));
  } else {
    const std::string target =
        fmt::format("{}/{}", kKeys, http1::percent_encode(id, http1::Slash::encode));
    LEAT_DO(ask_node(node, {.method = "DELETE", .target = target}));
  }
  tell(arguments,
       {.type = "key", .action = "revoke", .name = id, .done = fmt::format("{} is revoked", id)});
  return {};
}

Status run(const Invocation& invocation, const Arguments& arguments) {
  LEAT_TRY(const NodeAddress node, find_node(invocation, arguments));
  const std::string& verb = arguments.positionals.front();
  const std::size_t words = arguments.positionals.size();
  if (verb == "create" && words == 2) return create(node, arguments);
  const auto is_given = [&arguments](const ValueFlag& right) {
    return arguments.values.contains(right.flag);
  };
  if (std::ranges::any_of(kRightFlags, is_given)) {
    return fail(Errc::bad_request, "rights are given when a key is made: leat key create NAME");
  }
  if (verb == "list" && words == 1) return list(node, invocation, arguments);
  if (verb == "revoke" && words == 2) return revoke(node, arguments);
  return fail(Errc::bad_request, "leat key create NAME, leat key list or leat key revoke ID");
}

}  // namespace

Exit run_key(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("key"),
                        .positional = "create|list|revoke",
                        .positionals_min = 1,
                        .positionals_max = 2,
                        .switches = kSwitches,
                        .value_flags = kRightFlags,
                        .takes_settings = true,
                        .asks_node = true,
                        .epilogue = kEpilogue};
  return run_parsed(grammar, invocation, run);
}

}  // namespace leat::programs
