// Tables: the control store as rows of one SQLite file, without time, tasks or watches.
//
// Each changing call is one SQLite transaction. Format, and what damage is found: a seal beside
// each row (seal.h), checked whenever the row is read; docs/formats/control_db.md.
//
// A COMMIT that fails for want of room is looked up in the file: not there means no_space, and
// everything goes on. Any other failed COMMIT ends all use until the file is opened anew, because
// what a failed sync left on the disk nobody knows (docs/adr/0007-durable-by-default.md).
//
// Thread: one at a time, any; every call may block.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/database.h"
#include "control/seal.h"

namespace leat::control {

// How much history is kept for watches; the newest revision always is.
struct HistoryLimits {
  std::int64_t revisions_max = 10'000;
  std::int64_t bytes_max = 64 * static_cast<std::int64_t>(kMiB);
};

class Tables {
 public:
  // Opens the file, which must exist; an empty one gets its tables.
  // Errors: conflict (another process), corrupt, version_not_supported (of a newer Leat), denied,
  // no_space, io.
  static Result<std::unique_ptr<Tables>> open(const std::string& path, HistoryLimits limits);

  // Reads everything and compares it: pages, seals, the sum of all. Errors: corrupt, io.
  Status check() const;

  Result<Listing> list(std::string_view prefix) const;
  // Requires: check_limits(txn).
  Result<TxnReply> apply(const Txn& txn);
  Result<LeaseId> add_lease(Duration ttl);
  // Erases the leases and the keys attached to them, at one revision. Those not there are passed
  // over. Gives how many were there.
  Result<std::size_t> end_leases(std::span<const LeaseId> leases);
  Result<std::vector<Lease>> leases() const;

  // Events of whole revisions from `from` on, at least one revision, and about as many as `limit`.
  struct Events {
    std::vector<Event> events{};
    Revision up_to{};
  };
  // Requires: from <= revision(). Errors: compacted, corrupt, io.
  Result<Events> events(Revision from, std::size_t limit) const;

  // The last one that is committed.
  Revision revision() const { return state_.revision; }
  // A COMMIT failed: every call is refused until the file is opened anew.
  bool has_failed() const { return failure_.has_value(); }

 private:
  // A transaction that is being made.
  struct Draft {
    State state;
    std::vector<Event> events;
  };

  explicit Tables(HistoryLimits limits) : limits_(limits) {}

  Status open_file(const std::string& path);
  Status make_or_recognize();
  Status read_state();
  Status usable() const;
  Status corrupt(std::string_view what) const;

  Result<bool> holds(const Condition& condition) const;
  Result<std::optional<KeyValue>> find(std::string_view key) const;
  Result<KeyValue> entry_of(const Statement& row) const;
  Status require_lease(LeaseId lease) const;

  Result<TxnReply> attempt(const Txn& txn, Draft& draft);
  Status put(const Operation& operation, Draft& draft);
  Status erase(std::string_view key, Draft& draft);
  Result<bool> end_lease(LeaseId lease, Draft& draft);
  Status write_history(Draft& draft);
  Status trim_history(State& state);
  Status write_state(const State& state);

  template <class T, class Work>
  Result<T> transaction(Work work);
  Status commit(Draft& draft);
  Error failed_commit(Error error);

  HistoryLimits limits_;
  std::optional<Database> database_;
  State state_;
  std::optional<Error> failure_;
};

}  // namespace leat::control
