#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "http1/uri.h"
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

constexpr std::string_view kEpilogue =
    "  leat disk list           the disks of the node at --listen, and how they are\n"
    "  leat disk add DIR        brings a disk in: a new one, or one that was here before\n"
    "  leat disk remove DIR|ID  takes one out; its directory can be unmounted after that\n"
    "\n"
    "The objects of a disk that is out are not found until it is back. Adding and removing need\n"
    "the token: --token-file DIR/admin-token. What reads from a disk that is removed may finish\n"
    "for 30 s.";

constexpr std::string_view kDisks = "/_/v1/disks";

void print_disks(const std::string& answer) {
  const json document = json::parse(answer, nullptr, false);
  if (!document.is_object()) return;
  say("{:34}{:8}{:>10}{:>10}  {}\n", "ID", "STATE", "SIZE", "FREE", "DIRECTORY");
  for (const json& disk : document.value("disks", json::array())) {
    say("{:34}{:8}{:>10}{:>10}  {}\n", disk.value("id", ""), disk.value("state", ""),
        human_bytes(disk.value("total_bytes", std::uint64_t{0})),
        human_bytes(disk.value("available_bytes", std::uint64_t{0})), disk.value("path", ""));
    const std::string error = disk.value("error", "");
    if (!error.empty()) say("  {}\n", error);
  }
}

Status list(const config::Config& settings, bool as_json) {
  LEAT_TRY(const std::string answer,
           ask_node(settings, {.method = "GET", .target = std::string(kDisks)}));
  if (as_json) {
    say("{}", answer);
  } else {
    print_disks(answer);
  }
  return {};
}

// The node has its own working directory.
std::string absolute(const Invocation& invocation, const std::string& directory) {
  const auto here = invocation.environment.find("PWD");
  if (directory.starts_with('/') || here == invocation.environment.end()) return directory;
  return here->second + '/' + directory;
}

Status add(const config::Config& settings, const std::string& path, bool as_json) {
  LEAT_TRY(const std::string answer, ask_node(settings, {.method = "POST",
                                                         .target = std::string(kDisks),
                                                         .body = json{{"path", path}}.dump()}));
  if (as_json) {
    say("{}", answer);
    return {};
  }
  say("{} is in service\n", path);
  const json document = json::parse(answer, nullptr, false);
  const auto doubles = document.is_object() ? document.value("doubles", std::uint64_t{0}) : 0;
  if (doubles > 0) {
    say("  {} keys were on another disk, too; of each the newer version stays\n", doubles);
  }
  return {};
}

Status remove(const config::Config& settings, const std::string& name) {
  const std::string target =
      fmt::format("{}/{}", kDisks, http1::percent_encode(name, http1::Slash::encode));
  LEAT_DO(ask_node(settings, {.method = "DELETE", .target = target}));
  say("{} is out of service\n", name);
  return {};
}

Status run(const Invocation& invocation, const Arguments& arguments) {
  LEAT_TRY(const auto settings, load_settings(invocation, arguments.settings));
  const std::string& verb = arguments.positionals.front();
  const bool as_json = arguments.has("--json");
  const std::size_t words = arguments.positionals.size();
  if (verb == "list" && words == 1) return list(settings, as_json);
  if (verb == "add" && words == 2) {
    return add(settings, absolute(invocation, arguments.positionals[1]), as_json);
  }
  if (verb == "remove" && words == 2) return remove(settings, arguments.positionals[1]);
  return fail(Errc::bad_request, "leat disk list, leat disk add DIR or leat disk remove DIR|ID");
}

}  // namespace

Exit run_disk(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("disk"),
                        .positional = "list|add|remove",
                        .positionals_min = 1,
                        .positionals_max = 2,
                        .switches = kSwitches,
                        .takes_settings = true,
                        .epilogue = kEpilogue};
  return run_parsed(grammar, invocation, run);
}

}  // namespace leat::programs
