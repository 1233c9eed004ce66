#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "config/parse.h"
#include "http1/uri.h"
#include "io/clock.h"
#include "leat/arguments.h"
#include "leat/node_client.h"
#include "leat/say.h"
#include "leat/settings.h"
#include "leat/subcommands.h"
#include "leat/table.h"

namespace leat::programs {
namespace {

using nlohmann::json;

constexpr std::array kSwitches = {
    Switch{"--json", "The node's answer as it is."},
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
    "the operators' token: --token-file DIR/admin-token.";

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
  for (const auto& [flag, values] : arguments.values) {
    if (flag == "--expires") {
      LEAT_TRY(const Duration time, config::parse_duration(values.back()));
      wanted["expires_ms"] =
          now_ms() + std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
      continue;
    }
    for (const std::string& where : values)
      rules.push_back(rule_of(flag, where));
  }
  if (rules.empty()) {
    return fail(Errc::bad_request,
                "a key may do nothing without --read, --write, --list or --admin");
  }
  wanted["rules"] = std::move(rules);
  return wanted;
}

Status create(const config::Config& settings, const Arguments& arguments) {
  LEAT_TRY(const json wanted, wanted_key(arguments));
  LEAT_TRY(
      const std::string answer,
      ask_node(settings, {.method = "POST", .target = std::string(kKeys), .body = wanted.dump()}));
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

Status list(const config::Config& settings, bool as_json) {
  LEAT_TRY(const std::string answer,
           ask_node(settings, {.method = "GET", .target = std::string(kKeys)}));
  const json document = json::parse(answer, nullptr, false);
  if (as_json || !document.is_object()) {
    say("{}", answer);
    return {};
  }
  say("{:22}{:16}{:9}  {}\n", "ID", "NAME", "EXPIRES", "MAY");
  const json keys = document.value("keys", json::array());
  for (const json& key : keys) {
    std::string expires = "never";
    if (key.contains("expires_ms")) {
      const std::int64_t left = key.value("expires_ms", std::int64_t{0}) - now_ms();
      expires = left <= 0 ? "past" : fmt::format("{} h", left / 3'600'000);
    }
    say("{:22}{:16}{:9}  {}\n", key.value("id", ""), key.value("name", ""), expires,
        summary_of(key));
  }
  return {};
}

Status revoke(const config::Config& settings, const std::string& id) {
  const std::string target =
      fmt::format("{}/{}", kKeys, http1::percent_encode(id, http1::Slash::encode));
  LEAT_DO(ask_node(settings, {.method = "DELETE", .target = target}));
  say("{} is revoked\n", id);
  return {};
}

Status run(const Invocation& invocation, const Arguments& arguments) {
  LEAT_TRY(const auto settings, load_settings(invocation, arguments.settings));
  const std::string& verb = arguments.positionals.front();
  const std::size_t words = arguments.positionals.size();
  if (verb == "create" && words == 2) return create(settings, arguments);
  if (!arguments.values.empty()) {
    return fail(Errc::bad_request, "rights are given when a key is made: leat key create NAME");
  }
  if (verb == "list" && words == 1) return list(settings, arguments.has("--json"));
  if (verb == "revoke" && words == 2) return revoke(settings, arguments.positionals[1]);
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
                        .epilogue = kEpilogue};
  return run_parsed(grammar, invocation, run);
}

}  // namespace leat::programs
