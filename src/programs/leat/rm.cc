#include <fmt/format.h>

#include <array>

#include "leat/change.h"
#include "leat/routes.h"
#include "leat/say.h"
#include "leat/several.h"
#include "leat/subcommands.h"
#include "leat/table.h"
#include "leat/transfer_run.h"
#include "s3client/operations.h"

namespace leat::programs {
namespace {

using s3client::ObjectName;

constexpr std::size_t kKeysMax = 1000;

constexpr std::array kRmSwitches = {
    Switch{"-r,--recursive", "All objects below a prefix, or of a bucket."},
    Switch{"-n,--dry-run", "Say what would be removed, and remove nothing."},
    Switch{"-y,--yes", "Do not ask."},
    Switch{"-v,--verbose", "A line for each object."},
};

constexpr std::string_view kRmEpilogue =
    "  leat rm photos/cat.jpg\n"
    "  leat rm -r photos/2026 --dry-run\n"
    "  leat rm -r photos/2026         asks first; scripts pass --yes\n"
    "  leat rm -r photos --include '*.tmp'\n"
    "\n"
    "Exit code 4 for an object that is not there, and for a prefix with nothing below it.";

transfer::Job remove_job(std::string bucket, std::vector<std::string> keys, bool is_dry) {
  transfer::Job job{.action = transfer::Action::remove, .is_dry = is_dry};
  job.target.bucket = std::move(bucket);
  job.keys = std::move(keys);
  return job;
}

// Everything below a prefix that the filter takes, a thousand at a time. Returns how many.
rt::Task<std::uint64_t> add_all(TransferRun& run, ObjectName name,
                                const transfer::NameFilter& filter) {
  std::string prefix = transfer::folder_prefix(name);
  const std::string folder = prefix;
  auto all =
      std::make_unique<transfer::ObjectEntries>(run.tools().client, name.bucket, std::move(prefix));
  transfer::FilteredEntries entries(std::move(all), filter);
  std::uint64_t found = 0;
  std::vector<std::string> keys;
  while (true) {
    LEAT_CO_TRY(auto entry, co_await entries.next());
    if (entry) keys.push_back(folder + entry->name);
    if (keys.empty()) co_return found;
    if (entry && keys.size() < kKeysMax) continue;
    found += keys.size();
    auto job = remove_job(name.bucket, std::exchange(keys, {}), run.is_dry());
    LEAT_CO_DO(co_await run.crew().add(std::move(job)));
    if (!entry) co_return found;
  }
}

rt::Task<void> add_tree(TransferRun& run, ObjectName name, const transfer::NameFilter& filter) {
  LEAT_CO_TRY(const std::uint64_t found, co_await add_all(run, name, filter));
  if (found > 0) co_return Status{};
  const std::string_view which = filter.takes_all() ? "" : " that --include and --exclude leave";
  co_return fail(Errc::not_found,
                 fmt::format("nothing is below {}{}; `leat ls {}/` shows what is there",
                             name.text(), which, name.bucket));
}

rt::Task<void> add_one(TransferRun& run, ObjectName name) {
  if (name.key.empty()) {
    co_return fail(
        Errc::bad_request,
        fmt::format("{0} is a bucket: `leat rb {0}` removes it, -r its objects", name.bucket));
  }
  LEAT_CO_DO(co_await s3client::head_object(run.tools().client, name));
  std::vector<std::string> keys = {name.key};
  auto job = remove_job(name.bucket, std::move(keys), run.is_dry());
  co_return co_await run.crew().add(std::move(job));
}

Status ask_for_all(const Session& session) {
  if (!session.arguments.has("--recursive") || session.arguments.has("--dry-run")) return {};
  std::string names;
  for (const std::string& word : session.words())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", word);
  return confirm(session, fmt::format("Remove all objects below {}", names));
}

rt::Task<Exit> rm(Session& session) {
  LEAT_CO_DO(ask_for_all(session));
  const bool is_tree = session.arguments.has("--recursive");
  LEAT_CO_TRY(const auto filter, filter_of(session.arguments));
  if (!is_tree) LEAT_CO_DO(refuse_filter(filter, session.words().front()));
  TransferRun run(session, session.members());
  run.start();
  Status planned;
  for (const std::string& word : session.words()) {
    const auto location = transfer::parse_object(word);
    Status added = location ? Status{} : fail(location.error());
    if (added && is_tree) added = co_await add_tree(run, location->object, filter);
    if (added && !is_tree) added = co_await add_one(run, location->object);
    if (added) continue;
    if (session.words().size() > 1) {
      run.complain(word, added.error());
    } else {
      planned = std::move(added);
    }
  }
  co_return co_await run.finish(std::move(planned));
}

constexpr std::string_view kMbEpilogue =
    "  leat mb photos\n"
    "\n"
    "Exit code 6 if it is there; not with --exist-ok.";

constexpr std::array kMbSwitches = {
    Switch{"--exist-ok", "A bucket that is there already is fine."},
    kDrySwitch,
};

// With --dry-run it is only looked whether it could be made.
rt::Task<void> make_bucket(Session& session, std::string bucket) {
  if (!session.arguments.has("--dry-run")) {
    co_return co_await s3client::create_bucket(session.client(), bucket,
                                               session.settings.signer.region);
  }
  const Status there = co_await s3client::head_bucket(session.client(), bucket);
  if (there)
    co_return fail(Errc::conflict, fmt::format("{}: --exist-ok takes it as it is", bucket));
  if (there.error().code() == Errc::not_found) co_return Status{};
  co_return fail(there.error().clone());
}

rt::Task<Exit> mb_one(Session& session, std::string word) {
  LEAT_CO_TRY(const auto location, transfer::parse_object(word));
  const std::string& bucket = location.object.bucket;
  if (!location.object.key.empty()) {
    co_return fail(Errc::bad_request, fmt::format("{} is no name of a bucket", word));
  }
  Status made = co_await make_bucket(session, bucket);
  const bool is_there = !made && made.error().code() == Errc::conflict;
  if (!made && !(is_there && session.arguments.has("--exist-ok"))) {
    co_return fail(std::move(made).error());
  }
  const Change change{.type = "bucket",
                      .action = "make",
                      .name = bucket,
                      .done = is_there ? bucket + " is there" : "made " + bucket};
  tell(session.arguments, change, !is_there);
  co_return Exit::done;
}

rt::Task<Exit> mb(Session& session) {
  Several several(session, session.words().size());
  for (const std::string& word : session.words()) {
    auto outcome = co_await mb_one(session, word);
    several.ended(word, std::move(outcome));
  }
  co_return several.exit();
}

constexpr std::array kRbSwitches = {
    Switch{"-f,--force", "Also its objects, versions and unfinished uploads; asks first."},
    Switch{"-n,--dry-run", "Say what would be removed, and remove nothing."},
    Switch{"-y,--yes", "Do not ask."},
    Switch{"-v,--verbose", "A line for each object."},
};

constexpr std::string_view kRbEpilogue =
    "  leat rb photos\n"
    "  leat rb --force --yes photos   with all that is in it: objects, old versions, delete\n"
    "                                 markers, and uploads that nobody completed\n"
    "\n"
    "Exit code 6 for a bucket that is not empty.";

// All versions and delete markers, a page at a time.
rt::Task<void> add_versions(TransferRun& run, std::string bucket) {
  s3client::ListMarker after;
  while (true) {
    auto listing = s3client::list_versions(run.tools().client, bucket, after);
    LEAT_CO_TRY(auto page, co_await std::move(listing));
    std::vector<std::string> keys;
    std::vector<std::string> versions;
    for (s3client::ListedVersion& version : page.versions) {
      keys.push_back(std::move(version.key));
      versions.push_back(std::move(version.id));
    }
    if (!keys.empty()) {
      auto job = remove_job(bucket, std::move(keys), run.is_dry());
      job.versions = std::move(versions);
      LEAT_CO_DO(co_await run.crew().add(std::move(job)));
    }
    if (!page.next) co_return Status{};
    after = std::move(*page.next);
  }
}

rt::Task<void> abort_uploads(Session& session, std::string bucket) {
  const bool is_dry = session.arguments.has("--dry-run");
  s3client::ListMarker after;
  while (true) {
    auto listing = s3client::list_uploads(session.client(), bucket, after);
    LEAT_CO_TRY(auto page, co_await std::move(listing));
    for (s3client::ListedVersion& one : page.uploads) {
      s3client::Upload upload{.name = {bucket, one.key}, .id = one.id};
      if (is_dry) {
        tell(session.arguments, {.type = "upload",
                                 .action = "abort",
                                 .name = upload.name.text(),
                                 .shown = fmt::format("the upload of {}", upload.name.text())});
        continue;
      }
      const Status aborted = co_await s3client::abort_upload(session.client(), std::move(upload));
      // Completed or aborted by somebody else meanwhile.
      if (!aborted && aborted.error().code() != Errc::not_found) co_return fail(aborted.error());
    }
    if (!page.next) co_return Status{};
    after = std::move(*page.next);
  }
}

rt::Task<Exit> empty_bucket(Session& session, ObjectName bucket) {
  LEAT_CO_TRY(const bool has_versions,
              co_await s3client::keeps_versions(session.client(), bucket.bucket));
  if (!session.arguments.has("--dry-run")) {
    LEAT_CO_DO(confirm(session, fmt::format("Remove the bucket {} and all of its objects{}",
                                            bucket.bucket, has_versions ? " and versions" : "")));
  }
  TransferRun run(session, session.members());
  run.start();
  Status planned;
  if (has_versions) {
    planned = co_await add_versions(run, bucket.bucket);
  } else {
    const transfer::NameFilter all;
    const auto found = co_await add_all(run, bucket, all);
    if (!found) planned = fail(found.error());
  }
  LEAT_CO_TRY(const Exit emptied, co_await run.finish(std::move(planned)));
  if (emptied == Exit::done) LEAT_CO_DO(co_await abort_uploads(session, bucket.bucket));
  co_return emptied;
}

rt::Task<Exit> rb_one(Session& session, std::string word) {
  LEAT_CO_TRY(const auto location, transfer::parse_object(word));
  if (!location.object.key.empty()) {
    co_return fail(Errc::bad_request,
                   fmt::format("{} is no name of a bucket; `leat rm` removes objects", word));
  }
  if (session.arguments.has("--force")) {
    LEAT_CO_TRY(const Exit emptied, co_await empty_bucket(session, location.object));
    if (emptied != Exit::done) co_return emptied;
  }
  const std::string& bucket = location.object.bucket;
  if (session.arguments.has("--dry-run")) {
    LEAT_CO_DO(co_await s3client::head_bucket(session.client(), bucket));
  } else {
    LEAT_CO_DO(co_await s3client::delete_bucket(session.client(), bucket));
  }
  tell(session.arguments, {.type = "bucket",
                           .action = "remove",
                           .name = bucket,
                           .done = fmt::format("removed {}", bucket)});
  co_return Exit::done;
}

rt::Task<Exit> rb(Session& session) {
  Several several(session, session.words().size());
  for (const std::string& word : session.words()) {
    auto outcome = co_await rb_one(session, word);
    several.ended(word, std::move(outcome));
  }
  co_return several.exit();
}

}  // namespace

Exit run_rm(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("rm"),
                        .positional = "BUCKET/KEY…",
                        .positionals_min = 1,
                        .positionals_max = 100'000,
                        .switches = kRmSwitches,
                        .value_flags = kFilterFlags,
                        .is_client = true,
                        .epilogue = kRmEpilogue};
  return run_client(grammar, invocation, {rm});
}

Exit run_mb(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("mb"),
                        .positional = "BUCKET…",
                        .positionals_min = 1,
                        .positionals_max = 1000,
                        .switches = kMbSwitches,
                        .is_client = true,
                        .epilogue = kMbEpilogue};
  return run_client(grammar, invocation, {mb});
}

Exit run_rb(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("rb"),
                        .positional = "BUCKET…",
                        .positionals_min = 1,
                        .positionals_max = 1000,
                        .switches = kRbSwitches,
                        .is_client = true,
                        .epilogue = kRbEpilogue};
  return run_client(grammar, invocation, {rb});
}

}  // namespace leat::programs
