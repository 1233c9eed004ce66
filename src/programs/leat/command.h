// Command: one row of the table of subcommands.
//
// The table is the program: `leat help`, completion and the did-you-mean all read it. A command
// gets its words and its Invocation, and returns the exit code (docs/reference/exit-codes.md).
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace leat::programs {

// The exit codes scripts may rely on.
enum class Exit : int {
  done = 0,
  failed = 1,
  usage = 2,
  partly = 3,
  not_found = 4,
  denied = 5,
  conflict = 6,
  temporary = 7,
  damaged = 8,
  limit = 9,
  interrupted = 130,
};

Exit exit_for(Errc code);

// What the process was given. Nothing below main() looks at argv or the environment itself.
struct Invocation {
  std::vector<std::string> words;  // after the subcommand's name
  std::map<std::string, std::string> environment;
  std::string working_directory{};
  bool stdout_is_terminal = false;
  bool stderr_is_terminal = false;
  bool stdin_is_terminal = false;
  // Where --help goes instead of stdout, for who makes something else of it (the man page).
  std::string* help = nullptr;

  // Of the environment; empty if it is not set.
  std::string variable(const std::string& name) const {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  }
  // Whether terminals draw over what is there, by escape sequences.
  bool can_redraw() const { return variable("TERM") != "dumb"; }
};

struct Command {
  std::string_view name;
  std::string_view usage;    // what follows the name
  std::string_view summary;  // one line
  Exit (*run)(const Invocation& invocation);

  // For scripts of our own; no help lists it.
  bool is_hidden() const { return name.starts_with("__"); }
};

std::span<const Command> commands();

// One clear line on stderr: "leat: what went wrong".
Exit complain(const Error& error);
Exit complain_usage(std::string_view what, std::string_view usage);

}  // namespace leat::programs
