// cp, mv and sync: between files and objects, in any direction.
#include <fmt/format.h>

#include <algorithm>

#include "leat/harmless.h"
#include "leat/routes.h"
#include "leat/subcommands.h"
#include "leat/table.h"
#include "s3client/operations.h"

namespace leat::programs {
namespace {

using transfer::Location;

constexpr std::string_view kCpEpilogue =
    "  leat cp photos/a.jpg photos/b.jpg    on the service; no byte comes here\n"
    "  leat cp -r photos/2026 archive/2026\n"
    "  leat cp ./a.jpg photos/              as leat put\n"
    "  leat cp photos/a.jpg ./a.jpg         as leat get\n"
    "\n"
    "Paths of files start with '.', '/' or '~'; all others are objects.";

constexpr std::string_view kMvEpilogue =
    "  leat mv photos/a.jpg photos/b.jpg\n"
    "  leat mv -r ./inbox photos/inbox\n"
    "\n"
    "A source is removed once its target is there. Paths of files start with '.', '/' or '~'.";

constexpr std::string_view kSyncEpilogue =
    "  leat sync ./train imagenet/train            what is new or has changed\n"
    "  leat sync imagenet/train ./train --delete   also removes what the source does not have\n"
    "  leat sync ./train imagenet/train --delete --dry-run\n"
    "  leat sync ./train imagenet/train --exclude .git/ --exclude '*.tmp'\n"
    "\n"
    "Files and objects of the same size whose times do not tell are compared by checksum.\n"
    "--checksum compares all of them so. What --exclude names is neither sent nor removed.\n"
    "Paths of files start with '.', '/' or '~'.";

constexpr auto kSyncSwitches =
    joined(kSendingSwitches, kComparingSwitches,
           std::array{Switch{"--delete", "Remove from the target what the source does not have."},
                      Switch{"-y,--yes", "With --delete: also if the source is empty."}});

struct Ends {
  std::vector<Location> sources{};
  Location target{};
};

Result<Ends> ends_of(const Session& session) {
  Ends ends;
  const auto& words = session.words();
  LEAT_TRY(ends.target, transfer::parse_location(words.back(), session.settings.home));
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    LEAT_TRY(auto source, transfer::parse_location(words[i], session.settings.home));
    if (source.is_file() && ends.target.is_file()) {
      return fail(Errc::bad_request,
                  fmt::format("{} and {} are both files: cp(1) is for these; objects are written "
                              "BUCKET/KEY",
                              source.text(), ends.target.text()));
    }
    ends.sources.push_back(std::move(source));
  }
  return ends;
}

// What goes from object to object keeps its type and metadata, and files have none.
Status check_content(const Session& session, const std::vector<Location>& sources) {
  for (const ValueFlag& flag : kContentFlags) {
    if (!session.arguments.values.contains(flag.flag)) continue;
    const auto object = std::ranges::find_if(sources, &Location::is_object);
    if (object == sources.end()) continue;
    return fail(Errc::bad_request,
                fmt::format("{} is for files that are sent, and {} is an object: what it has stays "
                            "with it",
                            flag.flag, object->text()));
  }
  return {};
}

// A bucket that answers before a write is on the disk may lose what was moved to it, after its
// source is gone for good.
rt::Task<void> check_durable(Session& session, std::string bucket) {
  s3client::Request request{.method = "GET"};
  request.name.bucket = bucket;
  request.query = {{"leat-durability", ""}};
  const auto answer = co_await session.client().ask(request);
  // Other services take it for a listing or refuse it, and are durable when they answer.
  const bool is_late = answer && (answer->body == "group" || answer->body == "relaxed");
  if (!is_late) co_return Status{};
  co_return fail(Errc::conflict,
                 fmt::format("{0} answers writes before they are on the disk (durability={1}), and "
                             "a power cut could take both sides of a move: `leat cp` and later "
                             "remove the source, or `leat bucket set {0} durability=sync`",
                             bucket, answer->body));
}

rt::Task<Exit> copy_or_move(Session& session, bool remove_source) {
  LEAT_CO_TRY(Ends ends, ends_of(session));
  LEAT_CO_DO(check_content(session, ends.sources));
  const bool from_stream = ends.sources.front().is_stream();
  if (from_stream || ends.target.is_stream()) {
    if (remove_source) co_return fail(Errc::bad_request, "a stream cannot be moved: use leat cp");
    if (!from_stream) co_return co_await get_streams(session, std::move(ends.sources));
    if (ends.target.is_object()) co_return co_await put_stream(session, ends.target.object);
    co_return fail(Errc::bad_request, "stdin goes to an object: BUCKET/KEY");
  }
  LEAT_CO_DO(co_await check_targets(session, ends.sources, ends.target));
  const bool may_lose = remove_source && ends.target.is_object();
  if (may_lose) LEAT_CO_DO(co_await check_durable(session, ends.target.object.bucket));
  std::string shown_root;
  const bool is_tree = session.arguments.has("--recursive");
  LEAT_CO_TRY(auto members, members_for(session, ends.target, is_tree, shown_root));
  TransferRun run(session, std::move(members), shown_root);
  LEAT_CO_TRY(auto how, tree_of(session, run));
  how.remove_source = remove_source;
  co_return co_await run_routes(session, run, ends.sources, ends.target, how);
}

rt::Task<Exit> cp(Session& session) {
  return copy_or_move(session, /*remove_source=*/false);
}

rt::Task<Exit> mv(Session& session) {
  return copy_or_move(session, /*remove_source=*/true);
}

// Nothing is in the source, as it is where a volume is not mounted.
Error empty_source(const Location& source) {
  return {Errc::not_found,
          fmt::format("nothing is below {}; --delete would remove all of the target: --yes does it",
                      source.text())};
}

rt::Task<void> check_any(std::unique_ptr<transfer::EntrySource> all,
                         const transfer::NameFilter& filter, const Location& source) {
  transfer::FilteredEntries entries(std::move(all), filter);
  LEAT_CO_TRY(const auto first, co_await entries.next());
  if (!first) co_return fail(empty_source(source));
  co_return Status{};
}

// A source that is not there must not be taken for an empty one.
rt::Task<void> check_source(Session& session, const Location& source) {
  LEAT_CO_TRY(const auto filter, filter_of(session.arguments));
  const bool may_be_empty = !session.arguments.has("--delete") || session.arguments.has("--yes");
  if (source.is_file()) {
    auto work = [&disk = session.tools().disk, path = source.path] { return disk.info(path); };
    auto looking = session.tools().pool.run<io::FileInfo>(std::move(work));
    LEAT_CO_TRY(const auto info, co_await std::move(looking));
    if (!info.is_directory) {
      co_return fail(Errc::bad_request, source.path + " is no folder: `leat put` sends files");
    }
    if (may_be_empty) co_return Status{};
    const transfer::FileEntries::Ground ground{session.tools().disk, session.tools().pool};
    // What cannot be looked at is told when the tree is planned.
    const auto pass_over = [](const std::string&, const Error&) {};
    auto files = std::make_unique<transfer::FileEntries>(ground, source.path, pass_over);
    co_return co_await check_any(std::move(files), filter, source);
  }
  if (may_be_empty) co_return Status{};
  auto objects = std::make_unique<transfer::ObjectEntries>(session.client(), source.object.bucket,
                                                           transfer::folder_prefix(source.object));
  co_return co_await check_any(std::move(objects), filter, source);
}

rt::Task<Exit> sync(Session& session) {
  LEAT_CO_TRY(Ends ends, ends_of(session));
  Location& source = ends.sources.front();
  if (source.is_stream() || ends.target.is_stream()) {
    co_return fail(Errc::bad_request, "a stream cannot be synchronised: use leat put or leat get");
  }
  LEAT_CO_DO(co_await check_source(session, source));
  std::string shown_root;
  LEAT_CO_TRY(auto members, members_for(session, ends.target, /*is_tree=*/true, shown_root));
  TransferRun run(session, std::move(members), shown_root);
  LEAT_CO_TRY(auto tree, tree_of(session, run));
  tree.source = source;
  tree.target = ends.target;
  tree.rules.remove_extra = session.arguments.has("--delete");
  // Two trees that are both empty are alike; but it may not be what was meant.
  tree.found_nothing = [&session](const Error& error) {
    if (!session.is_quiet()) fmt::print(stderr, "leat: {}\n", harmless(error.detail()));
  };
  tree.kept = [](std::uint64_t count) {
    fmt::print(stderr,
               "leat: {} that the source does not have were not removed: some of it could not be "
               "looked at. Mend that, and run the same command again\n",
               count);
  };
  run.start();
  Status planned = co_await transfer::add_tree(run.tools(), run.crew(), std::move(tree));
  co_return co_await run.finish(std::move(planned));
}

Grammar grammar_of(std::string_view name, std::string_view epilogue) {
  return {.command = find_command(name),
          .positional = "SOURCE… TARGET",
          .positionals_min = 2,
          .positionals_max = 100'000,
          .switches = kTransferSwitches,
          .value_flags = kUploadFlags,
          .is_client = true,
          .epilogue = epilogue};
}

}  // namespace

Exit run_cp(const Invocation& invocation) {
  return run_client(grammar_of("cp", kCpEpilogue), invocation, {cp, 0});
}

Exit run_mv(const Invocation& invocation) {
  return run_client(grammar_of("mv", kMvEpilogue), invocation, {mv, 0});
}

Exit run_sync(const Invocation& invocation) {
  const Grammar two{.command = find_command("sync"),
                    .positional = "SOURCE TARGET",
                    .positionals_min = 2,
                    .positionals_max = 2,
                    .switches = kSyncSwitches,
                    .value_flags = kTransferFlags,
                    .is_client = true,
                    .epilogue = kSyncEpilogue};
  return run_client(two, invocation, {sync, 0});
}

}  // namespace leat::programs
