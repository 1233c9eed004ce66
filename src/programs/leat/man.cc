// The man page, made of what --help says.
#include <fmt/format.h>

#include "leat/dataset.h"
#include "leat/say.h"
#include "leat/subcommands.h"
#include "leat/table.h"
#include "leat/version.h"

namespace leat::programs {
namespace {

// One line of text as troff takes it: nothing in it is a request or an escape.
std::string troff_line(std::string_view line) {
  std::string out;
  if (line.starts_with('.') || line.starts_with('\'')) out += "\\&";
  for (const char c : line) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

void print_text(std::string_view text) {
  say(".nf\n");
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    say("{}\n", troff_line(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  say(".fi\n");
}

std::string help_of(const Command& command) {
  std::string help;
  Invocation asking;
  asking.words = {"--help"};
  asking.help = &help;
  if (command.run(asking) != Exit::done) return "";
  const std::size_t usage = help.find("usage:");
  return usage == help.npos ? help : help.substr(usage);
}

void print_command(const Command& command) {
  say(".SS leat {}\n{}\n.PP\n", command.name, troff_line(command.summary));
  print_text(help_of(command));
}

constexpr std::string_view kPaths =
    "BUCKET/KEY names an object, s3://BUCKET/KEY the same, leat://HOST:PORT/BUCKET/KEY one of "
    "another node. Paths of files start with '.', '/' or '~' where both are possible. '-' is "
    "standard input or output.";

constexpr std::string_view kExits =
    "0 done\n1 other failure\n2 usage error\n3 partly done\n4 not found\n"
    "5 denied, or bad credentials\n6 conflict\n7 temporary: a retry may help\n"
    "8 a checksum does not match\n9 a limit was reached\n130 interrupted";

constexpr std::string_view kEnvironment =
    "LEAT_ENDPOINT, LEAT_REGION, LEAT_PROFILE, LEAT_CA_FILE, LEAT_JOBS, LEAT_PART_SIZE\n"
    "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE, AWS_REGION,\n"
    "AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3, AWS_CA_BUNDLE\n"
    "LEAT_CONFIG and LEAT_* settings of servers: leat config show";

}  // namespace

Exit run_man(const Invocation&) {
  say(".TH LEAT 1 \"\" \"leat {}\" \"User Commands\"\n", kVersion);
  say(".SH NAME\nleat \\- storage that feeds training jobs\n");
  say(".SH SYNOPSIS\n.B leat\nCOMMAND [words and flags]\n");
  say(".SH PATHS\n{}\n.SH COMMANDS\n", troff_line(kPaths));
  for (const Command& command : commands()) {
    if (command.is_hidden() || command.name == "help") continue;
    print_command(command);
    if (command.name != "dataset") continue;
    for (const Command& verb : dataset_verbs())
      print_command(verb);
  }
  say(".SH ENVIRONMENT\n");
  print_text(kEnvironment);
  say(".SH FILES\n");
  print_text(
      "~/.config/leat/config.toml   endpoint, region and others, also by profile\n"
      "~/.aws/credentials, ~/.aws/config\n"
      "~/.local/state/leat/uploads  uploads that can be continued\n"
      "~/.local/state/leat/nodes    nodes that run, for leat env");
  say(".SH EXIT STATUS\n");
  print_text(kExits);
  return Exit::done;
}

}  // namespace leat::programs
