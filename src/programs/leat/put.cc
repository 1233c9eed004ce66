#include "leat/routes.h"
#include "leat/subcommands.h"
#include "leat/table.h"

namespace leat::programs {
namespace {

constexpr std::string_view kEpilogue =
    "  leat put cat.jpg photos/             an object photos/cat.jpg\n"
    "  leat put ./train imagenet/train      the files of a folder, below imagenet/train/\n"
    "  tar c . | leat put - backup/home.tar what comes from stdin\n"
    "\n"
    "Objects that are there with the same bytes are not sent again, so that the same command goes\n"
    "on after an interruption; large files continue in their middle. Every byte is verified by "
    "the\n"
    "service against a CRC64NVME made here. Exit codes: 3 some files failed; "
    "docs/reference/cli.md.";

rt::Task<Exit> put(Session& session) {
  const auto& words = session.words();
  LEAT_CO_TRY(const auto target, transfer::parse_object(words.back()));
  std::vector<transfer::Location> sources;
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    sources.push_back(transfer::parse_file(words[i], session.settings.home));
  if (sources.size() == 1 && sources.front().is_stream()) {
    co_return co_await put_stream(session, target.object);
  }
  LEAT_CO_DO(co_await check_targets(session, sources, target));
  TransferRun run(session, session.members());
  LEAT_CO_TRY(const auto how, tree_of(session, run));
  run.start();
  Status planned;
  for (const transfer::Location& source : sources) {
    Route route{.source = source, .target = target, .is_shared = sources.size() > 1};
    const Status added = co_await add_route(session, run, route, how);
    if (added) continue;
    if (sources.size() > 1) {
      run.complain(source.text(), added.error());
    } else {
      planned = fail(added.error());
    }
  }
  co_return co_await run.finish(std::move(planned));
}

}  // namespace

Exit run_put(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("put"),
                        .positional = "SOURCE… TARGET",
                        .positionals_min = 2,
                        .positionals_max = 100'000,
                        .switches = kTransferSwitches,
                        .value_flags = kUploadFlags,
                        .is_client = true,
                        .epilogue = kEpilogue};
  return run_client(grammar, invocation, {put, 0});
}

}  // namespace leat::programs
