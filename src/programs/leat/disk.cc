#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "http1/uri.h"
#include "leat/arguments.h"
#include "leat/change.h"
#include "leat/columns.h"
#include "leat/json_text.h"
#include "leat/node_client.h"
#include "leat/say.h"
#include "leat/subcommands.h"
#include "leat/table.h"

namespace leat::programs {
namespace {

using nlohmann::json;

constexpr std::array kSwitches = {
    Switch{"--json", "JSON on stdout."},
    kDrySwitch,
};

constexpr std::string_view kEpilogue =
    "  leat disk list           the disks of the node, and how they are\n"
    "  leat disk add DIR        brings a disk in: a new one, or one that was here before\n"
    "  leat disk remove DIR|ID  takes one out; its directory can be unmounted after that\n"
    "\n"
    "The objects of a disk that is out are not found until it is back. Adding and removing need\n"
    "the token: --token-file DIR/admin-token. What reads from a disk that is removed may finish\n"
    "for 30 s. The node is the one at --listen or --endpoint, else the one that LEAT_ENDPOINT, a\n"
    "profile or `leat env` names.";

constexpr std::string_view kDisks = "/_/v1/disks";

// The longest list of damaged objects that people want to read; --json has all.
constexpr std::size_t kShownMax = 20;

void print_health(const json& disk) {
  const json scrub = disk.value("scrub", json::object());
  const auto objects = scrub.value("objects", std::uint64_t{0});
  const bool is_running = scrub.value("is_running", false);
  if (is_running || objects > 0) {
    say("  {}: {} objects, {}, {} damaged\n", is_running ? "scrub under way" : "last scrub",
        objects, human_bytes(scrub.value("bytes", std::uint64_t{0})),
        scrub.value("damaged", std::uint64_t{0}));
  }
  const json damaged = disk.value("damaged", json::array());
  for (std::size_t i = 0; i < std::min(damaged.size(), kShownMax); ++i)
    say("  damaged: {}\n", damaged[i].get<std::string>());
  if (damaged.size() > kShownMax) say("  … and {} more\n", damaged.size() - kShownMax);
}

Result<json> disks_of(const NodeAddress& node) {
  LEAT_TRY(const std::string answer,
           ask_node(node, {.method = "GET", .target = std::string(kDisks)}));
  json document = json::parse(answer, nullptr, false);
  if (!document.is_object()) return fail(Errc::io, "the node's answer is no JSON object");
  return document;
}

Status list(const NodeAddress& node, const Invocation& invocation, const Arguments& arguments) {
  LEAT_TRY(const json document, disks_of(node));
  if (arguments.has("--json")) {
    say("{}\n", json_text(document));
    return {};
  }
  constexpr std::array kColumns = {Column{"ID"},         Column{"STATE"},     Column{"SIZE", true},
                                   Column{"FREE", true}, Column{"DIRECTORY"}, Column{"ERROR"}};
  const bool is_terminal = invocation.stdout_is_terminal;
  const auto size = [is_terminal](const json& disk, const char* name) {
    const auto bytes = disk.value(name, std::uint64_t{0});
    return is_terminal ? human_bytes(bytes) : fmt::to_string(bytes);
  };
  std::vector<std::vector<std::string>> rows;
  for (const json& disk : document.value("disks", json::array())) {
    rows.push_back({disk.value("id", ""), disk.value("state", ""), size(disk, "total_bytes"),
                    size(disk, "available_bytes"), disk.value("path", ""),
                    disk.value("error", "")});
  }
  say("{}", columns_text(kColumns, rows, is_terminal));
  for (const json& disk : document.value("disks", json::array()))
    if (is_terminal) print_health(disk);
  return {};
}

// Whether the node has a disk with this directory or id.
Result<bool> has_disk(const NodeAddress& node, const std::string& name) {
  LEAT_TRY(const json document, disks_of(node));
  const json disks = document.value("disks", json::array());
  return std::ranges::any_of(disks, [&name](const json& disk) {
    return disk.value("path", "") == name || disk.value("id", "") == name;
  });
}

Status add(const NodeAddress& node, const std::string& path, const Arguments& arguments) {
  Change change{.type = "disk", .action = "add", .name = path};
  change.done = fmt::format("{} is in service", path);
  if (arguments.has("--dry-run")) {
    LEAT_TRY(const bool is_there, has_disk(node, path));
    if (is_there) return fail(Errc::conflict, fmt::format("{} is in service already", path));
    tell(arguments, change);
    return {};
  }
  LEAT_TRY(const std::string answer, ask_node(node, {.method = "POST",
                                                     .target = std::string(kDisks),
                                                     .body = json{{"path", path}}.dump()}));
  const json document = json::parse(answer, nullptr, false);
  if (document.is_object()) change.more = document;
  tell(arguments, change);
  const auto doubles = document.is_object() ? document.value("doubles", std::uint64_t{0}) : 0;
  if (doubles > 0 && !arguments.has("--json")) {
    fmt::print(stderr, "  {} keys were on another disk, too; of each the newer version stays\n",
               doubles);
  }
  return {};
}

Status remove(const NodeAddress& node, const Arguments& arguments) {
  const std::string& name = arguments.positionals[1];
  if (arguments.has("--dry-run")) {
    LEAT_TRY(const bool is_there, has_disk(node, name));
    if (!is_there) {
      return fail(Errc::not_found,
                  fmt::format("there is no disk {}; `leat disk list` has them", name));
    }
  } else {
    const std::string target =
        fmt::format("{}/{}", kDisks, http1::percent_encode(name, http1::Slash::encode));
    LEAT_DO(ask_node(node, {.method = "DELETE", .target = target}));
  }
  tell(arguments, {.type = "disk",
                   .action = "remove",
                   .name = name,
                   .done = fmt::format("{} is out of service", name)});
  return {};
}

Status run(const Invocation& invocation, const Arguments& arguments) {
  LEAT_TRY(const NodeAddress node, find_node(invocation, arguments));
  const std::string& verb = arguments.positionals.front();
  const std::size_t words = arguments.positionals.size();
  if (verb == "list" && words == 1) return list(node, invocation, arguments);
  if (verb == "add" && words == 2) {
    // The node has its own working directory.
    return add(node, absolute_path(invocation, arguments.positionals[1]), arguments);
  }
  if (verb == "remove" && words == 2) return remove(node, arguments);
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
                        .asks_node = true,
                        .epilogue = kEpilogue};
  return run_parsed(grammar, invocation, run);
}

}  // namespace leat::programs
