#include "leat/transfer_run.h"
#include "leat/harmless.h"
#include "leat/json_text.h"
#include "leat/say.h"
#include "leat/table.h"
#include "s3client/operations.h"
#include "transfer/names.h"

namespace leat::programs {
namespace {

using nlohmann::json;
using transfer::Action;
using transfer::Job;
using transfer::Outcome;

constexpr std::uint64_t kFailuresShownMax = 20;

std::string_view word_of(Action action) {
  switch (action) {
    case Action::put: return "put";
    case Action::get: return "get";
    case Action::copy: return "copy";
    case Action::remove:
    case Action::remove_file: break;
  }
  return "remove";
}

}  // namespace

TransferRun::TransferRun(Session& session, std::vector<transfer::Tools*> members,
                         std::string shown_root)
    : session_(session),
      members_(std::move(members)),
      shown_root_(std::move(shown_root)),
      counters_(members_.front()->counters),
      began_(session.client().clock().now()),
      display_(std::make_shared<ProgressDisplay>(session, counters_)) {
  transfer::CrewOptions options{.workers = session.settings.jobs};
  crew_.emplace(members_, options,
                [this](const Job& job, const Result<Outcome>& outcome) { finished(job, outcome); });
  session.set_interrupt_advice(
      "what was finished is safe, and nothing is half there. Run the same command again to go on: "
      "it skips what is there and continues what was begun.");
}

TransferRun::~TransferRun() {
  display_->end();
}

void TransferRun::start() {
  crew_->start();
  if (session_.is_quiet() || session_.wants_json() || is_dry()) return;
  members_.front()->shard.spawn(ProgressDisplay::run(display_), [](const Status&) {});
}

std::string TransferRun::shown(const std::string& path) const {
  return shown_root_.empty() ? path : transfer::join(shown_root_, path);
}

void TransferRun::say_line(const std::string& text) {
  display_->clear();
  programs::say("{}\n", session_.invocation.stdout_is_terminal ? harmless(text) : text);
}

void TransferRun::complain(const std::string& name, const Error& error) {
  ++counters_.files_total;
  ++counters_.files_failed;
  failed(name, error);
}

void TransferRun::skipped(const std::string& name, std::uint64_t size_bytes) {
  ++counters_.files_total;
  ++counters_.files_done;
  ++counters_.files_skipped;
  counters_.bytes_total += size_bytes;
  counters_.bytes_done += size_bytes;
  if (!session_.wants_json()) return;
  say_line(
      json_text({{"type", "file"}, {"status", "skipped"}, {"name", name}, {"bytes", size_bytes}}));
}

void TransferRun::failed(const std::string& what, const Error& error, bool says_name) {
  if (!first_error_) first_error_ = error.code();
  const std::string_view reason =
      error.detail().empty() ? traits(error.code()).name : error.detail();
  if (session_.wants_json()) {
    say_line(json_text({{"type", "error"},
                        {"item", what},
                        {"error", traits(error.code()).name},
                        {"message", reason}}));
  }
  ++failures_shown_;
  if (failures_shown_ > kFailuresShownMax) return;
  display_->clear();
  fmt::print(stderr, "leat: {}\n",
             harmless(fmt::format("{}{}", says_name ? "" : what + ": ", reason)));
  if (failures_shown_ == kFailuresShownMax) {
    fmt::print(stderr, "leat: further failures are counted, and listed with --json\n");
  }
}

void TransferRun::say(std::string_view status, const Job& job, std::uint64_t size_bytes) {
  if (session_.wants_json()) {
    json line = {{"type", "file"}, {"action", word_of(job.action)}, {"status", status}};
    const bool has_source = job.action == Action::get || job.action == Action::copy;
    line["source"] = has_source ? job.source.text() : shown(job.path);
    if (job.action == Action::get) line["target"] = shown(job.path);
    if (job.action == Action::put || job.action == Action::copy) line["target"] = job.target.text();
    line["bytes"] = size_bytes;
    say_line(json_text(line));
  } else if (is_dry() && status != "skipped") {
    Job named = job;
    named.path = shown(job.path);
    say_line(fmt::format("would {}", transfer::describe(named)));
  } else if (session_.arguments.has("--verbose")) {
    Job named = job;
    named.path = shown(job.path);
    say_line(
        fmt::format("{}{}", status == "skipped" ? "skipped: " : "", transfer::describe(named)));
  }
}

void TransferRun::removed(const Job& job, const Outcome& outcome) {
  removed_ += job.keys.size() - outcome.failed.size();
  for (const s3client::FailedDelete& one : outcome.failed) {
    failed(fmt::format("{}/{}", job.target.bucket, one.key), Error(Errc::denied, one.reason));
  }
  for (const std::string& key : job.keys) {
    const bool is_failed = std::ranges::find(outcome.failed, key, &s3client::FailedDelete::key) !=
                           outcome.failed.end();
    if (is_failed) continue;
    const std::string name = fmt::format("{}/{}", job.target.bucket, key);
    if (session_.wants_json()) {
      say_line(json_text({{"type", "file"},
                          {"action", "remove"},
                          {"status", is_dry() ? "would" : "done"},
                          {"target", name}}));
    } else if (is_dry()) {
      say_line("would remove " + name);
    } else if (session_.arguments.has("--verbose")) {
      say_line("remove " + name);
    }
  }
}

void TransferRun::finished(const Job& job, const Result<Outcome>& outcome) {
  if (!outcome) {
    Job named = job;
    named.path = shown(job.path);
    // Most reasons begin with the name of what they are about.
    const std::string_view reason = outcome.error().detail();
    const bool says_name =
        reason.starts_with(job.source.text() + ':') || reason.starts_with(job.target.text() + ':');
    return failed(transfer::describe(named), outcome.error(), says_name);
  }
  if (job.action == Action::remove) return removed(job, *outcome);
  if (job.action == Action::remove_file) ++removed_;
  const std::string_view status = outcome->is_skipped ? "skipped" : is_dry() ? "would" : "done";
  say(status, job, outcome->size_bytes);
}

void TransferRun::print_summary() {
  const Snapshot now = Snapshot::of(counters_);
  const Duration took = session_.client().clock().now() - began_;
  const double seconds = std::chrono::duration<double>(took).count();
  const std::uint64_t moved_files = now.files_done - now.files_skipped - removed_;
  if (session_.wants_json()) {
    programs::say("{}\n", json_text({{"type", "summary"},
                                     {"dry_run", is_dry()},
                                     {"files", moved_files},
                                     {"bytes", now.bytes_moved},
                                     {"skipped", now.files_skipped},
                                     {"removed", removed_},
                                     {"failed", now.files_failed},
                                     {"seconds", seconds}}));
    return;
  }
  if (session_.is_quiet()) return;
  const double rate = seconds > 0 ? static_cast<double>(now.bytes_moved) / seconds : 0;
  std::string text;
  if (is_dry()) {
    text = fmt::format("dry run: {} files would be sent", number_text(moved_files));
  } else {
    text = fmt::format("{} files, {} in {:.1f} s ({}/s)", number_text(moved_files),
                       human_bytes(now.bytes_moved), seconds,
                       human_bytes(static_cast<std::uint64_t>(rate)));
  }
  if (now.files_skipped > 0) {
    text += fmt::format(", {} skipped that were there", number_text(now.files_skipped));
  }
  if (removed_ > 0) text += fmt::format(", {} removed", number_text(removed_));
  if (now.files_failed > 0) text += fmt::format(", {} failed", number_text(now.files_failed));
  fmt::print(stderr, "{}\n", text);
}

Exit TransferRun::verdict() const {
  if (!first_error_) return Exit::done;
  return counters_.files_done > 0 ? Exit::partly : exit_for(*first_error_);
}

rt::Task<Exit> TransferRun::finish(Status planned) {
  LEAT_CO_DO(co_await crew_->finish());
  display_->end();
  if (!planned && !crew_->has_given_up()) {
    if (counters_.files_done == 0) co_return fail(std::move(planned).error());
    failed("looking for what to do", planned.error());
  }
  if (crew_->has_given_up()) {
    fmt::print(stderr, "leat: nothing works any more; gave up. Run the same command to go on.\n");
  }
  print_summary();
  co_return verdict();
}

}  // namespace leat::programs
