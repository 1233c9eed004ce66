#include "leat/routes.h"
#include "leat/subcommands.h"
#include "leat/table.h"

namespace leat::programs {
namespace {

constexpr std::string_view kEpilogue =
    "  leat get photos/cat.jpg              into ./cat.jpg\n"
    "  leat get photos/cat.jpg /tmp/c.jpg   into that file\n"
    "  leat get -r imagenet/train ./train   all objects below imagenet/train/, into a folder\n"
    "  leat get photos/cat.jpg -            to stdout, as leat cat does\n"
    "\n"
    "A file appears under its name when all of its bytes are there and were verified. Files that\n"
    "are there with the same bytes are not fetched again; large ones continue in their middle\n"
    "(NAME.leat-part). Keys that would leave the folder are refused.";

rt::Task<Exit> get(Session& session) {
  std::vector<std::string> words = session.words();
  transfer::Location target = transfer::parse_file(".", "");
  if (words.size() > 1) {
    target = transfer::parse_file(words.back(), session.settings.home);
    words.pop_back();
  }
  std::vector<transfer::Location> sources;
  for (const std::string& word : words) {
    LEAT_CO_TRY(auto source, transfer::parse_object(word));
    sources.push_back(std::move(source));
  }
  if (target.is_stream()) co_return co_await get_streams(session, std::move(sources));
  LEAT_CO_DO(co_await check_targets(session, sources, target));
  std::string shown_root;
  const bool is_tree = session.arguments.has("--recursive");
  LEAT_CO_TRY(auto members, members_for(session, target, is_tree, shown_root));
  TransferRun run(session, std::move(members), shown_root);
  LEAT_CO_TRY(const auto how, tree_of(session, run));
  co_return co_await run_routes(session, run, sources, target, how);
}

constexpr std::string_view kCatEpilogue =
    "  leat cat logs/today.txt | tail\n"
    "\n"
    "Goes on where the connection broke. Whether the bytes were good is known at their end: then\n"
    "the exit code is 8 if they were not.";

rt::Task<Exit> cat(Session& session) {
  std::vector<transfer::Location> sources;
  for (const std::string& word : session.words()) {
    LEAT_CO_TRY(auto source, transfer::parse_object(word));
    sources.push_back(std::move(source));
  }
  co_return co_await get_streams(session, std::move(sources));
}

}  // namespace

Exit run_get(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("get"),
                        .positional = "SOURCE… TARGET",
                        .positionals_min = 1,
                        .positionals_max = 100'000,
                        .switches = kTransferSwitches,
                        .value_flags = kTransferFlags,
                        .is_client = true,
                        .epilogue = kEpilogue};
  return run_client(grammar, invocation, {get, 0});
}

Exit run_cat(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("cat"),
                        .positional = "SOURCE…",
                        .positionals_min = 1,
                        .positionals_max = 100'000,
                        .is_client = true,
                        .epilogue = kCatEpilogue};
  return run_client(grammar, invocation, {cat});
}

}  // namespace leat::programs
