#include <fmt/format.h>

#include <array>

#include "leat/say.h"
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
    "\n"
    "Exit code 4 for an object that is not there.";

transfer::Job remove_job(std::string bucket, std::vector<std::string> keys, bool is_dry) {
  transfer::Job job{.action = transfer::Action::remove, .is_dry = is_dry};
  job.target.bucket = std::move(bucket);
  job.keys = std::move(keys);
  return job;
}

// Everything below a prefix, a thousand at a time.
rt::Task<void> add_all(TransferRun& run, ObjectName name) {
  std::string prefix = transfer::folder_prefix(name);
  const std::string folder = prefix;
  transfer::ObjectEntries entries(run.tools().client, name.bucket, std::move(prefix));
  std::vector<std::string> keys;
  while (true) {
    LEAT_CO_TRY(auto entry, co_await entries.next());
    if (entry) keys.push_back(folder + entry->name);
    if (keys.empty()) co_return Status{};
    if (entry && keys.size() < kKeysMax) continue;
    auto job = remove_job(name.bucket, std::exchange(keys, {}), run.is_dry());
    LEAT_CO_DO(co_await run.crew().add(std::move(job)));
    if (!entry) co_return Status{};
  }
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
  TransferRun run(session, session.members());
  run.start();
  Status planned;
  for (const std::string& word : session.words()) {
    const auto location = transfer::parse_object(word);
    Status added = location ? Status{} : fail(location.error());
    if (added && is_tree) added = co_await add_all(run, location->object);
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
};

rt::Task<Exit> mb(Session& session) {
  for (const std::string& word : session.words()) {
    LEAT_CO_TRY(const auto location, transfer::parse_object(word));
    const std::string& bucket = location.object.bucket;
    if (!location.object.key.empty()) {
      co_return fail(Errc::bad_request, fmt::format("{} is no name of a bucket", word));
    }
    Status made =
        co_await s3client::create_bucket(session.client(), bucket, session.settings.signer.region);
    const bool is_there = !made && made.error().code() == Errc::conflict;
    if (!made && !(is_there && session.arguments.has("--exist-ok"))) {
      co_return fail(std::move(made).error());
    }
    if (!session.is_quiet()) fmt::print(stderr, "made {}\n", bucket);
  }
  co_return Exit::done;
}

constexpr std::array kRbSwitches = {
    Switch{"-f,--force", "Also its objects; asks first."},
    Switch{"-n,--dry-run", "Say what would be removed, and remove nothing."},
    Switch{"-y,--yes", "Do not ask."},
    Switch{"-v,--verbose", "A line for each object."},
};

constexpr std::string_view kRbEpilogue =
    "  leat rb photos\n"
    "  leat rb --force --yes photos   with all of its objects\n"
    "\n"
    "Exit code 6 for a bucket that is not empty.";

rt::Task<Exit> empty_bucket(Session& session, ObjectName bucket) {
  if (!session.arguments.has("--dry-run")) {
    LEAT_CO_DO(confirm(session,
                       fmt::format("Remove the bucket {} and all of its objects", bucket.bucket)));
  }
  TransferRun run(session, session.members());
  run.start();
  Status planned = co_await add_all(run, std::move(bucket));
  co_return co_await run.finish(std::move(planned));
}

rt::Task<Exit> rb(Session& session) {
  for (const std::string& word : session.words()) {
    LEAT_CO_TRY(const auto location, transfer::parse_object(word));
    if (!location.object.key.empty()) {
      co_return fail(Errc::bad_request,
                     fmt::format("{} is no name of a bucket; `leat rm` removes objects", word));
    }
    if (session.arguments.has("--force")) {
      LEAT_CO_TRY(const Exit emptied, co_await empty_bucket(session, location.object));
      if (emptied != Exit::done) co_return emptied;
    }
    if (session.arguments.has("--dry-run")) {
      say("would remove {}\n", location.object.bucket);
      continue;
    }
    LEAT_CO_DO(co_await s3client::delete_bucket(session.client(), location.object.bucket));
    if (!session.is_quiet()) fmt::print(stderr, "removed {}\n", location.object.bucket);
  }
  co_return Exit::done;
}

}  // namespace

Exit run_rm(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("rm"),
                        .positional = "BUCKET/KEY…",
                        .positionals_min = 1,
                        .positionals_max = 100'000,
                        .switches = kRmSwitches,
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
