// ControlStore keeps the few kilobytes that all nodes must agree on: an ordered map of byte strings
// with transactions, leases and watches.
//
// Backends: `SqliteStore` (one machine, inside the process); etcd for several machines is to
// follow. A backend holds no policy: retries, exactly-once and pins are written once, in
// ControlClient, on top of the six calls below. One suite, conformance_test.h, says what each must
// do.
//
// Invariants:
//  1. One revision counter orders all changes: a transaction that changes something takes the next
//     number, one that changes nothing takes none.
//  2. A transaction is applied whole or not at all. What was answered survives kill -9 and power
//     loss.
//  3. Errc::outcome_unknown: may be applied. Every other error: certainly not.
//  4. A watch delivers in order, at least once, or breaks with a reason. Never a silent gap.
//  5. No key is visible whose lease has ended.
//
// Shard: lives on one, the control shard; others reach it by rt::ask().
// Lifetime: outlives every Watch it returned.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/strong.h"
#include "base/time.h"
#include "rt/task.h"

namespace leat::control {

// Never stored as a version of something of ours: it starts anew in another backend.
using Revision = Strong<std::int64_t, struct RevisionTag>;  // 0: the key does not exist
using LeaseId = Strong<std::int64_t, struct LeaseIdTag>;    // 0: no lease

// What every backend can hold; etcd takes 1.5 MiB and 128 operations a request.
constexpr std::size_t kKeyMax = 4 * kKiB;
constexpr std::size_t kValueMax = kMiB;
constexpr std::size_t kTxnBytesMax = kMiB + 128 * kKiB;  // all keys and values together
constexpr std::size_t kTxnPartsMax = 128;                // conditions, and operations of a branch
constexpr Duration kLeaseMin = std::chrono::seconds(2);
constexpr Duration kLeaseMax = std::chrono::days(30);

enum class ReadLevel : std::uint8_t {
  linearizable,  // at least as new as every answer that was given before the call
  stale_ok,      // any state that was once true; it is answered also without a quorum
};

struct KeyValue {
  std::string key{};
  std::string value{};
  Revision created{};
  Revision modified{};
  std::int64_t version = 0;  // puts since creation; 0: absent
  LeaseId lease{};
  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

// Compares a field of a key with a number, or its value with bytes. An absent key has created,
// modified and version 0; it has no value, so a condition on that never holds.
struct Condition {
  enum class Field : std::uint8_t { created, modified, version, value };
  enum class Relation : std::uint8_t { equal, not_equal, less, greater };
  std::string key{};
  Field field = Field::modified;
  Relation relation = Relation::equal;
  std::int64_t number = 0;  // for created, modified, version
  std::string bytes{};      // for value; ordered byte by byte
};

struct Operation {
  enum class Kind : std::uint8_t { put, get, erase };
  Kind kind = Kind::get;
  std::string key{};
  std::string value{};  // for put
  LeaseId lease{};      // for put: the key goes when the lease does
};

// A branch puts or erases a key at most once. Its operations see what those before them did.
struct Txn {
  std::vector<Condition> when{};  // all must hold
  std::vector<Operation> then{};
  std::vector<Operation> otherwise{};
};

struct TxnReply {
  bool held = false;    // did every condition hold? A failed condition is an answer, not an error
  Revision revision{};  // the store's, after the transaction
  std::vector<std::optional<KeyValue>> reads{};  // one entry a `get`, in order; nothing: absent
};

struct Listing {
  std::vector<KeyValue> entries{};  // in the order of bytes of their keys
  Revision revision{};              // of the store, when all of it was true
};

struct Lease {
  LeaseId id{};
  Duration ttl{};  // as granted: between kLeaseMin and kLeaseMax, in whole seconds
};

struct Event {
  bool erased = false;
  KeyValue entry{};  // erased: only key and modified, the revision that erased it
  friend bool operator==(const Event&, const Event&) = default;
};

// Called on the control shard, never from inside a call of the store. A sink may call the store,
// make watches and destroy its own.
struct WatchSink {
  // Events of one or more whole revisions. To go on after it later: watch from `up_to` + 1.
  std::function<void(std::vector<Event> events, Revision up_to)> on_events;
  // Nothing is delivered after it. compacted: what was asked for is forgotten; list the prefix,
  // which is as of a revision R, rebuild, watch from R + 1.
  // Errors: compacted, corrupt, unavailable (the store stops), busy (too many watches), io.
  std::function<void(Error)> on_broken;
};

class Watch {
 public:
  virtual ~Watch() = default;  // cancels; no call is made once it has begun
};

class ControlStore {
 public:
  virtual ~ControlStore() = default;

  // Every key that starts with `prefix`. Errors: unavailable, busy, corrupt, io.
  virtual rt::Task<Listing> list(std::string prefix, ReadLevel level) = 0;

  // One attempt, no retry. `timeout` bounds the wait for an answer where the backend can; a change
  // that has begun on the local disk is waited for.
  // Errors: outcome_unknown, unavailable, busy, lease_lost (of a put), too_large, bad_request,
  // no_space, corrupt, io.
  virtual rt::Task<TxnReply> attempt(Txn txn, Duration timeout) = 0;

  // Errors: those of attempt(). A lease nobody heard of ends by itself.
  virtual rt::Task<Lease> grant_lease(Duration ttl) = 0;

  // Begins the lease's time anew and returns it. Errors: lease_lost, unavailable, outcome_unknown.
  virtual rt::Task<Duration> renew_lease(LeaseId lease) = 0;

  // Ends the lease and erases every key attached to it, at one revision.
  // Errors: lease_lost, and those of attempt().
  virtual rt::Task<void> revoke_lease(LeaseId lease) = 0;

  // Changes of keys that start with `prefix`, at revisions >= `from` (0: from now on).
  virtual std::unique_ptr<Watch> watch(std::string prefix, Revision from, WatchSink sink) = 0;
};

// Whether every backend would take it. Errors: too_large, bad_request.
Status check_limits(const Txn& txn);

// `ttl` in whole seconds, not shorter than asked for, within the limits.
Duration granted_ttl(Duration ttl);

// The first key behind all that start with `prefix`; nothing, when there is no such key.
std::optional<std::string> prefix_end(std::string_view prefix);

}  // namespace leat::control
