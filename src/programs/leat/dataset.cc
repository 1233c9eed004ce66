#include "leat/dataset.h"

#include <fmt/format.h>

#include <array>

#include "base/check.h"
#include "config/nearest.h"
#include "dataset/json_call.h"
#include "leat/say.h"
#include "leat/subcommands.h"
#include "s3client/answers.h"

namespace leat::programs {
namespace {

constexpr std::array kVerbs = {
    Command{"dataset put", "SOURCE… BUCKET/NAME [flags]",
            "Make folders, archives or listed files the next version.", run_dataset_put},
    Command{"dataset append", "SOURCE… BUCKET/NAME [flags]", "Add their samples to it.",
            run_dataset_append},
    Command{"dataset get", "BUCKET/NAME[@REF] DIR [--tars] [flags]",
            "Write a version back as files, or as its shards.", run_dataset_get},
    Command{"dataset info", "BUCKET/NAME[@REF] [flags]", "Show a version, its tags and fields.",
            run_dataset_info},
    Command{"dataset ls", "[BUCKET[/NAME[@REF]]] [--prefix KEY] [flags]",
            "List datasets, or the samples of one.", run_dataset_ls},
    Command{"dataset head", "BUCKET/NAME[@REF] [-n N] [flags]",
            "Show the first samples and their fields.", run_dataset_head},
    Command{"dataset log", "BUCKET/NAME[@REF] [-n N] [flags]", "List versions, the newest first.",
            run_dataset_log},
    Command{"dataset diff", "BUCKET/NAME@OLD [BUCKET/NAME@NEW] [flags]",
            "Show what one version has beyond another.", run_dataset_diff},
    Command{"dataset lint", "BUCKET/NAME[@REF] [flags]", "Look for what readers may stumble over.",
            run_dataset_lint},
    Command{"dataset create", "BUCKET/NAME [flags]", "Make a dataset without a version.",
            run_dataset_create},
    Command{"dataset commit", "BUCKET/NAME [--add KEY]… [flags]",
            "Make a version of tars that are stored already.", run_dataset_commit},
    Command{"dataset adopt", "BUCKET/NAME [--prefix P] [flags]",
            "Make a version of what lies below a prefix, in place.", run_dataset_adopt},
    Command{"dataset tag", "BUCKET/NAME[@REF] [TAG] [--delete] [flags]",
            "Name a version, or list the names.", run_dataset_tag},
    Command{"dataset restore", "BUCKET/NAME@REF [flags]", "Make an older version the last again.",
            run_dataset_restore},
    Command{"dataset vacuum", "BUCKET/NAME [--keep TIME] [flags]",
            "Remove what no version that is kept needs.", run_dataset_vacuum},
    Command{"dataset rm", "BUCKET/NAME [--yes] [flags]",
            "Forget a dataset; its shards stay as objects.", run_dataset_rm},
};

std::string_view verb_of(const Command& command) {
  return command.name.substr(command.name.find(' ') + 1);
}

std::string help_text() {
  std::string text =
      "Keep training data as datasets: named sets of tars with versions.\n\n"
      "usage: leat dataset VERB …\n\n";
  for (const Command& verb : kVerbs)
    text += fmt::format("  {:<10}{}\n", verb_of(verb), verb.summary);
  text +=
      "\n  leat put ./train imagenet/train         the same as leat dataset put\n"
      "  leat dataset info imagenet/train@7      a version; also @best (a tag), @2026-11-01\n"
      "\n`leat dataset VERB --help` tells more.\n";
  return text;
}

}  // namespace

std::span<const Command> dataset_verbs() {
  return kVerbs;
}

const Command& find_verb(std::string_view name) {
  for (const Command& verb : kVerbs) {
    if (verb.name == name) return verb;
  }
  LEAT_CHECK(false);
}

Exit run_dataset(const Invocation& invocation) {
  if (invocation.words.empty() || invocation.words.front() == "--help" ||
      invocation.words.front() == "-h") {
    if (invocation.help != nullptr) {
      *invocation.help = help_text();
    } else {
      say("{}", help_text());
    }
    return Exit::done;
  }
  std::vector<std::string_view> names;
  for (const Command& verb : kVerbs)
    names.push_back(verb_of(verb));
  Invocation rest = invocation;
  rest.words = verb_first(std::move(rest.words), names);
  const std::string word = rest.words.front();
  rest.words.erase(rest.words.begin());
  for (const Command& verb : kVerbs) {
    if (verb_of(verb) == word) return verb.run(rest);
  }
  const auto near = config::nearest(word, names);
  fmt::print(stderr, "leat: dataset {} is unknown; {}\n", word,
             near ? fmt::format("did you mean `leat dataset {}`?", *near)
                  : "`leat dataset` lists the verbs");
  return Exit::usage;
}

rt::Task<nlohmann::json> ask_dataset(Session& session, std::string method, std::string dataset,
                                     std::vector<http1::QueryPair> query, nlohmann::json body) {
  dataset::NativeCall call{.method = std::move(method),
                           .path = dataset.empty() ? "datasets" : "datasets/" + dataset,
                           .query = std::move(query)};
  co_return co_await dataset::call_json(session.client(), std::move(call), std::move(body));
}

std::string shown_name(const Session& session, const std::string& name) {
  if (!session.invocation.stdout_is_terminal) return name;
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return text;
}

std::string time_text(std::int64_t ms) {
  return s3client::iso_time(WallTime(std::chrono::milliseconds(ms)));
}

}  // namespace leat::programs
