// The verbs that change a dataset without moving data: create, commit, adopt, tag, restore, vacuum,
// rm; and put and append, which pack.
#include <fmt/format.h>

#include <array>

#include "config/parse.h"
#include "dataset/json_call.h"
#include "leat/dataset.h"
#include "leat/dataset_put.h"
#include "leat/json_text.h"
#include "leat/routes.h"
#include "leat/say.h"
#include "leat/table.h"

namespace leat::programs {
namespace {

using dataset::AnswerReader;
using nlohmann::json;
using Query = std::vector<http1::QueryPair>;

constexpr std::array kYes = {Switch{"-y,--yes", "Do not ask."}};
constexpr std::array kDry = {Switch{"-n,--dry-run", "Say what would be done, and do nothing."}};
constexpr std::array kTagSwitches = {Switch{"--delete", "Take the tag away."}};
constexpr ValueFlag kMessage{"-m,--message", "TEXT", "For the log of versions."};
constexpr ValueFlag kTransaction{"--transaction", "ID",
                                 "What was committed under it once is not done again."};

// The dataset of the first word, without a version.
Result<std::string> plain_name(const Session& session) {
  LEAT_TRY(std::string name, dataset_name(session.words().front()));
  if (name.contains('@')) {
    return fail(Errc::bad_request, fmt::format("{}: the dataset itself, not a version", name));
  }
  return name;
}

Result<Exit> print_version(const Session& session, const json& done) {
  if (session.wants_json()) {
    say("{}\n", json_text(done));
    return Exit::done;
  }
  AnswerReader version(done);
  const std::string line =
      fmt::format("{}@{}: {} samples in {} shards", version.text("dataset"),
                  version.number("version"), version.number("samples"), version.number("shards"));
  LEAT_DO(version.status());
  if (!session.is_quiet()) fmt::print(stderr, "{}\n", line);
  return Exit::done;
}

rt::Task<Exit> create(Session& session) {
  LEAT_CO_TRY(const std::string name, plain_name(session));
  LEAT_CO_TRY(const json made, co_await ask_dataset(session, "PUT", name));
  if (session.wants_json()) {
    say("{}\n", json_text(made));
  } else if (!session.is_quiet()) {
    fmt::print(stderr, "made {}\n", name);
  }
  co_return Exit::done;
}

// What --message and --transaction say.
json commit_body(const Session& session) {
  json body = json::object();
  const std::string message = session.arguments.value("--message");
  if (!message.empty()) body["message"] = dataset::as_utf8(message);
  const std::string transaction = session.arguments.value("--transaction");
  if (!transaction.empty()) body["transaction"] = transaction;
  return body;
}

Result<json> changes_of(const Session& session) {
  json body = commit_body(session);
  for (const char* word : {"add", "remove", "delete"}) {
    const auto found = session.arguments.values.find(fmt::format("--{}", word));
    if (found != session.arguments.values.end()) body[word] = found->second;
  }
  if (session.arguments.has("--appended")) body["appended"] = true;
  if (const std::string base = session.arguments.value("--base"); !base.empty()) {
    LEAT_TRY(const std::int64_t number, config::parse_integer(base));
    body["base"] = static_cast<std::uint64_t>(number);
  }
  const bool changes = body.contains("add") || body.contains("remove") || body.contains("delete") ||
                       body.contains("appended");
  if (!changes) return fail(Errc::bad_request, "nothing to commit: --add, --remove, --delete");
  return body;
}

rt::Task<Exit> commit(Session& session) {
  LEAT_CO_TRY(const std::string name, plain_name(session));
  LEAT_CO_TRY(json body, changes_of(session));
  Query query{{"commit", ""}};
  LEAT_CO_TRY(const json done,
              co_await ask_dataset(session, "POST", name, std::move(query), std::move(body)));
  co_return print_version(session, done);
}

rt::Task<Exit> adopt(Session& session) {
  LEAT_CO_TRY(const std::string name, plain_name(session));
  json body = commit_body(session);
  if (const std::string prefix = session.arguments.value("--prefix"); !prefix.empty()) {
    body["prefix"] = prefix;
  }
  if (session.arguments.has("--objects")) body["kind"] = "objects";
  if (const std::string size = session.arguments.value("--shard-size"); !size.empty()) {
    LEAT_CO_TRY(const std::uint64_t bytes, config::parse_bytes(size));
    body["shard_bytes"] = bytes;
  }
  Query query{{"adopt", ""}};
  LEAT_CO_TRY(const json done,
              co_await ask_dataset(session, "POST", name, std::move(query), std::move(body)));
  AnswerReader answer(done);
  const std::string line = fmt::format("adopted {} objects, passed over {}",
                                       answer.number("adopted"), answer.number("passed_over"));
  LEAT_CO_DO(answer.status());
  if (!session.wants_json() && !session.is_quiet()) fmt::print(stderr, "{}\n", line);
  co_return print_version(session, done);
}

rt::Task<Exit> list_tags(Session& session, std::string name) {
  Query query{{"tags", ""}};
  LEAT_CO_TRY(const json found, co_await ask_dataset(session, "GET", name, std::move(query)));
  AnswerReader answer(found);
  const json& tags = answer.object("tags");
  LEAT_CO_DO(answer.status());
  if (session.wants_json()) {
    say("{}\n", json_text(tags));
    co_return Exit::done;
  }
  for (const auto& [tag, version] : tags.items())
    say("{}\t@{}\n", tag, version.dump());
  co_return Exit::done;
}

rt::Task<Exit> tag(Session& session) {
  const auto& words = session.words();
  LEAT_CO_TRY(const std::string name, dataset_name(words.front()));
  if (words.size() == 1) co_return co_await list_tags(session, name);
  Query query{{"tag", words.back()}};
  const bool goes = session.arguments.has("--delete");
  std::string method = goes ? "DELETE" : "POST";
  LEAT_CO_TRY(const json done,
              co_await ask_dataset(session, std::move(method), name, std::move(query)));
  if (session.wants_json()) {
    say("{}\n", json_text(done));
    co_return Exit::done;
  }
  AnswerReader answer(done);
  const std::string line =
      goes ? "is no tag any more" : fmt::format("is @{}", answer.number("version"));
  LEAT_CO_DO(answer.status());
  if (!session.is_quiet()) fmt::print(stderr, "{} {}\n", words.back(), line);
  co_return Exit::done;
}

rt::Task<Exit> restore(Session& session) {
  LEAT_CO_TRY(const std::string name, dataset_name(session.words().front()));
  const std::size_t at = name.rfind('@');
  if (at == name.npos) co_return fail(Errc::bad_request, "which version? BUCKET/NAME@REF");
  LEAT_CO_TRY(const json old, co_await ask_dataset(session, "GET", name));
  AnswerReader answer(old);
  const std::uint64_t version = answer.number("version");
  LEAT_CO_DO(answer.status());
  json body = commit_body(session);
  body["restore"] = version;
  if (!body.contains("message")) body["message"] = fmt::format("restore @{}", version);
  Query query{{"commit", ""}};
  LEAT_CO_TRY(const json done, co_await ask_dataset(session, "POST", name.substr(0, at),
                                                    std::move(query), std::move(body)));
  co_return print_version(session, done);
}

Result<Exit> print_vacuum(const Session& session, const json& done) {
  if (session.wants_json()) {
    say("{}\n", json_text(done));
    return Exit::done;
  }
  AnswerReader answer(done);
  const std::string line =
      fmt::format("{} {} versions, {} objects, {}",
                  session.arguments.has("--dry-run") ? "would remove" : "removed",
                  answer.list("versions").size(), answer.number("objects"),
                  human_bytes(answer.number("bytes")));
  LEAT_DO(answer.status());
  if (!session.is_quiet()) fmt::print(stderr, "{}\n", line);
  return Exit::done;
}

rt::Task<Exit> vacuum(Session& session) {
  LEAT_CO_TRY(const std::string name, plain_name(session));
  json body = {{"dry_run", session.arguments.has("--dry-run")}};
  if (const std::string keep = session.arguments.value("--keep"); !keep.empty()) {
    LEAT_CO_TRY(const Duration time, config::parse_duration(keep));
    body["keep_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  }
  Query query{{"vacuum", ""}};
  LEAT_CO_TRY(const json done,
              co_await ask_dataset(session, "POST", name, std::move(query), std::move(body)));
  co_return print_vacuum(session, done);
}

rt::Task<Exit> rm(Session& session) {
  LEAT_CO_TRY(const std::string name, plain_name(session));
  LEAT_CO_DO(confirm(session, fmt::format("Forget the dataset {} and its tags", name)));
  LEAT_CO_DO(co_await ask_dataset(session, "DELETE", name));
  if (!session.is_quiet() && !session.wants_json()) {
    fmt::print(stderr, "{0} is no dataset any more; `leat rm -r {0}` removes its objects\n", name);
  }
  co_return Exit::done;
}

constexpr auto kPackSwitches = joined(kSendingSwitches, kIngestSwitches);
constexpr std::array kSourceFlags = {
    ValueFlag{"--list", "FILE", "Files to take, a path a line, or between zero bytes."},
    ValueFlag{"--table", "FILE", "A .csv, .tsv or .jsonl whose rows are samples."},
    ValueFlag{"--root", "DIR", "What paths of a list or table are relative to [its folder]."},
    ValueFlag{"--path-column", "NAME", "Of a table [path, file, file_name, filename, image]."},
};
constexpr auto kPackFlags = joined(kIngestFlags, kSourceFlags, kPartFlags, kFilterFlags);

constexpr std::string_view kPackEpilogue =
    "  leat dataset put ./train imagenet/train --layout imagefolder\n"
    "  leat dataset put shard-*.tar imagenet/train         archives, shuffled and packed anew\n"
    "  leat dataset append --table more.csv imagenet/train rows with a column of paths\n"
    "  leat dataset put - imagenet/train < all.tar         a tar from stdin\n"
    "\n"
    "Files whose names differ in the extension only are one sample: a/1.jpg and a/1.cls are the\n"
    "fields jpg and cls of a/1. put makes a version of just these samples, append adds them to "
    "the\n"
    "last one. Run the same command again to go on after an interruption. Exit codes: 3 some "
    "files\n"
    "failed, 6 somebody else made a version meanwhile; docs/guide/ingest.md.";

rt::Task<Exit> pack(Session& session, ingest::Purpose purpose) {
  const auto& words = session.words();
  LEAT_CO_TRY(const std::string target, dataset_name(words.back()));
  std::vector<std::string> sources(words.begin(), words.end() - 1);
  const bool has_list =
      !session.arguments.value("--list").empty() || !session.arguments.value("--table").empty();
  if (sources.empty() && !has_list) {
    co_return fail(Errc::bad_request, "what to pack? folders, archives, --list or --table");
  }
  co_return co_await run_ingest(session, std::move(sources), target, purpose);
}

rt::Task<Exit> put_all(Session& session) {
  return pack(session, ingest::Purpose::replace);
}

rt::Task<Exit> append_all(Session& session) {
  return pack(session, ingest::Purpose::append);
}

Exit run_pack(std::string_view verb, const Invocation& invocation, ClientBody body) {
  const Grammar grammar{.command = find_verb(verb),
                        .positional = "SOURCE… DATASET",
                        .positionals_min = 1,
                        .positionals_max = 100'000,
                        .switches = kPackSwitches,
                        .value_flags = kPackFlags,
                        .is_client = true,
                        .epilogue = kPackEpilogue};
  return run_client(grammar, invocation, {body, 0});
}

// The words and flags of a verb that makes one call.
struct Shape {
  std::span<const Switch> switches{};
  std::span<const ValueFlag> flags{};
  std::size_t words_max = 1;
};

Exit run_call(std::string_view verb, const Invocation& invocation, ClientBody body,
              const Shape& shape) {
  const Grammar grammar{.command = find_verb(verb),
                        .positional = "DATASET",
                        .positionals_min = 1,
                        .positionals_max = shape.words_max,
                        .switches = shape.switches,
                        .value_flags = shape.flags,
                        .is_client = true};
  return run_client(grammar, invocation, {body});
}

}  // namespace

Exit run_dataset_put(const Invocation& invocation) {
  return run_pack("dataset put", invocation, put_all);
}

Exit run_dataset_append(const Invocation& invocation) {
  return run_pack("dataset append", invocation, append_all);
}

Exit run_dataset_create(const Invocation& invocation) {
  return run_call("dataset create", invocation, create, {});
}

Exit run_dataset_commit(const Invocation& invocation) {
  static constexpr std::array kSwitches = {
      Switch{"--appended", "What producers appended and no commit took yet."}};
  static constexpr std::array kFlags = {
      ValueFlag{"--add", "KEY", "A tar in the dataset's bucket. May be repeated."},
      ValueFlag{"--remove", "KEY", "A shard that goes. May be repeated."},
      ValueFlag{"--delete", "SAMPLE", "The key of samples that go. May be repeated."},
      ValueFlag{"--base", "N", "Only if this is still the last version."},
      kMessage,
      kTransaction};
  return run_call("dataset commit", invocation, commit, {.switches = kSwitches, .flags = kFlags});
}

Exit run_dataset_adopt(const Invocation& invocation) {
  static constexpr std::array kSwitches = {
      Switch{"--objects", "Plain objects, not tars: they become virtual shards."}};
  static constexpr std::array kFlags = {
      ValueFlag{"--prefix", "P", "Of the keys to take [NAME/]."},
      ValueFlag{"--shard-size", "SIZE", "Of virtual shards [64MiB]."}, kMessage, kTransaction};
  return run_call("dataset adopt", invocation, adopt, {.switches = kSwitches, .flags = kFlags});
}

Exit run_dataset_tag(const Invocation& invocation) {
  return run_call("dataset tag", invocation, tag, {.switches = kTagSwitches, .words_max = 2});
}

Exit run_dataset_restore(const Invocation& invocation) {
  static constexpr std::array kFlags = {kMessage, kTransaction};
  return run_call("dataset restore", invocation, restore, {.flags = kFlags});
}

Exit run_dataset_vacuum(const Invocation& invocation) {
  static constexpr std::array kFlags = {
      ValueFlag{"--keep", "TIME", "Versions that are younger stay [7d]."}};
  return run_call("dataset vacuum", invocation, vacuum, {.switches = kDry, .flags = kFlags});
}

Exit run_dataset_rm(const Invocation& invocation) {
  return run_call("dataset rm", invocation, rm, {.switches = kYes});
}

}  // namespace leat::programs
