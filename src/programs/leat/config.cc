#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "leat/arguments.h"
#include "leat/say.h"
#include "leat/settings.h"
#include "leat/subcommands.h"
#include "leat/table.h"

namespace leat::programs {
namespace {

constexpr std::array kSwitches = {Switch{"--json", "One JSON document instead of a table."}};

constexpr std::string_view kEpilogue =
    "Shows every setting, its effective value and where it came from:\n"
    "built-in default < leat.toml < LEAT_* environment < flag.";

void print_table(const std::vector<config::Entry>& entries, bool aligned) {
  std::size_t key_width = 0;
  std::size_t value_width = 0;
  for (const config::Entry& entry : entries) {
    key_width = std::max(key_width, entry.key.size());
    value_width = std::max(value_width, entry.value.size());
  }
  for (const config::Entry& entry : entries) {
    if (aligned) {
      say("{:<{}}  {:<{}}  {}\n", entry.key, key_width, entry.value, value_width, entry.origin);
    } else {
      say("{}\t{}\t{}\n", entry.key, entry.value, entry.origin);
    }
  }
}

Status show(const Invocation& invocation, const Arguments& arguments) {
  if (arguments.positionals.front() != "show") {
    return fail(Errc::bad_request, fmt::format("unknown word {}; did you mean `leat config show`?",
                                               arguments.positionals.front()));
  }
  LEAT_TRY(const auto settings, load_settings(invocation, arguments.settings));
  if (!arguments.has("--json")) {
    print_table(settings.entries(), invocation.stdout_is_terminal);
    return {};
  }
  nlohmann::json document = nlohmann::json::array();
  for (const config::Entry& entry : settings.entries()) {
    document.push_back({{"key", entry.key}, {"value", entry.value}, {"origin", entry.origin}});
  }
  say("{}\n", document.dump(2));
  return {};
}

}  // namespace

Exit run_config(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("config"),
                        .positional = "show",
                        .positionals_min = 1,
                        .positionals_max = 1,
                        .switches = kSwitches,
                        .takes_settings = true,
                        .epilogue = kEpilogue};
  return run_parsed(grammar, invocation, show);
}

}  // namespace leat::programs
