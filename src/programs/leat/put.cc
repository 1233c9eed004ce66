#include <fmt/format.h>

#include "leat/dataset_put.h"
#include "leat/routes.h"
#include "leat/subcommands.h"
#include "leat/table.h"

namespace leat::programs {
namespace {

constexpr std::string_view kEpilogue =
    "  leat put cat.jpg photos/               an object photos/cat.jpg\n"
    "  leat put ./train imagenet/train        a folder, packed into the dataset imagenet/train\n"
    "  leat put ./pictures photos/2026 --objects  its files, one object each\n"
    "  tar c . | leat put - backup/home.tar   what comes from stdin\n"
    "\n"
    "A folder becomes the next version of a dataset: files whose names differ in the extension\n"
    "only are one sample; samples are shuffled and packed into tars. leat dataset --help tells "
    "more.\n"
    "With --objects, and for files and stdin, each becomes an object.\n"
    "\n"
    "What is there is not sent again, so that the same command goes on after an interruption.\n"
    "Every byte is verified by the service against a CRC64NVME made here. Exit codes: 3 some\n"
    "files failed; docs/reference/cli.md.";

constexpr auto kPutSwitches = joined(
    std::array{Switch{"--objects", "One object for each file of a folder, instead of a dataset."}},
    kTransferSwitches, kIngestSwitches);
constexpr auto kPutFlags = joined(kUploadFlags, kIngestFlags);

rt::Task<bool> is_folder(Session& session, const transfer::Location& source) {
  if (source.is_stream()) co_return false;
  auto look = [&disk = session.tools().disk, path = source.path] { return disk.info(path); };
  auto looking = session.tools().pool.run<io::FileInfo>(std::move(look));
  const auto info = co_await std::move(looking);
  co_return info && info->is_directory;
}

// A folder is a dataset, unless it is to be objects.
rt::Task<bool> is_dataset(Session& session, const std::vector<transfer::Location>& sources) {
  if (session.arguments.has("--objects")) co_return false;
  for (const transfer::Location& source : sources) {
    LEAT_CO_TRY(const bool folder, co_await is_folder(session, source));
    if (!folder) continue;
    if (sources.size() == 1) co_return true;
    co_return fail(Errc::bad_request,
                   fmt::format("{} is a folder among others: --objects sends their files, `leat "
                               "dataset put` packs folders into one dataset",
                               source.path));
  }
  co_return false;
}

rt::Task<Exit> put(Session& session) {
  const auto& words = session.words();
  LEAT_CO_TRY(const auto target, transfer::parse_object(words.back()));
  std::vector<transfer::Location> sources;
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    sources.push_back(transfer::parse_file(words[i], session.settings.home));
  LEAT_CO_TRY(const bool packs, co_await is_dataset(session, sources));
  if (packs) {
    auto name = dataset_name(words.back());
    if (!name) {
      co_return fail(Errc::bad_request,
                     fmt::format("{}; --objects sends the files of {} as objects",
                                 name.error().detail(), words.front()));
    }
    for (const ValueFlag& flag : kContentFlags) {
      if (!session.arguments.values.contains(flag.flag)) continue;
      co_return fail(Errc::bad_request, fmt::format("{} is for objects: --objects makes some of {}",
                                                    flag.flag, words.front()));
    }
    std::vector<std::string> folder{words.front()};
    co_return co_await run_ingest(session, std::move(folder), *name, ingest::Purpose::replace);
  }
  if (sources.size() == 1 && sources.front().is_stream()) {
    co_return co_await put_stream(session, target.object);
  }
  LEAT_CO_DO(co_await check_targets(session, sources, target));
  TransferRun run(session, session.members());
  LEAT_CO_TRY(const auto how, tree_of(session, run));
  co_return co_await run_routes(session, run, sources, target, how);
}

}  // namespace

Exit run_put(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("put"),
                        .positional = "SOURCE… TARGET",
                        .positionals_min = 2,
                        .positionals_max = 100'000,
                        .switches = kPutSwitches,
                        .value_flags = kPutFlags,
                        .is_client = true,
                        .epilogue = kEpilogue};
  return run_client(grammar, invocation, {put, 0});
}

}  // namespace leat::programs
