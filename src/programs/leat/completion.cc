// completion: scripts for shells, which ask `leat __complete` for what may come next.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "leat/client_session.h"
#include "leat/dataset.h"
#include "leat/say.h"
#include "leat/subcommands.h"
#include "leat/table.h"
#include "s3client/operations.h"

namespace leat::programs {
namespace {

constexpr std::string_view kBash =
    R"sh(# bash completion of leat: eval "$(leat completion bash)"
_leat() {
  local IFS=$'\n'
  COMPREPLY=($(leat __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} != */ ]]; then COMPREPLY[0]+=' '; fi
}
complete -o default -o nospace -F _leat leat
)sh";

constexpr std::string_view kZsh =
    R"sh(#compdef leat
# zsh completion of leat: eval "$(leat completion zsh)", or as _leat in a folder of $fpath
_leat() {
  local -a found
  found=(${(f)"$(leat __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( ${#found} )); then compadd -S '' -a found; else _files; fi
}
if [[ $funcstack[1] == _leat ]]; then _leat "$@"; else compdef _leat leat; fi
)sh";

constexpr std::string_view kFish =
    R"sh(# fish completion of leat: leat completion fish | source
function __leat_offer
  set -l found (leat __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c leat -f -a '(__leat_offer)'
)sh";

constexpr std::string_view kEpilogue =
    "  eval \"$(leat completion bash)\"     in ~/.bashrc\n"
    "  eval \"$(leat completion zsh)\"      in ~/.zshrc, after compinit\n"
    "  leat completion fish | source      in ~/.config/fish/config.fish\n"
    "\n"
    "Commands, flags, buckets and keys are completed. `make install` installs all three.";

Status print_script(const Invocation&, const Arguments& arguments) {
  const std::string& shell = arguments.positionals.front();
  if (shell == "bash") {
    say("{}", kBash);
  } else if (shell == "zsh") {
    say("{}", kZsh);
  } else if (shell == "fish") {
    say("{}", kFish);
  } else {
    return fail(Errc::bad_request, fmt::format("{}: expected bash, zsh or fish", shell));
  }
  return {};
}

// The words of a fixed place.
struct Choice {
  std::string_view command;
  std::array<std::string_view, 3> words;
};
constexpr std::array kChoices = {
    Choice{"completion", {"bash", "zsh", "fish"}},
    Choice{"disk", {"list", "add", "remove"}},
    Choice{"key", {"create", "list", "revoke"}},
    Choice{"bucket", {"show", "set", "unset"}},
    Choice{"config", {"show", "", ""}},
};

constexpr std::array<std::string_view, 13> kTakeObjects = {
    "put", "get", "cat", "ls", "stat", "du", "cp", "mv", "sync", "rm", "rb", "bucket", "dataset"};

// All flags that a command's --help shows.
std::set<std::string> flags_of(const Command& command) {
  std::string help;
  Invocation asking;
  asking.words = {"--help"};
  asking.help = &help;
  if (command.run(asking) != Exit::done) return {};
  std::set<std::string> flags;
  for (std::size_t at = help.find("--"); at != help.npos; at = help.find("--", at + 2)) {
    std::size_t end = at + 2;
    while (end < help.size() && ((help[end] >= 'a' && help[end] <= 'z') || help[end] == '-'))
      ++end;
    if (end > at + 2) flags.insert(help.substr(at, end - at));
  }
  return flags;
}

void offer(std::string_view candidate, std::string_view begun) {
  if (!candidate.empty() && candidate.starts_with(begun)) say("{}\n", candidate);
}

// Buckets, or keys up to the next slash. Whatever goes wrong, nothing is offered.
rt::Task<Exit> offer_objects(Session& session) {
  const std::string& word = session.words().back();
  const std::size_t slash = word.find('/');
  if (slash == word.npos) {
    LEAT_CO_TRY(const auto buckets, co_await s3client::list_buckets(session.client()));
    for (const s3client::BucketItem& bucket : buckets)
      offer(bucket.name + "/", word);
    co_return Exit::done;
  }
  s3client::ListQuery query{.bucket = word.substr(0, slash),
                            .prefix = word.substr(slash + 1),
                            .delimiter = "/",
                            .keys_max = 200};
  const std::string bucket = query.bucket + "/";
  LEAT_CO_TRY(const auto page, co_await s3client::list_objects(session.client(), std::move(query)));
  for (const std::string& group : page.groups)
    offer(bucket + group, word);
  for (const s3client::ListedObject& object : page.objects)
    offer(bucket + object.key, word);
  co_return Exit::done;
}

bool may_be_object(std::string_view command, std::string_view word) {
  if (std::ranges::find(kTakeObjects, command) == kTakeObjects.end()) return false;
  return word.empty() || (word.front() != '.' && word.front() != '/' && word.front() != '~');
}

}  // namespace

Exit run_completion(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("completion"),
                        .positional = "bash|zsh|fish",
                        .positionals_min = 1,
                        .positionals_max = 1,
                        .epilogue = kEpilogue};
  return run_parsed(grammar, invocation, print_script);
}

// The words after "--" are what stands on the command line; the last one is being typed.
Exit run_complete(const Invocation& invocation) {
  std::vector<std::string> words = invocation.words;
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  if (words.empty()) words.emplace_back();
  const std::string begun = words.back();
  if (words.size() == 1) {
    for (const Command& command : commands()) {
      if (!command.is_hidden()) offer(command.name, begun);
    }
    return Exit::done;
  }
  const auto found = std::ranges::find(commands(), words.front(), &Command::name);
  if (found == commands().end()) return Exit::done;
  if (found->name == "dataset" && words.size() == 2) {
    for (const Command& verb : dataset_verbs())
      offer(verb.name.substr(verb.name.find(' ') + 1), begun);
    return Exit::done;
  }
  if (begun.starts_with('-')) {
    const auto verb = std::ranges::find(dataset_verbs(), "dataset " + words[1], &Command::name);
    const bool has_verb = found->name == "dataset" && verb != dataset_verbs().end();
    const auto flags = flags_of(has_verb ? *verb : *found);
    for (const std::string& flag : flags)
      offer(flag, begun);
    return Exit::done;
  }
  for (const Choice& choice : kChoices) {
    if (choice.command != found->name || words.size() != 2) continue;
    for (const std::string_view word : choice.words)
      offer(word, begun);
    return Exit::done;
  }
  if (!may_be_object(found->name, begun)) return Exit::done;
  Invocation asking = invocation;
  asking.words = {"--", begun};
  const Grammar grammar{.command = find_command("__complete"),
                        .positional = "WORD",
                        .positionals_min = 1,
                        .positionals_max = 1,
                        .is_client = true};
  return run_client(grammar, asking, {offer_objects});
}

}  // namespace leat::programs
