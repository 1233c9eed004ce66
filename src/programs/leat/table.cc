#include "leat/table.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "leat/subcommands.h"
#include "leat/version.h"

namespace leat::programs {
namespace {

constexpr std::array kCommands = {
    Command{"put", "FILE|DIR|-… BUCKET[/KEY] [flags]",
            "Pack a folder into a dataset; send files or stdin.", run_put},
    Command{"get", "BUCKET/KEY… [FILE|DIR|-] [flags]", "Fetch objects, or all below a prefix.",
            run_get},
    Command{"cat", "BUCKET/KEY… [flags]", "Write objects to stdout.", run_cat},
    Command{"ls", "[BUCKET[/PREFIX]] [flags]", "List buckets or objects.", run_ls},
    Command{"stat", "BUCKET[/KEY]… [flags]", "Show what is known about an object.", run_stat},
    Command{"du", "[BUCKET[/PREFIX]…] [flags]", "Count objects and bytes.", run_du},
    Command{"cp", "SOURCE… TARGET [flags]", "Copy between files and objects.", run_cp},
    Command{"mv", "SOURCE… TARGET [flags]", "Copy, then remove the source.", run_mv},
    Command{"sync", "SOURCE TARGET [--delete] [flags]", "Make one tree like another.", run_sync},
    Command{"rm", "BUCKET/KEY… [-r] [flags]", "Remove objects.", run_rm},
    Command{"mb", "BUCKET… [flags]", "Make buckets.", run_mb},
    Command{"rb", "BUCKET… [--force] [flags]", "Remove buckets.", run_rb},
    Command{"bucket", "show|set|unset BUCKET [NAME[=VALUE]…]",
            "Show and set the properties of a bucket.", run_bucket},
    Command{"dataset", "VERB BUCKET/NAME[@REF] [flags]",
            "Pack, list, compare and fetch datasets and their versions.", run_dataset},
    Command{"serve", "DIR… [flags]", "Start a store on one or more directories.", run_serve},
    Command{"top", "[--interval TIME] [--count N] [flags]", "Watch what a node does.", run_top},
    Command{"disk", "list|add DIR|remove DIR|ID [flags]",
            "See, add and remove the disks of a node that runs.", run_disk},
    Command{"key", "create NAME|list|revoke ID [flags]",
            "Make, see and revoke the access keys of a node that runs.", run_key},
    Command{"env", "[DIR] [flags]", "Print the variables that S3 clients need, for a shell.",
            run_env},
    Command{"fsck", "DIR… [--rebuild] [--json]", "Check data directories, and mend what they lost.",
            run_fsck},
    Command{"share", "DIR [--writable] [flags]", "Serve a folder of files over HTTP.", run_share},
    Command{"config", "show [--json] [flags]", "Show the effective settings and their origin.",
            run_config},
    Command{"completion", "bash|zsh|fish", "Print the completion script of a shell.",
            run_completion},
    Command{"version", "[--json]", "Say which version this is.", run_version},
    Command{"help", "[COMMAND]", "Show this, or the help of one command.", run_help},
    Command{"__complete", "-- WORD…", "What may come next, for completion scripts.", run_complete},
    Command{"__man", "", "The man page.", run_man},
};

constexpr std::array kVersionSwitches = {Switch{"--json", "As JSON."}};

Status show_version(const Invocation&, const Arguments& arguments) {
  if (arguments.has("--json")) {
    fmt::print("{}\n", nlohmann::json{{"name", "leat"}, {"version", kVersion}}.dump());
  } else {
    fmt::print("leat {}\n", kVersion);
  }
  return {};
}

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

const Command& find_command(std::string_view name) {
  for (const Command& command : kCommands) {
    if (command.name == name) return command;
  }
  LEAT_CHECK(false);
}

std::optional<Exit> answer_early(const Grammar& grammar, const Invocation& invocation,
                                 const Result<Arguments>& arguments) {
  if (!arguments) {
    return complain_usage(arguments.error().detail(),
                          fmt::format("leat {} {}", grammar.command.name, grammar.command.usage));
  }
  if (arguments->help.empty()) return std::nullopt;
  if (invocation.help != nullptr) {
    *invocation.help = arguments->help;
  } else {
    fmt::print("{}", arguments->help);
  }
  return Exit::done;
}

Exit run_parsed(const Grammar& grammar, const Invocation& invocation,
                Status (*body)(const Invocation&, const Arguments&)) {
  const auto arguments = parse_arguments(grammar, invocation.words);
  if (const auto done = answer_early(grammar, invocation, arguments)) return *done;
  const Status outcome = body(invocation, *arguments);
  return outcome ? Exit::done : complain(outcome.error());
}

std::string absolute_path(const Invocation& invocation, const std::string& path) {
  if (path.starts_with('/') || invocation.working_directory.empty()) return path;
  std::string_view rest = path;
  while (rest.starts_with("./"))
    rest.remove_prefix(2);
  return fmt::format("{}/{}", invocation.working_directory, rest);
}

std::string state_folder(const Invocation& invocation) {
  const std::string state = invocation.variable("XDG_STATE_HOME");
  if (!state.empty()) return state + "/leat";
  const std::string home = invocation.variable("HOME");
  return home.empty() ? "" : home + "/.local/state/leat";
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  const int decimals = unit == 0 || value >= 100 ? 0 : 1;
  return fmt::format("{:.{}f} {}", value, decimals, kUnits[unit]);
}

Exit run_version(const Invocation& invocation) {
  const Grammar grammar{
      .command = find_command("version"), .positional = {}, .switches = kVersionSwitches};
  return run_parsed(grammar, invocation, show_version);
}

Exit run_help(const Invocation& invocation) {
  if (!invocation.words.empty()) {
    for (const Command& command : kCommands) {
      if (command.name != invocation.words.front() || command.name == "help") continue;
      Invocation asking = invocation;
      asking.words = {"--help"};
      return command.run(asking);
    }
  }
  fmt::print("leat {}: storage that feeds training jobs\n\nusage: leat COMMAND …\n\n", kVersion);
  for (const Command& command : kCommands) {
    if (command.is_hidden()) continue;
    // A group begins with these: data, the node, the rest.
    if (command.name == "serve" || command.name == "config") fmt::print("\n");
    fmt::print("  {:<12}{}\n", command.name, command.summary);
  }
  fmt::print("\n`leat COMMAND --help` tells more. Exit codes: docs/reference/exit-codes.md.\n");
  return Exit::done;
}

}  // namespace leat::programs
