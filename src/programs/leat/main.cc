// main() gathers what the process was given, finds the subcommand and runs it. Wiring only.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>
#include <stdexcept>

#include "config/nearest.h"
#include "leat/arguments.h"
#include "leat/command.h"

extern char** environ;

namespace leat::programs {
namespace {

Invocation gather(int argc, char** argv) {
  Invocation invocation;
  if (argc > 1) invocation.words.assign(argv + 1, argv + argc);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = text.find('=');
    if (equals != text.npos) {
      invocation.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  std::array<char, PATH_MAX> here{};
  if (getcwd(here.data(), here.size()) != nullptr) invocation.working_directory = here.data();
  invocation.stdout_is_terminal = isatty(STDOUT_FILENO) == 1;
  invocation.stderr_is_terminal = isatty(STDERR_FILENO) == 1;
  invocation.stdin_is_terminal = isatty(STDIN_FILENO) == 1;
  return invocation;
}

std::vector<std::string_view> names_of_commands() {
  std::vector<std::string_view> names;
  for (const Command& command : commands()) {
    if (!command.is_hidden()) names.push_back(command.name);
  }
  return names;
}

Exit unknown_command(std::string_view name) {
  const auto names = names_of_commands();
  if (name.starts_with('-')) {
    fmt::print(stderr, "leat: a command is missing beside {}; `leat help` lists them\n", name);
    return Exit::usage;
  }
  const auto near = config::nearest(name, names);
  if (near) {
    fmt::print(stderr, "leat: unknown command {}; did you mean `leat {}`?\n", name, *near);
  } else {
    fmt::print(stderr, "leat: unknown command {}; `leat help` lists them\n", name);
  }
  return Exit::usage;
}

Exit run(int argc, char** argv) {
  Invocation invocation = gather(argc, argv);
  std::vector<std::string> words = verb_first(std::move(invocation.words), names_of_commands());
  std::string name = words.empty() ? "help" : std::move(words.front());
  if (!words.empty()) words.erase(words.begin());
  invocation.words = std::move(words);
  if (name == "--help" || name == "-h") name = "help";
  if (name == "--version") name = "version";
  for (const Command& command : commands()) {
    if (command.name == name) return command.run(invocation);
  }
  return unknown_command(name);
}

}  // namespace
}  // namespace leat::programs

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error value, not the end of the process
  try {
    return static_cast<int>(leat::programs::run(argc, argv));
  } catch (const std::runtime_error& error) {
    // Leat throws nothing, but the libraries below throw when the machine refuses a thread or a
    // descriptor at the start.
    fmt::print(stderr, "leat: the machine has no room for another process: {}\n", error.what());
    return static_cast<int>(leat::programs::Exit::temporary);
  }
}
