#include "leat/dataset_put.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/parse.h"
#include "dataset/native.h"
#include "ingest/stream_source.h"
#include "io/rng.h"
#include "leat/json_text.h"
#include "leat/progress_display.h"
#include "leat/routes.h"
#include "leat/say.h"
#include "leat/table.h"
#include "transfer/location.h"

namespace leat::programs {
namespace {

using nlohmann::json;

constexpr std::uint64_t kFailuresShownMax = 20;
constexpr std::uint64_t kShardMinBytes = kMiB;

Result<ingest::IngestOptions> options_of(const Session& session) {
  const Arguments& arguments = session.arguments;
  ingest::IngestOptions options{.sends_everything = arguments.has("--force"),
                                .verifies = arguments.has("--verify"),
                                .is_dry = arguments.has("--dry-run"),
                                .message = arguments.value("--message")};
  options.plan.is_mixed = !arguments.has("--no-mix");
  if (const std::string size = arguments.value("--shard-size"); !size.empty()) {
    LEAT_TRY(options.plan.shard_bytes, config::parse_bytes(size));
    if (options.plan.shard_bytes < kShardMinBytes) {
      return fail(Errc::bad_request, "--shard-size: shards have 1 MiB at least");
    }
  }
  if (const std::string name = arguments.value("--shard-name"); !name.empty()) {
    LEAT_TRY(options.shard_name, ingest::ShardName::parse(name));
  }
  if (const std::string seed = arguments.value("--seed"); !seed.empty()) {
    LEAT_TRY(const std::int64_t number, config::parse_integer(seed));
    options.plan.seed = static_cast<std::uint64_t>(number);
  }
  return options;
}

Result<ingest::Layout> layout_of(const Session& session) {
  const std::string layout = session.arguments.value("--layout");
  if (layout.empty() || layout == "samples") return ingest::Layout::samples;
  if (layout == "imagefolder") return ingest::Layout::imagefolder;
  return fail(Errc::bad_request,
              fmt::format("--layout {}: expected samples or imagefolder", layout));
}

Result<ingest::FieldChoice> fields_of(const Session& session) {
  const std::string fields = session.arguments.value("--fields");
  if (fields.empty()) return ingest::FieldChoice();
  return ingest::FieldChoice::parse(fields);
}

// Of a stream, which nothing else names.
std::string random_id() {
  io::SystemRng rng;
  return fmt::format("stream-{:016x}", rng.next());
}

// What is shown of an ingest.
class IngestRun {
 public:
  explicit IngestRun(Session& session)
      : session_(session),
        began_(session.client().clock().now()),
        display_(std::make_shared<ProgressDisplay>(session, session.tools().counters)) {
    gathering_.complain = [this](const std::string& path, const Error& error) {
      failed(path, error);
    };
    session.set_interrupt_advice(
        "no version was made. Run the same command again to go on: shards that are there are not "
        "sent again.");
  }
  ~IngestRun() { display_->end(); }
  IngestRun(const IngestRun&) = delete;
  IngestRun& operator=(const IngestRun&) = delete;

  void start() {
    if (session_.is_quiet() || session_.wants_json()) return;
    session_.tools().shard.spawn(ProgressDisplay::run(display_), [](const Status&) {});
  }

  ingest::Gathering& gathering() { return gathering_; }

  Exit finish(const ingest::IngestOptions& options, const ingest::IngestReport& report) {
    display_->end();
    if (session_.wants_json()) {
      say("{}\n", json_text(summary(options, report)));
    } else if (!session_.is_quiet()) {
      print(options, report);
    }
    return failures_ > 0 ? Exit::partly : Exit::done;
  }

