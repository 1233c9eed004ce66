#include "leat/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "config/nearest.h"

namespace leat::programs {
namespace {

// "unknown flag --listn; did you mean --listen?"
std::string unknown_flag(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string flag = word.substr(0, word.find('='));
  const auto near = config::nearest(flag, candidates);
  if (near) return fmt::format("unknown flag {}; did you mean {}?", flag, *near);
  return fmt::format("unknown flag {}; see --help", flag);
}

std::string describe(const CLI::App& app, const CLI::ParseError& error,
                     const std::vector<std::string>& words) {
  if (error.get_name() == "ExtrasError") {
    for (const std::string& word : app.remaining()) {
      if (word.starts_with("-")) return unknown_flag(app, word);
    }
    const std::string last = words.empty() ? "" : app.remaining().front();
    return fmt::format("unexpected argument {}", last);
  }
  return error.what();
}

}  // namespace

Result<Arguments> parse_arguments(const Grammar& grammar, const std::vector<std::string>& words) {
  CLI::App app(std::string(grammar.command.summary), fmt::format("leat {}", grammar.command.name));
  app.footer(std::string(grammar.epilogue));
  Arguments arguments;
  if (!grammar.positional.empty()) {
    app.add_option(std::string(grammar.positional), arguments.positionals)
        ->expected(static_cast<int>(grammar.positionals_min),
                   static_cast<int>(grammar.positionals_max))
        ->required(grammar.positionals_min > 0);
  }
  std::map<std::string, bool> switched;
  for (const Switch& s : grammar.switches) {
    app.add_flag(std::string(s.flag), switched[std::string(s.flag)], std::string(s.help));
  }
  std::map<std::string, std::string> given;
  if (grammar.takes_settings) {
    app.add_option("--config", given["config"], "Configuration file instead of ./leat.toml.");
    for (const config::Setting& setting : server_settings()) {
      const std::string help = fmt::format("{} [{}]", setting.help, setting.default_text);
      app.add_option(config::flag_name(setting), given[std::string(setting.key)], help);
    }
  }
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    arguments.help = app.help();
    return arguments;
  } catch (const CLI::ParseError& error) {
    return fail(Errc::bad_request, describe(app, error, words));
  }
  for (const auto& [flag, on] : switched) {
    if (on) arguments.switches.insert(flag);
  }
  for (const auto& [key, text] : given) {
    if (!text.empty()) arguments.settings.emplace_back(key, text);
  }
  return arguments;
}

}  // namespace leat::programs
