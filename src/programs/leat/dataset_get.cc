// dataset get: a version as files, or as tars.
#include <fmt/format.h>

#include <array>

#include "dataset/dataset.h"
#include "ingest/export.h"
#include "leat/dataset.h"
#include "leat/dataset_put.h"
#include "leat/json_text.h"
#include "leat/progress_display.h"
#include "leat/routes.h"
#include "leat/say.h"
#include "leat/table.h"

namespace leat::programs {
namespace {

constexpr std::uint64_t kFailuresShownMax = 20;

constexpr std::array kSwitches = {
    Switch{"--tars", "The shards, not their files."},
    Switch{"--with-classes", "Also the field cls that was made of the names of folders."},
    Switch{"-f,--force", "Into a folder that has files; those of the same name are replaced."},
};

constexpr std::string_view kEpilogue =
    "  leat dataset get imagenet/train@7 ./train          files, as they were packed\n"
    "  leat dataset get imagenet/train ./shards --tars    tars for tar, webdataset and others\n"
    "\n"
    "Files get the time of now. Exit codes: 3 some files could not be written, 6 the folder is "
    "not\n"
    "empty, 8 a shard is damaged.";

Status check_empty(Session& session, const std::string& folder) {
  io::Disk& disk = session.tools().disk;
  LEAT_DO(disk.make_directories(folder));
  if (session.arguments.has("--force")) return {};
  LEAT_TRY(const auto names, disk.list(folder));
  if (names.empty()) return {};
  return fail(Errc::conflict, fmt::format("{} is not empty; --force writes into it", folder));
}

// Lifetime: all arguments outlive the task.
rt::Task<void> add_tar(const dataset::Dataset& dataset, std::uint32_t number, TransferRun& run,
                       const transfer::Tree& how, s3client::S3Client& client) {
  LEAT_CO_TRY(const snapshot::ShardEntry shard, dataset.view().shard(number));
  transfer::Single single{.size_bytes = shard.size_bytes};
  LEAT_CO_TRY(single.source.object, co_await ingest::find_tar(client, dataset, number));
  single.target.kind = transfer::Location::Kind::file;
  single.target.path = fmt::format("{:06}.tar", number);
  co_return co_await run.crew().add(transfer::single_job(single, how));
}

rt::Task<Exit> get_tars(Session& session, const dataset::Dataset& dataset, std::string folder) {
  LEAT_CO_TRY(const auto members, session.members_below(folder));
  TransferRun run(session, members, folder);
  LEAT_CO_TRY(const transfer::Tree how, tree_of(session, run));
  run.start();
  Status planned;
  for (std::uint32_t i = 0; planned && i < dataset.view().shard_count(); ++i)
    planned = co_await add_tar(dataset, i, run, how, session.client());
  co_return co_await run.finish(std::move(planned));
}

rt::Task<Exit> get_files(Session& session, const dataset::Dataset& dataset, std::string folder) {
  LEAT_CO_TRY(const auto members, session.members_below(folder));
  transfer::Tools& tools = *members.front();
  tools.counters.bytes_total = dataset.facts().bytes;
  const auto display = std::make_shared<ProgressDisplay>(session, tools.counters);
  if (!session.is_quiet() && !session.wants_json()) {
    tools.shard.spawn(ProgressDisplay::run(display), [](const Status&) {});
  }
  std::uint64_t failures = 0;
  const ingest::Complain complain = [&](const std::string& path, const Error& error) {
    display->clear();
    const std::string_view reason =
        error.detail().empty() ? traits(error.code()).name : error.detail();
    if (++failures <= kFailuresShownMax) fmt::print(stderr, "leat: {}: {}\n", path, reason);
  };
  const ingest::ExportOptions options{.overwrites = session.arguments.has("--force"),
                                      .with_classes = session.arguments.has("--with-classes")};
  const auto report = co_await ingest::export_files(tools, dataset, options, complain);
  display->end();
  if (!report) co_return fail(report.error());
  if (session.wants_json()) {
    say("{}\n", json_text({{"type", "summary"},
                           {"dataset", dataset.facts().reference()},
                           {"files", report->files},
                           {"bytes", report->bytes},
                           {"failed", report->failed}}));
  } else if (!session.is_quiet()) {
    fmt::print(stderr, "{}: {} files, {}\n", dataset.facts().reference(),
               number_text(report->files), human_bytes(report->bytes));
  }
  co_return report->failed > 0 ? Exit::partly : Exit::done;
}

rt::Task<Exit> get(Session& session) {
  const auto& words = session.words();
  LEAT_CO_TRY(const std::string name, dataset_name(words.front()));
  const transfer::Location target = transfer::parse_file(words.back(), session.settings.home);
  if (target.is_stream()) co_return fail(Errc::bad_request, "a dataset goes to a folder");
  LEAT_CO_TRY(const auto dataset, co_await dataset::open_dataset(session.client(), name));
  session.set_interrupt_advice("the folder is not complete; --force writes it anew.");
  auto check = [&session, path = target.path] { return check_empty(session, path); };
  auto checking = session.tools().pool.run<void>(std::move(check));
  LEAT_CO_DO(co_await std::move(checking));
  if (session.arguments.has("--tars")) co_return co_await get_tars(session, *dataset, target.path);
  co_return co_await get_files(session, *dataset, target.path);
}

}  // namespace

Exit run_dataset_get(const Invocation& invocation) {
  const Grammar grammar{.command = find_verb("dataset get"),
                        .positional = "DATASET DIR",
                        .positionals_min = 2,
                        .positionals_max = 2,
                        .switches = kSwitches,
                        .value_flags = kTransferFlags,
                        .is_client = true,
                        .epilogue = kEpilogue};
  return run_client(grammar, invocation, {get, 0});
}

}  // namespace leat::programs
