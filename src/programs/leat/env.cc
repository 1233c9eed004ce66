#include <fmt/format.h>

#include <algorithm>

#include "keys/key.h"
#include "leat/arguments.h"
#include "leat/running_nodes.h"
#include "leat/say.h"
#include "leat/settings.h"
#include "leat/shell_text.h"
#include "leat/subcommands.h"
#include "leat/table.h"

namespace leat::programs {
namespace {

constexpr std::string_view kEpilogue =
    "  eval \"$(leat env)\"       leat, aws and boto3 then work with the node that you started "
    "here\n"
    "  eval \"$(leat env DIR)\"   the one on DIR, if there are several\n"
    "\n"
    "The key is the first one that never expires and may read, write and list everything; who may\n"
    "read DIR/keys.json has it anyway. Clients before 2023, such as Debian 12's, do not know\n"
    "AWS_ENDPOINT_URL: give them --endpoint-url. Where the node listens is in DIR/node.json while "
    "it\n"
    "runs; --listen names another address of it.";

// Where a node with these settings would be.
NodeFile described_node(const Invocation& invocation, const config::Config& settings,
                        const std::string& directory) {
  const std::string& tls = settings.text("tls");
  NodeFile node{
      .url = fmt::format("{}://{}", tls == "off" ? "http" : "https", settings.text("listen")),
      .region = settings.text("s3.region")};
  // A certificate of the node's own is known to nobody unless he is told.
  if (tls == "auto") node.ca_file = absolute_path(invocation, directory + "/tls.pem");
  if (tls == "files") node.ca_file = absolute_path(invocation, settings.text("tls_cert"));
  return node;
}

// The node that runs on the directory, unless --listen names another address of it.
Result<NodeFile> find_node(const Invocation& invocation, const Arguments& arguments,
                           const std::string& directory) {
  LEAT_TRY(const auto settings, load_settings(invocation, arguments.settings));
  const auto is_listen = [](const auto& flag) { return flag.first == "listen"; };
  if (!std::ranges::any_of(arguments.settings, is_listen)) {
    io::PosixDisk disk;
    LEAT_TRY(auto running, running_node(disk, directory));
    if (running) return std::move(*running);
    fmt::print(stderr, "leat: no node runs on {}; `leat serve {}` starts one\n", directory,
               shell_text(directory));
  }
  return described_node(invocation, settings, directory);
}

bool may_everything(const keys::Key& key) {
  using keys::Right;
  return allows(key, Right::read, "", "") && allows(key, Right::write, "", "") &&
         allows(key, Right::list, "", "");
}

Result<std::string> keys_text(const std::string& directory) {
  auto text = read_text(directory + "/keys.json");
  if (text || text.error().code() != Errc::not_found) return text;
  return fail(Errc::not_found,
              fmt::format("no node was started on {} yet: `leat serve {}` does that", directory,
                          shell_text(directory)));
}

// The one that was given, or that the only node of this user is on.
Result<std::string> directory_of(const Invocation& invocation, const Arguments& arguments) {
  if (!arguments.positionals.empty()) return arguments.positionals.front();
  io::PosixDisk disk;
  LEAT_TRY(RunningNode node, only_running_node(disk, state_folder(invocation), "leat env"));
  return std::move(node.directory);
}

Status print_env(const Invocation& invocation, const Arguments& arguments) {
  LEAT_TRY(const std::string directory, directory_of(invocation, arguments));
  LEAT_TRY(const std::string text, keys_text(directory));
  LEAT_TRY(const keys::KeyTable table, keys::decode(text));
  const auto& all = table.all();
  const auto key = std::ranges::find_if(
      all, [](const auto& one) { return !one->expires_ms && may_everything(*one); });
  if (key == all.end()) {
    return fail(Errc::not_found, "no access key that may do everything; leat key create makes one");
  }
  LEAT_TRY(const NodeFile node, find_node(invocation, arguments, directory));
  say("export AWS_ACCESS_KEY_ID={}\n", shell_text((*key)->id));
  say("export AWS_SECRET_ACCESS_KEY={}\n", shell_text((*key)->secret));
  const std::string region = shell_text(node.region);
  say("export AWS_REGION={0}\nexport AWS_DEFAULT_REGION={0}\n", region);
  const std::string url = shell_text(node.url);
  say("export AWS_ENDPOINT_URL={0}\nexport AWS_ENDPOINT_URL_S3={0}\n", url);
  if (!node.ca_file.empty()) say("export AWS_CA_BUNDLE={}\n", shell_text(node.ca_file));
  say("# leat ls; aws --endpoint-url {} s3 ls\n", url);
  return {};
}

}  // namespace

Exit run_env(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("env"),
                        .positional = "DIR",
                        .positionals_max = 1,
                        .takes_settings = true,
                        .epilogue = kEpilogue};
  return run_parsed(grammar, invocation, print_env);
}

}  // namespace leat::programs