 private:
  void failed(const std::string& path, const Error& error) {
    ++failures_;
    ++session_.tools().counters.files_failed;
    const std::string_view reason =
        error.detail().empty() ? traits(error.code()).name : error.detail();
    if (session_.wants_json()) {
      say("{}\n", json_text({{"type", "error"},
                             {"item", path},
                             {"error", traits(error.code()).name},
                             {"message", reason}}));
    }
    if (failures_ > kFailuresShownMax) return;
    display_->clear();
    fmt::print(stderr, "leat: {}: {}\n", path, reason);
    if (failures_ == kFailuresShownMax) {
      fmt::print(stderr, "leat: further failures are only counted; --json tells them all\n");
    }
  }

  double seconds() const {
    return std::chrono::duration<double>(session_.client().clock().now() - began_).count();
  }

  json summary(const ingest::IngestOptions& options, const ingest::IngestReport& report) const {
    const ingest::Findings& findings = gathering_.findings;
    json document = {{"type", "summary"},           {"dataset", options.dataset()},
                     {"dry_run", options.is_dry},   {"unchanged", report.was_up_to_date},
                     {"files", findings.files},     {"samples", report.samples},
                     {"shards", report.shards},     {"shards_there", report.shards_there},
                     {"bytes", report.shard_bytes}, {"failed", failures_},
                     {"seconds", seconds()}};
    document["version"] = report.committed ? json(report.committed->version) : json(nullptr);
    document["left_out"] = {{"hidden", findings.hidden},
                            {"special", findings.special},
                            {"excluded", findings.excluded},
                            {"outside_of_classes", findings.outside},
                            {"other_fields", findings.other_fields},
                            {"samples_without_fields", findings.without_any},
                            {"empty_folders", findings.empty_folders}};
    document["links"] = findings.links;
    document["without_field"] = findings.without_field;
    document["repeated_keys"] = findings.repeated_keys;
    document["mixing"] = {{"labels", report.quality.labels},
                          {"expected", report.quality.expected},
                          {"measured", report.quality.measured}};
    return document;
  }

  void print(const ingest::IngestOptions& options, const ingest::IngestReport& report) const {
    const double took = seconds();
    const std::uint64_t moved = session_counters().bytes_moved;
    const std::string content =
        fmt::format("{} samples of {} files in {} shards, {}", number_text(report.samples),
                    number_text(gathering_.findings.files), number_text(report.shards),
                    human_bytes(report.shard_bytes));
    if (options.is_dry) {
      fmt::print(stderr, "dry run: {} would be {}\n", options.dataset(), content);
    } else if (report.was_up_to_date) {
      fmt::print(stderr, "{}@{} is just that: {}\n", options.dataset(), report.committed->version,
                 content);
    } else {
      const double rate = took > 0 ? static_cast<double>(moved) / took : 0;
      const double files = took > 0 ? static_cast<double>(gathering_.findings.files) / took : 0;
      fmt::print(stderr, "{}@{} committed: {} in {:.1f} s ({}/s, {} files/s)\n", options.dataset(),
                 report.committed->version, content, took,
                 human_bytes(static_cast<std::uint64_t>(rate)),
                 number_text(static_cast<std::uint64_t>(files)));
    }
    print_findings(report);
  }

  void print_findings(const ingest::IngestReport& report) const {
    const ingest::Findings& findings = gathering_.findings;
    const auto tell = [](std::uint64_t count, std::string_view what) {
      if (count > 0) fmt::print(stderr, "  {} {}\n", number_text(count), what);
    };
    tell(report.shards_there, "shards were there and not sent again");
    tell(findings.hidden, "hidden files or folders left out (--hidden takes them)");
    tell(findings.special, "pipes, sockets, devices or links of archives left out");
    tell(findings.excluded, "files left out by --include and --exclude");
    tell(findings.outside, "files left out that are in no class folder");
    tell(findings.other_fields, "files left out that are none of --fields");
    tell(findings.without_any, "samples left out that have none of --fields");
    tell(findings.empty_folders, "folders are empty");
    tell(findings.links, "symbolic links followed");
    tell(findings.without_field, "files have no extension: packed, but in no sample");
    tell(findings.repeated_keys, "keys stand more than once: samples of their own");
    tell(failures_, "failed");
    if (report.quality.labels > 1) {
      fmt::print(stderr,
                 "  mixing: two samples of a 256 MiB window share one of {} labels {:.2f} times as "
                 "often as after a full shuffle (expected {:.2f})\n",
                 number_text(report.quality.labels), report.quality.measured,
                 report.quality.expected);
    }
  }

