#include "leat/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>

#include "config/nearest.h"

namespace leat::programs {
namespace {

constexpr std::array kClientSwitches = {
    Switch{"--json", "JSON on stdout: a document, or a line for each thing that happens."},
    Switch{"-q,--quiet", "No progress and no summary; listings show names alone."},
};

constexpr std::array kClientFlags = {
    ValueFlag{"--endpoint", "URL", "The service; else LEAT_ENDPOINT, AWS_ENDPOINT_URL[_S3]."},
    ValueFlag{"--region", "NAME", "The region to sign for; else LEAT_REGION, AWS_REGION."},
    ValueFlag{"--profile", "NAME", "A profile of ~/.config/leat/config.toml or ~/.aws."},
    ValueFlag{"--ca-file", "FILE", "Certificates to trust, for https; else AWS_CA_BUNDLE."},
};

constexpr std::array kNodeFlags = {
    ValueFlag{"--endpoint", "URL", "The node; else LEAT_ENDPOINT, AWS_ENDPOINT_URL[_S3]."},
    ValueFlag{"--profile", "NAME", "A profile of ~/.config/leat/config.toml or ~/.aws."},
    ValueFlag{"--ca-file", "FILE", "Certificates to trust, for https; else AWS_CA_BUNDLE."},
};

// "--recursive" of "-r,--recursive".
std::string long_name(std::string_view flag) {
  const std::size_t comma = flag.rfind(',');
  return std::string(comma == flag.npos ? flag : flag.substr(comma + 1));
}

// CLI11's help, with the usage line that the table of commands gives.
class HelpText final : public CLI::Formatter {
 public:
  explicit HelpText(const Command& command) : command_(command) {}
  std::string make_usage(const CLI::App*, std::string) const override {
    return fmt::format("\nusage: leat {} {}\n\n", command_.name, command_.usage);
  }
  std::string make_positionals(const CLI::App*) const override { return ""; }

 private:
  const Command& command_;
};

std::string_view placeholder(config::Kind kind) {
  switch (kind) {
    case config::Kind::text: return "TEXT";
    case config::Kind::integer: return "N";
    case config::Kind::boolean: return "yes|no";
    case config::Kind::bytes: return "SIZE";
    case config::Kind::duration: return "TIME";
    case config::Kind::list: return "A,B";
  }
  return "";
}

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

// What the grammar has no place for: a flag nobody knows, or a word too many.
Status refuse_extras(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining();
  for (const std::string& word : extras) {
    if (word.starts_with("-")) return fail(Errc::bad_request, unknown_flag(app, word));
  }
  if (extras.empty()) return {};
  return fail(Errc::bad_request, fmt::format("unexpected argument {}", extras.front()));
}

Status check_count(const Grammar& grammar, const std::vector<std::string>& words) {
  if (words.size() < grammar.positionals_min && !words.empty()) {
    return fail(Errc::bad_request,
                fmt::format("expected {}, and got {} alone", grammar.positional, words.front()));
  }
  if (words.size() < grammar.positionals_min) {
    return fail(Errc::bad_request, fmt::format("{} is missing", grammar.positional));
  }
  if (words.size() <= grammar.positionals_max) return {};
  return fail(Errc::bad_request,
              fmt::format("unexpected argument {}", words[grammar.positionals_max]));
}

void add_switches(CLI::App& app, std::span<const Switch> switches,
                  std::map<std::string, bool>& switched) {
  for (const Switch& one : switches)
    app.add_flag(std::string(one.flag), switched[long_name(one.flag)], std::string(one.help));
}

void add_value_flags(CLI::App& app, std::span<const ValueFlag> flags, Arguments& arguments) {
  for (const ValueFlag& one : flags) {
    app.add_option(std::string(one.flag), arguments.values[long_name(one.flag)],
                   std::string(one.help))
        ->type_name(std::string(one.placeholder))
        ->allow_extra_args(false);
  }
}

// Of the flags that nearly all commands take: only these stand before a verb.
bool takes_value(std::string_view word) {
  return std::ranges::find(kClientFlags, word, &ValueFlag::flag) != kClientFlags.end();
}

}  // namespace

std::vector<std::string> verb_first(std::vector<std::string> words,
                                    const std::vector<std::string_view>& verbs) {
  auto verb = words.begin();
  while (verb != words.end() && verb->starts_with('-') && *verb != "-" && *verb != "--") {
    const bool has_value = takes_value(*verb) && std::next(verb) != words.end();
    std::advance(verb, has_value ? 2 : 1);
  }
  const bool is_known = verb != words.end() && std::ranges::find(verbs, *verb) != verbs.end();
  if (!is_known) return words;
  const auto flags_end = std::ranges::find(words, "--");
  // From flags, verb, others to verb, others, flags.
  std::rotate(words.begin(), verb, flags_end);
  return words;
}

Result<Arguments> parse_arguments(const Grammar& grammar, const std::vector<std::string>& words) {
  CLI::App app(std::string(grammar.command.summary), fmt::format("leat {}", grammar.command.name));
  app.formatter(std::make_shared<HelpText>(grammar.command));
  app.allow_extras();
  app.footer(std::string(grammar.epilogue));
  Arguments arguments;
  if (!grammar.positional.empty()) {
    app.add_option(std::string(grammar.positional), arguments.positionals);
  }
  std::map<std::string, bool> switched;
  add_switches(app, grammar.switches, switched);
  add_value_flags(app, grammar.value_flags, arguments);
  if (grammar.is_client) {
    add_switches(app, kClientSwitches, switched);
    add_value_flags(app, kClientFlags, arguments);
  }
  if (grammar.asks_node) add_value_flags(app, kNodeFlags, arguments);
  std::map<std::string, std::string> given;
  std::map<std::string, const CLI::Option*> setting_options;
  if (grammar.takes_settings) {
    setting_options["config"] =
        app.add_option("--config", given["config"], "Configuration file instead of ./leat.toml.");
    for (const config::Setting& setting : server_settings()) {
      const std::string help = fmt::format("{} [{}]", setting.help, setting.default_text);
      const std::string key(setting.key);
      setting_options[key] = app.add_option(config::flag_name(setting), given[key], help)
                                 ->type_name(std::string(placeholder(setting.kind)));
    }
  }
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    arguments.help = app.help();
    return arguments;
  } catch (const CLI::ParseError& error) {
    return fail(Errc::bad_request, error.what());
  }
  LEAT_DO(refuse_extras(app));
  LEAT_DO(check_count(grammar, arguments.positionals));
  std::erase_if(arguments.values, [](const auto& one) { return one.second.empty(); });
  for (const auto& [flag, on] : switched) {
    if (on) arguments.switches.insert(flag);
  }
  for (const auto& [key, option] : setting_options) {
    if (option->count() > 0) arguments.settings.emplace_back(key, given[key]);
  }
  return arguments;
}

}  // namespace leat::programs
