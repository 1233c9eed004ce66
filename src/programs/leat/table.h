// The table of subcommands, and the few lines each of them shares.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "leat/arguments.h"
#include "leat/command.h"

namespace leat::programs {

// Requires: a command of that name is in the table.
const Command& find_command(std::string_view name);

// Parses the words, prints --help or what is wrong, runs `body`, and turns its outcome into an exit
// code.
Exit run_parsed(const Grammar& grammar, const Invocation& invocation,
                Status (*body)(const Invocation&, const Arguments&));

// Prints --help, or what is wrong with the words; nothing if the command is to run.
std::optional<Exit> answer_early(const Grammar& grammar, const Invocation& invocation,
                                 const Result<Arguments>& arguments);

// For who looks at the path from another directory.
std::string absolute_path(const Invocation& invocation, const std::string& path);

// Where this user's state is kept: $XDG_STATE_HOME/leat, by default ~/.local/state/leat. Empty
// without a home.
std::string state_folder(const Invocation& invocation);

// "412 GiB"
std::string human_bytes(std::uint64_t bytes);

}  // namespace leat::programs
