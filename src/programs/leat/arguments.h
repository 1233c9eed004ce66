// Arguments: the words after a subcommand, sorted into positionals, switches and settings.
//
// Flags may stand anywhere. A flag nobody knows is an error that names the nearest one. The parser
// is CLI11's; this header is all the rest of the program sees of it.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leat/command.h"
#include "leat/settings.h"

namespace leat::programs {

// A flag is written "--json", or "-r,--recursive" with a short form; it is known by the long one.
struct Switch {
  std::string_view flag;
  std::string_view help;
};

// A flag with a value, which may stand several times.
struct ValueFlag {
  std::string_view flag;         // "--read"
  std::string_view placeholder;  // "BUCKET"
  std::string_view help;
};

// Lists of flags, one after the other: what several commands take is written once, and nobody
// counts on the place of a flag in a list.
template <class Flag, std::size_t... Counts>
constexpr auto joined(const std::array<Flag, Counts>&... lists) {
  std::array<Flag, (Counts + ...)> all{};
  auto at = all.begin();
  ((at = std::ranges::copy(lists, at).out), ...);
  return all;
}

struct Grammar {
  const Command& command;
  std::string_view positional;  // "DIR"; empty: none is taken
  std::size_t positionals_min = 0;
  std::size_t positionals_max = 0;
  std::span<const Switch> switches = {};
  std::span<const ValueFlag> value_flags = {};
  bool takes_settings = false;
  bool is_client = false;          // also takes the flags of all commands that talk to a service
  bool asks_node = false;          // takes those that say which node (node_client.h)
  std::string_view epilogue = {};  // after the flags in --help: examples, exit codes
};

struct Arguments {
  std::vector<std::string> positionals;
  std::set<std::string, std::less<>> switches;
  std::map<std::string, std::vector<std::string>, std::less<>> values;  // of the flags given
  Flags settings;
  std::string help;  // the text to print, when --help was given

  bool has(std::string_view flag) const { return switches.contains(flag); }
  // The last value that was given, or nothing.
  std::string value(std::string_view flag) const {
    const auto found = values.find(flag);
    return found == values.end() ? std::string() : found->second.back();
  }
};

// Words in which flags may stand before the verb, such as `--json ls photos`: the verb first, then
// all others as they stood, and those flags behind them. Without a verb the words as they are.
std::vector<std::string> verb_first(std::vector<std::string> words,
                                    const std::vector<std::string_view>& verbs);

// Errors: bad_request with one line that says what is wrong.
Result<Arguments> parse_arguments(const Grammar& grammar, const std::vector<std::string>& words);

}  // namespace leat::programs