  const transfer::Counters& session_counters() const { return session_.tools().counters; }

  Session& session_;
  Instant began_;
  std::shared_ptr<ProgressDisplay> display_;
  ingest::Gathering gathering_;
  std::uint64_t failures_ = 0;
};

// The classes that the dataset has, for who adds to it.
rt::Task<std::vector<std::string>> classes_of(s3client::S3Client& client, std::string dataset) {
  LEAT_CO_TRY(const auto standing, co_await ingest::look_at_dataset(client, dataset));
  // The newest shard that has them; writers and plain appends add shards without.
  for (auto shard = standing.shards.rbegin(); shard != standing.shards.rend(); ++shard) {
    s3client::Request request;
    request.name = {dataset.substr(0, dataset.find('/')), *shard};
    request.query.push_back({"member", std::string(ingest::kClassesName)});
    const auto answer = co_await client.ask(request);
    if (answer) co_return ingest::parse_classes(answer->body);
    if (answer.error().code() != Errc::not_found) co_return fail(answer.error());
  }
  co_return std::vector<std::string>();
}

// One word of the command line: a folder or an archive.
rt::Task<void> gather_word(ingest::Ground& ground, ingest::Gathering& gathering, std::string path,
                           const Session& session) {
  LEAT_CO_TRY(const ingest::Layout layout, layout_of(session));
  LEAT_CO_TRY(auto filter, filter_of(session.arguments));
  auto look = [&disk = ground.disk, path] { return disk.info(path); };
  auto looking = ground.pool.run<io::FileInfo>(std::move(look));
  LEAT_CO_TRY(const io::FileInfo info, co_await std::move(looking));
  if (info.is_directory) {
    ingest::FolderSource source{.path = path,
                                .layout = layout,
                                .with_hidden = session.arguments.has("--hidden"),
                                .filter = std::move(filter)};
    co_return co_await ingest::gather_folder(ground, gathering, std::move(source));
  }
  LEAT_CO_DO(refuse_filter(filter, path));
  co_return co_await ingest::gather_archive(ground, gathering, std::move(path));
}

rt::Task<void> gather(Session& session, ingest::Gathering& gathering,
                      const std::vector<std::string>& sources) {
  transfer::Tools& tools = session.tools();
  ingest::Ground ground{tools.shard, tools.disk, tools.pool};
  const std::string& home = session.settings.home;
  const std::string root = session.arguments.value("--root");
  for (const std::string& word : sources) {
    const transfer::Location place = transfer::parse_file(word, home);
    LEAT_CO_DO(co_await gather_word(ground, gathering, place.path, session));
  }
  LEAT_CO_TRY(const auto filter, filter_of(session.arguments));
  if (const std::string list = session.arguments.value("--list"); !list.empty()) {
    LEAT_CO_DO(refuse_filter(filter, list));
    ingest::ListSource source{.path = list, .root = root};
    LEAT_CO_DO(co_await ingest::gather_list(ground, gathering, std::move(source)));
  }
  if (const std::string table = session.arguments.value("--table"); !table.empty()) {
    LEAT_CO_DO(refuse_filter(filter, table));
    ingest::TableSource source{
        .path = table, .root = root, .path_column = session.arguments.value("--path-column")};
    LEAT_CO_DO(co_await ingest::gather_table(ground, gathering, std::move(source)));
  }
  co_return Status{};
}

// A tar from stdin: its samples are mixed in memory, as far as that reaches.
rt::Task<Exit> run_stream(Session& session, std::vector<std::string> sources,
                          ingest::IngestOptions options) {
  if (sources.size() > 1 || options.is_dry || options.verifies) {
    co_return fail(Errc::bad_request, "a stream is packed alone, without --dry-run and --verify");
  }
  LEAT_CO_TRY(const auto filter, filter_of(session.arguments));
  LEAT_CO_DO(refuse_filter(filter, "-"));
  IngestRun run(session);
  ingest::Gathering& gathering = run.gathering();
  LEAT_CO_TRY(gathering.fields, fields_of(session));
  run.start();
  ingest::WriterOptions writing{.bucket = options.bucket,
                                .name = options.name,
                                .transaction = random_id(),
                                .shard_name = options.shard_name,
                                .shard_bytes = options.plan.shard_bytes,
                                .seed = options.plan.seed,
                                .message = options.message,
                                .replaces = options.purpose == ingest::Purpose::replace};
  if (!options.plan.is_mixed) writing.mix_bytes = 0;
  io::SystemRng rng;
  ingest::Writer writer(session.tools(), rng, std::move(writing));
  const auto input = standard_input(session);
  const Status read = co_await ingest::write_archive(session.tools(), *input, writer, gathering);
  Result<ingest::Committed> committed = fail(Errc::internal);
  if (read) committed = co_await writer.commit();
  if (!read || !committed) {
    // What counts is why it failed; what could not be removed is no part of any version.
    const Status removed = co_await writer.abort();
    (void)removed;
    co_return fail(read ? committed.error() : read.error());
  }
  const ingest::IngestReport report{.committed = *committed,
                                    .samples = writer.samples(),
                                    .shards = writer.shards(),
                                    .shard_bytes = writer.shard_bytes()};
  co_return run.finish(options, report);
}

}  // namespace

Result<std::string> dataset_name(std::string_view word) {
  LEAT_TRY(const auto place, transfer::parse_object(word));
  std::string name = place.object.key;
  while (name.ends_with('/'))
    name.pop_back();
  if (name.empty()) {
    return fail(Errc::bad_request, fmt::format("{}: a dataset is BUCKET/NAME, such as {}/train",
                                               word, place.object.bucket));
  }
  return fmt::format("{}/{}", place.object.bucket, name);
}

rt::Task<Exit> run_ingest(Session& session, std::vector<std::string> sources, std::string target,
                          ingest::Purpose purpose) {
  LEAT_CO_TRY(ingest::IngestOptions options, options_of(session));
  const std::size_t slash = target.find('/');
  options.bucket = target.substr(0, slash);
  options.name = target.substr(slash + 1);
  options.purpose = purpose;
  if (options.name.contains('@')) {
    co_return fail(Errc::bad_request, fmt::format("{}: the name of a dataset has no @", target));
  }
  if (options.message.empty() && !sources.empty()) {
    options.message = fmt::format("{} {}", purpose == ingest::Purpose::append ? "append" : "put",
                                  sources.front());
  }
  const bool is_stream = std::ranges::find(sources, "-") != sources.end();
  if (is_stream) co_return co_await run_stream(session, std::move(sources), std::move(options));
  IngestRun run(session);
  LEAT_CO_TRY(run.gathering().fields, fields_of(session));
  LEAT_CO_TRY(const ingest::Layout layout, layout_of(session));
  if (purpose == ingest::Purpose::append && layout == ingest::Layout::imagefolder) {
    LEAT_CO_TRY(run.gathering().classes, co_await classes_of(session.client(), target));
    run.gathering().has_fixed_classes = !run.gathering().classes.empty();
  }
  run.start();
  LEAT_CO_DO(co_await gather(session, run.gathering(), sources));
  const bool is_empty = run.gathering().catalog.group_count() == 0;
  if (is_empty && sources.size() == 1) {
    const bool had_files = run.gathering().findings.excluded > 0;
    co_return fail(
        Errc::not_found,
        fmt::format("nothing is below {}{}, so there is nothing to pack", sources.front(),
                    had_files ? " that --include and --exclude leave" : ""));
  }
  LEAT_CO_TRY(const auto report,
              co_await ingest::ingest(session.members(), run.gathering(), options));
  co_return run.finish(options, report);
}

}  // namespace leat::programs
