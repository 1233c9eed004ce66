// The verbs that only look: info, ls, head, log, diff, lint.
#include <fmt/format.h>

#include <array>

#include "config/parse.h"
#include "dataset/json_call.h"
#include "leat/dataset.h"
#include "leat/dataset_put.h"
#include "leat/json_text.h"
#include "leat/progress.h"
#include "leat/say.h"
#include "leat/table.h"

namespace leat::programs {
namespace {

using dataset::AnswerReader;
using nlohmann::json;

constexpr std::array kCountFlag = {ValueFlag{"-n,--max", "N", "At most so many."}};
constexpr std::array kListFlags = {
    kCountFlag[0], ValueFlag{"--prefix", "KEY", "Only samples whose keys begin so."}};

Result<std::uint64_t> count_of(const Session& session, std::uint64_t otherwise) {
  const std::string text = session.arguments.value("--max");
  if (text.empty()) return otherwise;
  LEAT_TRY(const std::int64_t number, config::parse_integer(text));
  if (number < 1) return fail(Errc::bad_request, "--max: expected a number above 0");
  return static_cast<std::uint64_t>(number);
}

// When the version was made, in a description of it.
std::string time_in(AnswerReader& version) {
  return time_text(static_cast<std::int64_t>(version.number("committed_ms")));
}

Status print_info(const Session& session, const json& found, const json& tags) {
  AnswerReader version(found);
  const std::uint64_t number = version.number("version");
  say("{:<12}{}@{}\n", "dataset", version.text("dataset"), number);
  say("{:<12}{}\n", "samples", number_text(version.number("samples")));
  say("{:<12}{}\n", "shards", number_text(version.number("shards")));
  say("{:<12}{}\n", "size", human_bytes(version.number("bytes")));
  say("{:<12}{}\n", "fields", fmt::join(version.texts("fields"), ", "));
  if (number > 0) {
    say("{:<12}{}\n", "committed", time_in(version));
    say("{:<12}{}\n", "message", shown_name(session, version.text("message")));
    say("{:<12}{}\n", "fingerprint", version.text("fingerprint"));
  }
  AnswerReader answer(tags);
  for (const auto& [tag, at] : answer.object("tags").items())
    say("{:<12}{} = @{}\n", "tag", tag, at.dump());
  LEAT_DO(version.status());
  return answer.status();
}

rt::Task<Exit> info(Session& session) {
  LEAT_CO_TRY(const std::string name, dataset_name(session.words().front()));
  LEAT_CO_TRY(json found, co_await ask_dataset(session, "GET", name));
  std::vector<http1::QueryPair> query{{"tags", ""}};
  LEAT_CO_TRY(const json tags, co_await ask_dataset(session, "GET", name, std::move(query)));
  if (session.wants_json()) {
    AnswerReader answer(tags);
    found["tags"] = answer.object("tags");
    LEAT_CO_DO(answer.status());
    say("{}\n", json_text(found));
    co_return Exit::done;
  }
  LEAT_CO_DO(print_info(session, found, tags));
  co_return Exit::done;
}

rt::Task<Exit> list_datasets(Session& session, std::string bucket) {
  std::vector<http1::QueryPair> query;
  if (!bucket.empty()) query.push_back({"bucket", std::move(bucket)});
  LEAT_CO_TRY(const json found, co_await ask_dataset(session, "GET", "", std::move(query)));
  AnswerReader answer(found);
  const auto names = answer.texts("datasets");
  LEAT_CO_DO(answer.status());
  if (session.wants_json()) {
    say("{}\n", json_text(names));
    co_return Exit::done;
  }
  for (const std::string& name : names)
    say("{}\n", shown_name(session, name));
  co_return Exit::done;
}

// Samples in the order of their keys, page by page.
rt::Task<Exit> list_samples(Session& session, std::string name) {
  constexpr std::uint64_t kAll = ~std::uint64_t(0);
  LEAT_CO_TRY(const std::uint64_t max, count_of(session, kAll));
  std::uint64_t left = max;
  std::string after;
  bool is_first = true;
  while (left > 0) {
    std::vector<http1::QueryPair> query{
        {"samples", ""}, {"max", fmt::to_string(std::min<std::uint64_t>(left, 10'000))}};
    if (const std::string prefix = session.arguments.value("--prefix"); !prefix.empty()) {
      query.push_back({"prefix", prefix});
    }
    if (!after.empty()) query.push_back({"after", after});
    LEAT_CO_TRY(const json page, co_await ask_dataset(session, "GET", name, std::move(query)));
    AnswerReader answer(page);
    for (const json& one : answer.list("page")) {
      AnswerReader sample(one);
      if (session.wants_json()) {
        say("{}{}", is_first ? "[\n" : ",\n", json_text(one));
      } else {
        say("{}\n", shown_name(session, sample.name("sample")));
      }
      LEAT_CO_DO(sample.status());
      is_first = false;
      --left;
    }
    LEAT_CO_DO(answer.status());
    const auto next = page.find("next");
    if (next == page.end() || !next->is_string()) break;
    after = next->get<std::string>();
  }
  if (session.wants_json()) say("{}", is_first ? "[]\n" : "\n]\n");
  co_return Exit::done;
}

rt::Task<Exit> ls(Session& session) {
  const auto& words = session.words();
  const std::string word = words.empty() ? "" : words.front();
  if (word.find('/') == word.npos) co_return co_await list_datasets(session, word);
  LEAT_CO_TRY(const std::string name, dataset_name(word));
  co_return co_await list_samples(session, name);
}

Status print_sample(const Session& session, const json& found) {
  if (session.wants_json()) {
    say("{}\n", json_text(found));
    return {};
  }
  AnswerReader sample(found);
  std::string fields;
  for (const auto& [field, place] : sample.object("fields").items()) {
    AnswerReader where(place);
    fields += fmt::format("{}{} {}", fields.empty() ? "" : ", ", field,
                          human_bytes(where.number("size")));
    LEAT_DO(where.status());
  }
  const std::string key = sample.name("sample");
  LEAT_DO(sample.status());
  say("{}\t{}\n", shown_name(session, key), fields);
  return {};
}

rt::Task<Exit> head(Session& session) {
  LEAT_CO_TRY(const std::string name, dataset_name(session.words().front()));
  LEAT_CO_TRY(const std::uint64_t max, count_of(session, 10));
  std::vector<http1::QueryPair> query{{"samples", ""}, {"max", fmt::to_string(max)}};
  LEAT_CO_TRY(const json page, co_await ask_dataset(session, "GET", name, std::move(query)));
  AnswerReader answer(page);
  for (const json& one : answer.list("page")) {
    AnswerReader entry(one);
    std::vector<http1::QueryPair> which{{"sample", entry.name("sample")}};
    LEAT_CO_DO(entry.status());
    LEAT_CO_TRY(const json sample, co_await ask_dataset(session, "GET", name, std::move(which)));
    LEAT_CO_DO(print_sample(session, sample));
  }
  LEAT_CO_DO(answer.status());
  co_return Exit::done;
}

rt::Task<Exit> log(Session& session) {
  LEAT_CO_TRY(const std::string name, dataset_name(session.words().front()));
  LEAT_CO_TRY(const std::uint64_t max, count_of(session, 1000));
  std::vector<http1::QueryPair> query{{"log", ""}, {"max", fmt::to_string(max)}};
  LEAT_CO_TRY(const json found, co_await ask_dataset(session, "GET", name, std::move(query)));
  AnswerReader answer(found);
  const json& versions = answer.list("versions");
  LEAT_CO_DO(answer.status());
  if (session.wants_json()) {
    say("{}\n", json_text(versions));
    co_return Exit::done;
  }
  for (const json& one : versions) {
    AnswerReader version(one);
    const std::string line =
        fmt::format("@{}\t{}\t{} samples\t{} shards\t+{} -{}\t{}", version.number("version"),
                    time_in(version), number_text(version.number("samples")),
                    number_text(version.number("shards")), version.number("added"),
                    version.number("removed"), shown_name(session, version.text("message")));
    LEAT_CO_DO(version.status());
    say("{}\n", line);
  }
  co_return Exit::done;
}

rt::Task<Exit> diff(Session& session) {
  const auto& words = session.words();
  LEAT_CO_TRY(const std::string old, dataset_name(words.front()));
  const std::size_t at = old.rfind('@');
  if (at == old.npos) co_return fail(Errc::bad_request, "which version? BUCKET/NAME@OLD");
  std::string next = old.substr(0, at);
  if (words.size() == 2) {
    LEAT_CO_TRY(next, dataset_name(words.back()));
    if (next.substr(0, next.rfind('@')) != old.substr(0, at)) {
      co_return fail(Errc::bad_request, "both are versions of one dataset");
    }
  }
  LEAT_CO_TRY(const std::uint64_t max, count_of(session, 10'000));
  std::vector<http1::QueryPair> query{{"diff", old.substr(at + 1)}, {"max", fmt::to_string(max)}};
  LEAT_CO_TRY(const json found, co_await ask_dataset(session, "GET", next, std::move(query)));
  if (session.wants_json()) {
    say("{}\n", json_text(found));
    co_return Exit::done;
  }
  AnswerReader answer(found);
  for (const json& one : answer.list("page")) {
    AnswerReader entry(one);
    const std::string line =
        fmt::format("{}\t{}", entry.text("difference"), shown_name(session, entry.name("sample")));
    LEAT_CO_DO(entry.status());
    say("{}\n", line);
  }
  const std::string counts =
      fmt::format("{} added, {} removed, {} changed, {} moved", answer.number("added"),
                  answer.number("removed"), answer.number("changed"), answer.number("moved"));
  LEAT_CO_DO(answer.status());
  fmt::print(stderr, "{}\n", counts);
  co_return Exit::done;
}

// "field_missing", the shard, the sample or member, and what is wrong with it.
Result<std::string> problem_line(const Session& session, const json& one) {
  AnswerReader problem(one);
  std::string line = fmt::format("{}\t{}\t{}\t{}", problem.text("problem"),
                                 shown_name(session, problem.name("shard")),
                                 shown_name(session, problem.name("name")), problem.text("detail"));
  LEAT_DO(problem.status());
  return line;
}

rt::Task<Exit> lint(Session& session) {
  LEAT_CO_TRY(const std::string name, dataset_name(session.words().front()));
  LEAT_CO_TRY(const std::uint64_t max, count_of(session, 100));
  std::vector<http1::QueryPair> query{{"lint", ""}, {"max", fmt::to_string(max)}};
  LEAT_CO_TRY(const json found, co_await ask_dataset(session, "GET", name, std::move(query)));
  AnswerReader answer(found);
  if (session.wants_json()) {
    say("{}\n", json_text(found));
  } else {
    for (const json& one : answer.list("problems")) {
      LEAT_CO_TRY(const std::string line, problem_line(session, one));
      say("{}\n", line);
    }
  }
  bool is_damaged = false;
  for (const auto& [kind, count] : answer.object("counts").items())
    is_damaged = is_damaged || (kind.starts_with("shard_") && count != 0);
  LEAT_CO_DO(answer.status());
  co_return is_damaged ? Exit::damaged : Exit::done;
}

Exit show(std::string_view verb, const Invocation& invocation, ClientBody body,
          std::span<const ValueFlag> flags = {}, std::size_t words_min = 1,
          std::size_t words_max = 1) {
  const Grammar grammar{.command = find_verb(verb),
                        .positional = "DATASET",
                        .positionals_min = words_min,
                        .positionals_max = words_max,
                        .value_flags = flags,
                        .is_client = true};
  return run_client(grammar, invocation, {body});
}

}  // namespace

Exit run_dataset_info(const Invocation& invocation) {
  return show("dataset info", invocation, info);
}

Exit run_dataset_ls(const Invocation& invocation) {
  return show("dataset ls", invocation, ls, kListFlags, 0);
}

Exit run_dataset_head(const Invocation& invocation) {
  return show("dataset head", invocation, head, kCountFlag);
}

Exit run_dataset_log(const Invocation& invocation) {
  return show("dataset log", invocation, log, kCountFlag);
}

Exit run_dataset_diff(const Invocation& invocation) {
  return show("dataset diff", invocation, diff, kCountFlag, 1, 2);
}

Exit run_dataset_lint(const Invocation& invocation) {
  return show("dataset lint", invocation, lint, kCountFlag);
}

}  // namespace leat::programs
