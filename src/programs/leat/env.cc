#include <fmt/format.h>

#include <algorithm>

#include "keys/key.h"
#include "leat/arguments.h"
#include "leat/say.h"
#include "leat/settings.h"
#include "leat/subcommands.h"
#include "leat/table.h"

namespace leat::programs {
namespace {

constexpr std::string_view kEpilogue =
    "  eval \"$(leat env DIR)\"   leat, aws and boto3 then work with the node on DIR\n"
    "\n"
    "The key is the first one that never expires and may read, write and list everything; who may\n"
    "read DIR/keys.json has it anyway. Clients before 2023, such as Debian 12's, do not know\n"
    "AWS_ENDPOINT_URL: give them --endpoint-url.";

std::string url_of(const config::Config& settings) {
  const std::string scheme = settings.text("tls") == "off" ? "http" : "https";
  return fmt::format("{}://{}", scheme, settings.text("listen"));
}

// A shell may change its directory afterwards.
std::string absolute(const Invocation& invocation, const std::string& path) {
  const auto here = invocation.environment.find("PWD");
  if (path.starts_with('/') || here == invocation.environment.end()) return path;
  return here->second + '/' + path;
}

bool may_everything(const keys::Key& key) {
  using keys::Right;
  return allows(key, Right::read, "", "") && allows(key, Right::write, "", "") &&
         allows(key, Right::list, "", "");
}

Status print_env(const Invocation& invocation, const Arguments& arguments) {
  LEAT_TRY(const auto settings, load_settings(invocation, arguments.settings));
  LEAT_TRY(const std::string text, read_text(arguments.positionals.front() + "/keys.json"));
  LEAT_TRY(const keys::KeyTable table, keys::decode(text));
  const auto& all = table.all();
  const auto key = std::ranges::find_if(
      all, [](const auto& one) { return !one->expires_ms && may_everything(*one); });
  if (key == all.end()) {
    return fail(Errc::not_found, "no access key that may do everything; leat key create makes one");
  }
  const std::string url = url_of(settings);
  say("export AWS_ACCESS_KEY_ID={}\n", (*key)->id);
  say("export AWS_SECRET_ACCESS_KEY={}\n", (*key)->secret);
  say("export AWS_REGION={0}\nexport AWS_DEFAULT_REGION={0}\n", settings.text("s3.region"));
  say("export AWS_ENDPOINT_URL={}\nexport AWS_ENDPOINT_URL_S3={}\n", url, url);
  // A certificate of the node's own is known to nobody unless he is told.
  const std::string& tls = settings.text("tls");
  if (tls == "auto") {
    say("export AWS_CA_BUNDLE={}/tls.pem\n", absolute(invocation, arguments.positionals.front()));
  } else if (tls == "files") {
    say("export AWS_CA_BUNDLE={}\n", absolute(invocation, settings.text("tls_cert")));
  }
  say("# leat ls; aws --endpoint-url {} s3 ls\n", url);
  return {};
}

}  // namespace

Exit run_env(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("env"),
                        .positional = "DIR",
                        .positionals_min = 1,
                        .positionals_max = 1,
                        .takes_settings = true,
                        .epilogue = kEpilogue};
  return run_parsed(grammar, invocation, print_env);
}

}  // namespace leat::programs
