#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "leat/arguments.h"
#include "leat/columns.h"
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

void print_table(const std::vector<config::Entry>& entries, bool is_terminal) {
  constexpr std::array kColumns = {Column{""}, Column{""}, Column{""}};
  std::vector<std::vector<std::string>> rows;
  for (const config::Entry& entry : entries)
    rows.push_back({entry.key, entry.value, entry.origin});
  say("{}", columns_text(kColumns, rows, is_terminal));
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
