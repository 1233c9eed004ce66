#include "control/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>

namespace leat::control {
namespace {

constexpr std::int64_t kApplication = 0x4c656174;  // "Leat"
constexpr std::int64_t kSchema = 1;

constexpr std::string_view kMakeTables[] = {
    "CREATE TABLE state (id INTEGER PRIMARY KEY CHECK (id = 1), revision, compacted, leases, rows,"
    " sum, history, seal)",
    // The value last: what scans the other columns does not read it.
    "CREATE TABLE kv (k BLOB PRIMARY KEY, created, modified, version, lease, seal, v BLOB)"
    " WITHOUT ROWID",
    "CREATE TABLE history (modified, place, left, erased, k BLOB, created, version, lease, seal,"
    " v BLOB, PRIMARY KEY (modified, place)) WITHOUT ROWID",
    "CREATE TABLE lease (id INTEGER PRIMARY KEY, ttl_s, seal)",
};

// What a change costs in history beside its key and value.
constexpr std::int64_t kChangeCost = 64;

std::int64_t history_cost(const KeyValue& entry) {
  return static_cast<std::int64_t>(entry.key.size() + entry.value.size()) + kChangeCost;
}

// Sums and counts of rows: `sign` is 1 for one that comes and -1 for one that goes.
void account(State& state, std::int64_t seal, int sign) {
  const auto sum = static_cast<std::uint64_t>(state.sum);
  const auto change = static_cast<std::uint64_t>(seal);
  state.sum = static_cast<std::int64_t>(sign > 0 ? sum + change : sum - change);
  state.rows += sign;
}

bool satisfies(std::strong_ordering order, Condition::Relation relation) {
  switch (relation) {
    case Condition::Relation::equal: return order == 0;
    case Condition::Relation::not_equal: return order != 0;
    case Condition::Relation::less: return order < 0;
    case Condition::Relation::greater: return order > 0;
  }
  return false;
}

std::int64_t field_of(const KeyValue& entry, Condition::Field field) {
  switch (field) {
    case Condition::Field::created: return entry.created.value();
    case Condition::Field::modified: return entry.modified.value();
    case Condition::Field::version: return entry.version;
    case Condition::Field::value: break;
  }
  return 0;
}

}  // namespace

Result<std::unique_ptr<Tables>> Tables::open(const std::string& path, HistoryLimits limits) {
  std::unique_ptr<Tables> made(new Tables(limits));
  LEAT_DO(made->open_file(path));
  return made;
}

Status Tables::open_file(const std::string& path) {
  LEAT_TRY(database_, Database::open(path));
  LEAT_DO(make_or_recognize());
  return read_state();
}

Status Tables::make_or_recognize() {
  LEAT_TRY(const auto application, database_->number("PRAGMA application_id"));
  LEAT_TRY(const auto schema, database_->number("PRAGMA user_version"));
  LEAT_TRY(const auto tables, database_->number("SELECT count(*) FROM sqlite_schema"));
  if (application == kApplication && schema == kSchema) return {};
  if (application == kApplication && schema > kSchema) {
    return fail(Errc::version_not_supported,
                fmt::format("{}: its schema is {}, this Leat knows {}: a newer Leat wrote it",
                            database_->path(), schema, kSchema));
  }
  // Only what is empty is made: a damaged header must not look like a new file.
  if (application != 0 || schema != 0 || tables != 0) {
    return corrupt("this is no control store, or its first page is damaged");
  }
  LEAT_DO(database_->run("BEGIN IMMEDIATE"));
  for (const std::string_view sql : kMakeTables)
    LEAT_DO(database_->run(sql));
  LEAT_DO(database_->run(fmt::format("PRAGMA application_id = {}", kApplication)));
  LEAT_DO(database_->run(fmt::format("PRAGMA user_version = {}", kSchema)));
  LEAT_DO(write_state(State{}));
  return database_->run("COMMIT");
}

Status Tables::read_state() {
  LEAT_TRY(Statement row,
           database_->prepare("SELECT revision, compacted, leases, rows, sum, history, seal"
                              " FROM state WHERE id = 1"));
  LEAT_TRY(const bool there, row.step());
  if (!there) return corrupt("it has no state");
  const State found{.revision = Revision(row.number(0)),
                    .compacted = Revision(row.number(1)),
                    .leases = row.number(2),
                    .rows = row.number(3),
                    .sum = row.number(4),
                    .history = row.number(5)};
  if (row.number(6) != seal_of(found)) return corrupt("its state is damaged");
  state_ = found;
  return {};
}

Status Tables::usable() const {
  if (!failure_) return {};
  return fail(Errc::unavailable,
              fmt::format("the control store stopped after a failed write: {}; restart the node",
                          failure_->detail()));
}

Status Tables::corrupt(std::string_view what) const {
  return fail(Errc::corrupt, fmt::format("{}: {}; put a backup of the file in its place",
                                         database_->path(), what));
}

Status Tables::check() const {
  LEAT_DO(usable());
  LEAT_TRY(const std::string pages, database_->text("PRAGMA quick_check(1)"));
  if (pages != "ok") return corrupt(pages);
  State counted;
  LEAT_TRY(const Listing all, list(""));
  for (const KeyValue& entry : all.entries)
    account(counted, seal_of(entry), 1);
  LEAT_TRY(const auto held, leases());
  for (const Lease& one : held) {
    account(counted, seal_of(one.id, std::chrono::floor<std::chrono::seconds>(one.ttl).count()), 1);
  }
  if (counted.rows != state_.rows || counted.sum != state_.sum) {
    return corrupt(
        fmt::format("{} keys and leases are there instead of {}, or others than were "
                    "written",
                    counted.rows, state_.rows));
  }
  for (Revision next(state_.compacted.value() + 1); next <= state_.revision;) {
    constexpr std::size_t kStep = 256;
    LEAT_TRY(const Events some, events(next, kStep));
    next = Revision(some.up_to.value() + 1);
  }
  return {};
}

Result<KeyValue> Tables::entry_of(const Statement& row) const {
  KeyValue entry{.key = row.bytes(0),
                 .value = row.bytes(6),
                 .created = Revision(row.number(1)),
                 .modified = Revision(row.number(2)),
                 .version = row.number(3),
                 .lease = LeaseId(row.number(4))};
  if (row.number(5) != seal_of(entry)) {
    LEAT_DO(corrupt(fmt::format("the value of '{}' is damaged", entry.key)));
  }
  return entry;
}

Result<std::optional<KeyValue>> Tables::find(std::string_view key) const {
  LEAT_TRY(Statement row,
           database_->prepare("SELECT k, created, modified, version, lease, seal, v FROM kv"
                              " WHERE k = ?"));
  LEAT_TRY(const bool there, row.bind(key).step());
  if (!there) return std::nullopt;
  LEAT_TRY(KeyValue entry, entry_of(row));
  // A page at the wrong place leads to rows that nobody asked for.
  if (entry.key != key) LEAT_DO(corrupt(fmt::format("'{}' stands for '{}'", entry.key, key)));
  return entry;
}

Result<Listing> Tables::list(std::string_view prefix) const {
  LEAT_DO(usable());
  const auto end = prefix_end(prefix);
  LEAT_TRY(Statement row,
           database_->prepare(fmt::format(
               "SELECT k, created, modified, version, lease, seal, v FROM kv WHERE k >= ?{}"
               " ORDER BY k",
               end ? " AND k < ?" : "")));
  row.bind(prefix);
  if (end) row.bind(*end);
  Listing listing{.revision = state_.revision};
  for (;;) {
    LEAT_TRY(const bool more, row.step());
    if (!more) return listing;
    LEAT_TRY(KeyValue entry, entry_of(row));
    // Damage of the tree's order: a row that stands where it does not belong.
    const bool in_order = listing.entries.empty() || listing.entries.back().key < entry.key;
    if (!in_order || !entry.key.starts_with(prefix)) {
      LEAT_DO(corrupt(fmt::format("'{}' stands at the wrong place", entry.key)));
    }
    listing.entries.push_back(std::move(entry));
  }
}

Result<bool> Tables::holds(const Condition& condition) const {
  LEAT_TRY(const auto found, find(condition.key));
  if (condition.field == Condition::Field::value) {
    if (!found) return false;
    // char_traits<char> compares as unsigned bytes.
    return satisfies(found->value <=> condition.bytes, condition.relation);
  }
  const std::int64_t field = found ? field_of(*found, condition.field) : 0;
  return satisfies(field <=> condition.number, condition.relation);
}

template <class T, class Work>
Result<T> Tables::transaction(Work work) {
  LEAT_DO(usable());
  LEAT_DO(database_->run("BEGIN IMMEDIATE"));
  Draft draft{.state = state_, .events = {}};
  Result<T> outcome = work(draft);
  if (outcome && (draft.state != state_ || !draft.events.empty())) {
    if (Status committed = commit(draft); !committed) {
      outcome = std::unexpected(std::move(committed).error());
    }
  }
  // SQLite has rolled back by itself after some failures.
  if (database_ && database_->in_transaction()) {
    if (Status undone = database_->run("ROLLBACK"); !undone) failure_ = std::move(undone).error();
  }
  return outcome;
}

Status Tables::commit(Draft& draft) {
  if (!draft.events.empty()) LEAT_DO(write_history(draft));
  LEAT_DO(write_state(draft.state));
  Status committed = database_->run("COMMIT");
  if (!committed) return fail(failed_commit(std::move(committed).error()));
  state_ = draft.state;
  return {};
}

Error Tables::failed_commit(Error error) {
  Error unknown(Errc::outcome_unknown,
                fmt::format("it is not known whether a change was made: {}", error.detail()));
  if (error.code() != Errc::no_space) {
    failure_ = std::move(error);
    return unknown;
  }
  const std::string path = database_->path();
  const State before = state_;
  database_.reset();
  if (Status reopened = open_file(path); !reopened) {
    failure_ = std::move(reopened).error();
    return unknown;
  }
  return state_ == before ? std::move(error) : std::move(unknown);
}

Result<TxnReply> Tables::apply(const Txn& txn) {
  return transaction<TxnReply>([&](Draft& draft) { return attempt(txn, draft); });
}

Result<TxnReply> Tables::attempt(const Txn& txn, Draft& draft) {
  TxnReply reply{.held = true};
  for (const Condition& condition : txn.when) {
    LEAT_TRY(const bool held, holds(condition));
    reply.held = reply.held && held;
  }
  for (const Operation& one : reply.held ? txn.then : txn.otherwise) {
    switch (one.kind) {
      case Operation::Kind::put: LEAT_DO(put(one, draft)); break;
      case Operation::Kind::erase: LEAT_DO(erase(one.key, draft)); break;
      case Operation::Kind::get: {
        LEAT_TRY(auto found, find(one.key));
        reply.reads.push_back(std::move(found));
        break;
      }
    }
  }
  if (!draft.events.empty()) draft.state.revision = Revision(state_.revision.value() + 1);
  reply.revision = draft.state.revision;
  return reply;
}

Status Tables::require_lease(LeaseId lease) const {
  LEAT_TRY(Statement row, database_->prepare("SELECT id FROM lease WHERE id = ?"));
  LEAT_TRY(const bool there, row.bind(lease.value()).step());
  if (there) return {};
  return fail(Errc::lease_lost, fmt::format("lease {} has ended", lease.value()));
}

Status Tables::put(const Operation& operation, Draft& draft) {
  if (operation.lease != LeaseId()) LEAT_DO(require_lease(operation.lease));
  const Revision revision(state_.revision.value() + 1);
  LEAT_TRY(const auto old, find(operation.key));
  if (old) account(draft.state, seal_of(*old), -1);
  KeyValue entry{.key = operation.key,
                 .value = operation.value,
                 .created = old ? old->created : revision,
                 .modified = revision,
                 .version = old ? old->version + 1 : 1,
                 .lease = operation.lease};
  account(draft.state, seal_of(entry), 1);
  LEAT_TRY(Statement row, database_->prepare("INSERT OR REPLACE INTO kv"
                                             " (k, created, modified, version, lease, seal, v)"
                                             " VALUES (?, ?, ?, ?, ?, ?, ?)"));
  row.bind(entry.key).bind(entry.created.value()).bind(entry.modified.value()).bind(entry.version);
  LEAT_DO(row.bind(entry.lease.value()).bind(seal_of(entry)).bind(entry.value).run());
  draft.events.push_back({.erased = false, .entry = std::move(entry)});
  return {};
}

Status Tables::erase(std::string_view key, Draft& draft) {
  LEAT_TRY(const auto old, find(key));
  if (!old) return {};
  account(draft.state, seal_of(*old), -1);
  LEAT_TRY(Statement row, database_->prepare("DELETE FROM kv WHERE k = ?"));
  LEAT_DO(row.bind(key).run());
  const Revision revision(state_.revision.value() + 1);
  KeyValue gone{.key = std::string(key), .modified = revision};
  draft.events.push_back({.erased = true, .entry = std::move(gone)});
  return {};
}

Result<LeaseId> Tables::add_lease(Duration ttl) {
  return transaction<LeaseId>([&](Draft& draft) -> Result<LeaseId> {
    const LeaseId id(++draft.state.leases);
    const std::int64_t ttl_s = std::chrono::ceil<std::chrono::seconds>(ttl).count();
    const std::int64_t seal = seal_of(id, ttl_s);
    account(draft.state, seal, 1);
    LEAT_TRY(Statement row,
             database_->prepare("INSERT INTO lease (id, ttl_s, seal) VALUES (?, ?, ?)"));
    LEAT_DO(row.bind(id.value()).bind(ttl_s).bind(seal).run());
    return id;
  });
}

Result<std::size_t> Tables::end_leases(std::span<const LeaseId> leases) {
  return transaction<std::size_t>([&](Draft& draft) -> Result<std::size_t> {
    std::size_t ended = 0;
    for (const LeaseId lease : leases) {
      LEAT_TRY(const bool was_there, end_lease(lease, draft));
      ended += was_there ? 1 : 0;
    }
    if (!draft.events.empty()) draft.state.revision = Revision(state_.revision.value() + 1);
    return ended;
  });
}

Result<bool> Tables::end_lease(LeaseId lease, Draft& draft) {
  LEAT_TRY(Statement row, database_->prepare("SELECT ttl_s FROM lease WHERE id = ?"));
  LEAT_TRY(const bool there, row.bind(lease.value()).step());
  if (!there) return false;
  account(draft.state, seal_of(lease, row.number(0)), -1);
  LEAT_DO(row.run());
  LEAT_TRY(Statement gone, database_->prepare("DELETE FROM lease WHERE id = ?"));
  LEAT_DO(gone.bind(lease.value()).run());
  std::vector<std::string> keys;
  LEAT_TRY(Statement attached, database_->prepare("SELECT k FROM kv WHERE lease = ? ORDER BY k"));
  attached.bind(lease.value());
  for (;;) {
    LEAT_TRY(const bool more, attached.step());
    if (!more) break;
    keys.push_back(attached.bytes(0));
  }
  for (const std::string& key : keys)
    LEAT_DO(erase(key, draft));
  return true;
}

Result<std::vector<Lease>> Tables::leases() const {
  LEAT_DO(usable());
  LEAT_TRY(Statement row, database_->prepare("SELECT id, ttl_s, seal FROM lease ORDER BY id"));
  std::vector<Lease> found;
  for (;;) {
    LEAT_TRY(const bool more, row.step());
    if (!more) return found;
    const LeaseId id(row.number(0));
    const std::int64_t ttl_s = row.number(1);
    if (row.number(2) != seal_of(id, ttl_s)) {
      LEAT_DO(corrupt(fmt::format("lease {} is damaged", id.value())));
    }
    found.push_back({.id = id, .ttl = std::chrono::seconds(ttl_s)});
  }
}

Status Tables::write_history(Draft& draft) {
  std::int64_t place = 0;
  for (const Event& event : draft.events) {
    const auto left = static_cast<std::int64_t>(draft.events.size()) - 1 - place;
    const KeyValue& entry = event.entry;
    const Change change{.event = event, .place = place++, .left = left};
    LEAT_TRY(Statement row,
             database_->prepare("INSERT INTO history (modified, place, left, erased, k, created,"
                                " version, lease, seal, v) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    row.bind(entry.modified.value()).bind(change.place).bind(left).bind(event.erased ? 1 : 0);
    row.bind(entry.key).bind(entry.created.value()).bind(entry.version).bind(entry.lease.value());
    LEAT_DO(row.bind(seal_of(change)).bind(entry.value).run());
    draft.state.history += history_cost(entry);
  }
  return trim_history(draft.state);
}

Status Tables::trim_history(State& state) {
  while (state.compacted.value() < state.revision.value() - 1 &&
         (state.revision.value() - state.compacted.value() > limits_.revisions_max ||
          state.history > limits_.bytes_max)) {
    state.compacted = Revision(state.compacted.value() + 1);
    LEAT_TRY(Statement cost,
             database_->prepare("SELECT sum(length(k) + length(v)) + count(*) * ? FROM history"
                                " WHERE modified = ?"));
    LEAT_DO(cost.bind(kChangeCost).bind(state.compacted.value()).step());
    state.history -= cost.number(0);
    LEAT_TRY(Statement row, database_->prepare("DELETE FROM history WHERE modified = ?"));
    LEAT_DO(row.bind(state.compacted.value()).run());
  }
  return {};
}

Status Tables::write_state(const State& state) {
  LEAT_TRY(Statement row,
           database_->prepare("INSERT OR REPLACE INTO state (id, revision, compacted, leases, rows,"
                              " sum, history, seal) VALUES (1, ?, ?, ?, ?, ?, ?, ?)"));
  row.bind(state.revision.value()).bind(state.compacted.value()).bind(state.leases);
  return row.bind(state.rows).bind(state.sum).bind(state.history).bind(seal_of(state)).run();
}

Result<Tables::Events> Tables::events(Revision from, std::size_t limit) const {
  LEAT_DO(usable());
  if (from <= state_.compacted) {
    return fail(Errc::compacted, fmt::format("history begins at revision {}; {} is forgotten",
                                             state_.compacted.value() + 1, from.value()));
  }
  LEAT_TRY(
      Statement row,
      database_->prepare("SELECT modified, place, left, erased, k, created, version, lease,"
                         " seal, v FROM history WHERE modified >= ? ORDER BY modified, place"));
  row.bind(from.value());
  Events found;
  std::size_t bytes = 0;
  Revision expected = from;
  std::int64_t place = 0;
  while (expected <= state_.revision && (found.events.size() < limit || place > 0)) {
    if (bytes > kTxnBytesMax && place == 0) break;
    LEAT_TRY(const bool more, row.step());
    if (!more) break;
    Change change{.place = row.number(1), .left = row.number(2)};
    change.event.erased = row.number(3) != 0;
    change.event.entry = {.key = row.bytes(4),
                          .value = row.bytes(9),
                          .created = Revision(row.number(5)),
                          .modified = Revision(row.number(0)),
                          .version = row.number(6),
                          .lease = LeaseId(row.number(7))};
    if (row.number(8) != seal_of(change) || change.event.entry.modified != expected ||
        change.place != place) {
      LEAT_DO(corrupt(fmt::format("its history is damaged at revision {}", expected.value())));
    }
    bytes += change.event.entry.key.size() + change.event.entry.value.size();
    found.events.push_back(std::move(change.event));
    place = change.left == 0 ? 0 : place + 1;
    if (change.left == 0) expected = Revision(expected.value() + 1);
  }
  found.up_to = Revision(expected.value() - 1);
  if (place > 0 || found.up_to < from) {
    LEAT_DO(corrupt(fmt::format("its history ends before revision {}", expected.value())));
  }
  return found;
}

}  // namespace leat::control
