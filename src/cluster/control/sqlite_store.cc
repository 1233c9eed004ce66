#include "control/sqlite_store.h"

#include <fmt/format.h>

#include <algorithm>

namespace leat::control {
namespace {

// How many events are read at a time.
constexpr std::size_t kEventsStep = 256;
constexpr Instant kForever = Instant::max();

}  // namespace

class SqliteStore::Handle final : public Watch {
 public:
  explicit Handle(WatchingPtr watching) : watching_(std::move(watching)) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() override { watching_->over = true; }

 private:
  WatchingPtr watching_;
};

SqliteStore::SqliteStore(SqliteTools tools, std::unique_ptr<Tables> tables)
    : tools_(tools), tables_(std::move(tables)), revision_(tables_->revision()) {}

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(SqliteTools tools, const std::string& folder,
                                                       SqliteOptions options) {
  const std::string path = fmt::format("{}/{}", folder, kFile);
  if (const auto there = tools.disk.info(path); !there) {
    if (there.error().code() != Errc::not_found) return fail(there.error());
    // Closed again before SQLite opens it: closing a file drops all locks the process has on it.
    LEAT_TRY(const auto made, tools.disk.open(path, io::OpenMode::create_private));
    LEAT_DO(tools.disk.sync_directory(folder));
  }
  LEAT_TRY(auto tables, Tables::open(path, options.history));
  if (options.check) LEAT_DO(tables->check());
  LEAT_TRY(const auto leases, tables->leases());
  std::unique_ptr<SqliteStore> store(new SqliteStore(tools, std::move(tables)));
  for (const Lease& lease : leases)
    store->hold(lease);
  return store;
}

rt::Task<void> SqliteStore::stop() {
  LEAT_CO_DO(co_await gate_.close());
  const auto present = std::exchange(watches_, {});
  for (const WatchingPtr& one : present)
    break_off(*one, Error(Errc::unavailable, "the control store stops"));
  co_return Status{};
}

template <class T, class Work>
rt::Task<T> SqliteStore::in_turn(Work work, Instant until) {
  LEAT_CO_TRY(const auto pass, gate_.enter());
  LEAT_CO_TRY(const auto turn, co_await turns_.take());
  if (tools_.clock.now() > until) {
    co_return fail(Errc::unavailable, "too many changes of the control store were before it");
  }
  const std::vector<LeaseId> due = due_leases();
  bool ended = false;
  auto job = [this, &due, &ended, &work]() -> Result<T> {
    if (!due.empty()) {
      if (const auto expired = tables_->end_leases(due); !expired) {
        // Of leases that end the outcome may be unknown; the caller's own change was not begun.
        const bool unknown = expired.error().code() == Errc::outcome_unknown;
        return fail(unknown ? Errc::unavailable : expired.error().code(),
                    std::string(expired.error().detail()));
      }
      ended = true;
    }
    return work();
  };
  auto running = tools_.pool.run<T>(std::move(job));
  Result<T> outcome = co_await std::move(running);
  if (ended) {
    for (const LeaseId lease : due)
      leases_.erase(lease);
  }
  revision_ = tables_->revision();
  failed_ = tables_->has_failed();
  wake_watches();
  co_return outcome;
}

rt::Task<Listing> SqliteStore::list(std::string prefix, ReadLevel /*level*/) {
  auto work = [this, &prefix] { return tables_->list(prefix); };
  auto listed = in_turn<Listing>(std::move(work), kForever);
  co_return co_await std::move(listed);
}

rt::Task<TxnReply> SqliteStore::attempt(Txn txn, Duration timeout) {
  LEAT_CO_DO(check_limits(txn));
  const Duration patience = std::clamp<Duration>(timeout, Duration(0), std::chrono::hours(1));
  const Instant until = tools_.clock.now() + patience;
  auto work = [this, &txn] { return tables_->apply(txn); };
  auto applied = in_turn<TxnReply>(std::move(work), until);
  co_return co_await std::move(applied);
}

rt::Task<Lease> SqliteStore::grant_lease(Duration ttl) {
  if (leases_.size() >= kLeasesMax) {
    co_return fail(Errc::busy, fmt::format("there are {} leases, the most", kLeasesMax));
  }
  const Duration granted = granted_ttl(ttl);
  auto work = [this, granted] { return tables_->add_lease(granted); };
  auto adding = in_turn<LeaseId>(std::move(work), kForever);
  LEAT_CO_TRY(const LeaseId id, co_await std::move(adding));
  const Lease lease{.id = id, .ttl = granted};
  hold(lease);
  co_return lease;
}

rt::Task<Duration> SqliteStore::renew_lease(LeaseId lease) {
  LEAT_CO_TRY(const auto pass, gate_.enter());
  // Who holds a lease of a store that cannot change must not believe that all is well.
  if (failed_) co_return fail(Errc::unavailable, "the control store stopped after a failed write");
  const auto found = leases_.find(lease);
  if (found == leases_.end() || found->second.deadline <= tools_.clock.now()) {
    co_return fail(Errc::lease_lost, fmt::format("lease {} has ended", lease.value()));
  }
  found->second.deadline = tools_.clock.now() + found->second.ttl;
  co_return found->second.ttl;
}

rt::Task<void> SqliteStore::revoke_lease(LeaseId lease) {
  auto work = [this, lease] { return tables_->end_leases({&lease, 1}); };
  auto ending = in_turn<std::size_t>(std::move(work), kForever);
  LEAT_CO_TRY(const std::size_t ended, co_await std::move(ending));
  if (ended == 0) {
    co_return fail(Errc::lease_lost, fmt::format("lease {} has ended", lease.value()));
  }
  leases_.erase(lease);
  co_return Status{};
}

std::vector<LeaseId> SqliteStore::due_leases() const {
  const Instant now = tools_.clock.now();
  std::vector<LeaseId> due;
  for (const auto& [id, held] : leases_) {
    if (held.deadline <= now) due.push_back(id);
  }
  return due;
}

void SqliteStore::hold(Lease lease) {
  leases_[lease.id] = {.ttl = lease.ttl, .deadline = tools_.clock.now() + lease.ttl};
  if (reaping_) return;
  auto pass = gate_.enter();
  if (!pass) return;  // it stops; the lease begins anew with the next start
  reaping_ = true;
  tools_.shard.spawn(reap(std::move(*pass)), [](const Status&) {});
}

rt::Task<void> SqliteStore::rest(Instant until) {
  const Instant wake = std::min(until, tools_.clock.now() + kNap);
  return tools_.clock.sleep_until(wake);
}

rt::Task<void> SqliteStore::reap(rt::Gate::Pass /*pass*/) {
  while (!leases_.empty() && !gate_.is_closing()) {
    Instant next = kForever;
    for (const auto& [id, held] : leases_)
      next = std::min(next, held.deadline);
    if (next > tools_.clock.now()) {
      LEAT_CO_DO(co_await rest(next));
      continue;
    }
    auto nothing = [] { return Status{}; };
    auto ending = in_turn<void>(std::move(nothing), kForever);
    const Status ended = co_await std::move(ending);
    // A full disk, say: it is tried again, and every call tries first.
    if (!ended) LEAT_CO_DO(co_await rest(kForever));
  }
  reaping_ = false;
  co_return Status{};
}

std::unique_ptr<Watch> SqliteStore::watch(std::string prefix, Revision from, WatchSink sink) {
  const Revision next = from == Revision() ? Revision(revision_.value() + 1) : from;
  auto watching = std::make_shared<Watching>(
      Watching{.prefix = std::move(prefix), .next = next, .sink = std::move(sink)});
  std::erase_if(watches_, [](const WatchingPtr& one) { return one->over; });
  if (watches_.size() < kWatchesMax && !gate_.is_closing()) {
    watches_.push_back(watching);
    wake_watches();
  } else {
    tools_.shard.spawn(refuse(watching), [](const Status&) {});
  }
  return std::make_unique<Handle>(std::move(watching));
}

rt::Task<void> SqliteStore::refuse(WatchingPtr watching) {
  LEAT_CO_DO(co_await rt::yield());
  break_off(*watching, Error(Errc::busy, "the control store stops, or has too many watches"));
  co_return Status{};
}

void SqliteStore::break_off(Watching& watching, Error error) {
  if (watching.over) return;
  watching.over = true;
  watching.sink.on_broken(std::move(error));
}

std::optional<Revision> SqliteStore::furthest_behind() {
  std::erase_if(watches_, [](const WatchingPtr& one) { return one->over; });
  std::optional<Revision> lowest;
  for (const WatchingPtr& one : watches_) {
    if (one->next <= revision_ && (!lowest || one->next < *lowest)) lowest = one->next;
  }
  return lowest;
}

void SqliteStore::wake_watches() {
  if (delivering_ || !furthest_behind()) return;
  auto pass = gate_.enter();
  if (!pass) return;  // stop() tells the watches
  delivering_ = true;
  tools_.shard.spawn(deliver(std::move(*pass)), [](const Status&) {});
}

rt::Task<void> SqliteStore::deliver(rt::Gate::Pass /*pass*/) {
  LEAT_CO_DO(co_await rt::yield());  // sinks are not called from inside watch()
  while (!gate_.is_closing()) {
    const auto from = furthest_behind();
    if (!from) break;
    auto work = [this, first = *from] { return tables_->events(first, kEventsStep); };
    auto reading = in_turn<Tables::Events>(std::move(work), kForever);
    const auto found = co_await std::move(reading);
    const bool is_later =
        !found && (found.error().code() == Errc::busy || found.error().code() == Errc::no_space);
    if (is_later) {
      LEAT_CO_DO(co_await rest(kForever));
      continue;
    }
    if (!gate_.is_closing()) hand_out(*from, found);
    LEAT_CO_DO(co_await rt::yield());
  }
  delivering_ = false;
  co_return Status{};
}

void SqliteStore::hand_out(Revision from, const Result<Tables::Events>& found) {
  const auto present = watches_;  // sinks may make watches and end them
  for (const WatchingPtr& one : present) {
    if (one->over || one->next < from) continue;
    if (!found) {
      if (one->next == from) break_off(*one, found.error().clone());
      continue;
    }
    if (one->next > found->up_to) continue;
    std::vector<Event> events;
    for (const Event& event : found->events) {
      if (event.entry.modified >= one->next && event.entry.key.starts_with(one->prefix)) {
        events.push_back(event);
      }
    }
    one->next = Revision(found->up_to.value() + 1);
    if (!events.empty()) one->sink.on_events(std::move(events), found->up_to);
  }
}

}  // namespace leat::control
