// TransferRun: a crew at work, what is shown of it meanwhile, and its exit code.
//
// Shard: the first. Lifetime: finish() has returned before it is destroyed.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "leat/client_session.h"
#include "leat/progress_display.h"
#include "transfer/crew.h"
#include "transfer/tree.h"

namespace leat::programs {

class TransferRun {
 public:
  // `shown_root` stands before the paths of files that are relative to a rooted disk.
  TransferRun(Session& session, std::vector<transfer::Tools*> members, std::string shown_root = "");
  ~TransferRun();

  void start();
  transfer::Crew& crew() { return *crew_; }
  transfer::Tools& tools() { return *members_.front(); }

  // For transfer::Tree: what became no job.
  void complain(const std::string& name, const Error& error);
  void skipped(const std::string& name, std::uint64_t size_bytes);
  // True for the first one that asks for this target.
  bool claim(const std::string& target) { return targets_.insert(target).second; }

  // Waits for the jobs, prints the summary. `planned` is how planning them ended.
  rt::Task<Exit> finish(Status planned);

  bool is_dry() const { return session_.arguments.has("--dry-run"); }

 private:
  void finished(const transfer::Job& job, const Result<transfer::Outcome>& outcome);
  // `what` stands before the reason, unless the reason says it itself.
  void failed(const std::string& what, const Error& error, bool says_name = false);
  void removed(const transfer::Job& job, const transfer::Outcome& outcome);
  void say(std::string_view status, const transfer::Job& job, std::uint64_t size_bytes);
  void say_line(const std::string& text);
  void print_summary();
  std::string shown(const std::string& path) const;
  Exit verdict() const;

  Session& session_;
  std::vector<transfer::Tools*> members_;
  std::string shown_root_;
  transfer::Counters& counters_;
  Instant began_;
  std::optional<transfer::Crew> crew_;
  std::shared_ptr<ProgressDisplay> display_;
  std::unordered_set<std::string> targets_;  // of several sources: what is taken
  std::optional<Errc> first_error_;
  std::uint64_t failures_shown_ = 0;
  std::uint64_t removed_ = 0;
};

}  // namespace leat::programs
