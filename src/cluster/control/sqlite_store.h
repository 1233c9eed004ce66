// SqliteStore: the control store of one machine, a file `control.db` and this process alone.
//
// Calls have their turn one after another on the blocking pool; none blocks the shard. Leases live
// in memory with their deadlines and in the file with their length: after a restart each begins
// anew, as after a change of leader in etcd. A lease that is due is ended before the next call sees
// anything, and by the store itself within kNap when nobody calls.
//
// Watches read the history in the file, so that one that is slow costs no memory: it falls behind
// and breaks with `compacted`. Sinks are called between turns, never while one is held.
//
// Shard: one, the one it was opened for. Lifetime: what Tools refers to outlives it; await stop()
// before destroying it. Format: docs/formats/control_db.md.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/control_store.h"
#include "control/tables.h"
#include "control/turns.h"
#include "io/clock.h"
#include "io/disk.h"
#include "rt/blocking_pool.h"
#include "rt/gate.h"
#include "rt/shard.h"

namespace leat::control {

struct SqliteOptions {
  HistoryLimits history{};
  // Reads and verifies the whole file at the start.
  bool check = false;
};

struct SqliteTools {
  rt::Shard& shard;
  rt::BlockingPool& pool;
  io::Disk& disk;  // the machine's: SQLite opens the same path by itself
  io::Clock& clock;
};

class SqliteStore final : public ControlStore {
 public:
  static constexpr std::string_view kFile = "control.db";
  static constexpr std::size_t kWaitingMax = 1024;
  static constexpr std::size_t kWatchesMax = 1024;
  static constexpr std::size_t kLeasesMax = 10'000;
  // How late an unobserved lease may end, and how soon stop() is noticed.
  static constexpr Duration kNap = std::chrono::milliseconds(200);

  // Opens or makes the file in `folder`; nobody but its owner may read it. Blocks; for the start,
  // before the shard runs.
  // Errors: conflict (another process has it), corrupt, version_not_supported (of a newer Leat),
  // denied, no_space, io.
  static Result<std::unique_ptr<SqliteStore>> open(SqliteTools tools, const std::string& folder,
                                                   SqliteOptions options);

  rt::Task<Listing> list(std::string prefix, ReadLevel level) override;
  rt::Task<TxnReply> attempt(Txn txn, Duration timeout) override;
  rt::Task<Lease> grant_lease(Duration ttl) override;
  rt::Task<Duration> renew_lease(LeaseId lease) override;
  rt::Task<void> revoke_lease(LeaseId lease) override;
  std::unique_ptr<Watch> watch(std::string prefix, Revision from, WatchSink sink) override;

  // Refuses new calls, waits for those inside, and breaks the watches.
  rt::Task<void> stop();

 private:
  struct Held {
    Duration ttl{};
    Instant deadline{};
  };
  struct Watching {
    std::string prefix;
    Revision next{};
    WatchSink sink;
    bool over = false;
  };
  class Handle;
  using WatchingPtr = std::shared_ptr<Watching>;

  SqliteStore(SqliteTools tools, std::unique_ptr<Tables> tables);

  // Waits for its turn, ends leases that are due, does `work` on the pool, tells the watches.
  // Errors: unavailable (shutting down, or its turn came after `until`), busy, those of `work`.
  template <class T, class Work>
  rt::Task<T> in_turn(Work work, Instant until);

  std::vector<LeaseId> due_leases() const;
  void hold(Lease lease);
  rt::Task<void> reap(rt::Gate::Pass pass);
  rt::Task<void> rest(Instant until);

  void wake_watches();
  rt::Task<void> deliver(rt::Gate::Pass pass);
  std::optional<Revision> furthest_behind();
  void hand_out(Revision from, const Result<Tables::Events>& found);
  static void break_off(Watching& watching, Error error);
  static rt::Task<void> refuse(WatchingPtr watching);

  SqliteTools tools_;
  std::unique_ptr<Tables> tables_;  // used on the pool, by whoever has the turn
  Turns turns_{kWaitingMax};
  rt::Gate gate_;
  Revision revision_;    // as of the last turn
  bool failed_ = false;  // the same
  std::map<LeaseId, Held> leases_;
  bool reaping_ = false;
  std::vector<WatchingPtr> watches_;
  bool delivering_ = false;
};

}  // namespace leat::control
