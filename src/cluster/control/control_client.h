// ControlClient: what every user of a control store needs, written once on its six calls.
//
// commit() tries again until its budget is spent and applies a transaction exactly once, also when
// an attempt ends with `outcome_unknown`: each one also replaces `sess/<session>`, on the condition
// that it is as this client last saw it, by a text no other commit writes. An attempt that finds
// its own text there was applied before. There is one such key a session, for good.
//
// Shard: the store's. Lifetime: store and clock outlive it, and it outlives its calls.
#pragma once

#include <optional>
#include <string>

#include "control/control_store.h"
#include "control/turns.h"
#include "io/clock.h"
#include "io/rng.h"

namespace leat::control {

struct ClientOptions {
  Duration attempt = std::chrono::seconds(2);  // the most that one attempt may take
  Duration budget = std::chrono::seconds(10);  // the most that a call may take
};

struct Committed {
  bool held = false;
  Revision revision{};  // held: the one of the change. Not held: the store's
  // One entry a `get`. Requires: not replayed.
  std::vector<std::optional<KeyValue>> reads{};
  // It was applied by an attempt whose answer was lost, and its reads with it.
  bool replayed = false;
};

class ControlClient {
 public:
  static constexpr std::size_t kWaitingMax = 1024;

  // `session` names the user of the store, such as a node, for good: at any time one client has
  // it.
  ControlClient(ControlStore& store, io::Clock& clock, io::Rng& rng, std::string session,
                ClientOptions options = {});

  ControlStore& store() { return store_; }

  // Errors: those of ControlStore::attempt().
  rt::Task<std::optional<KeyValue>> get(std::string key);

  // The revision of the change. Errors: conflict (it is there already), those of commit().
  rt::Task<Revision> create(std::string key, std::string value);
  // Keeps the key's lease out of it: the new value has none.
  // Errors: precondition_failed (it is not at `expected`), those of commit().
  rt::Task<Revision> replace(std::string key, std::string value, Revision expected);
  rt::Task<Revision> erase(std::string key, Revision expected);

  // Creates a key that goes away `ttl` after the last renewal: what a job that still runs holds on
  // to. Keep it by ControlStore::renew_lease, drop it by revoke_lease.
  // Errors: conflict (it is there already), those of commit().
  rt::Task<Lease> pin(std::string key, std::string value, Duration ttl);

  // Applies `txn` exactly once, or not at all. Its commits happen one after another.
  // Requires: `otherwise` only gets; one condition and one operation fewer than the limits.
  // Errors: outcome_unknown, when the budget ended and some attempt may have been applied; else
  // those of ControlStore::attempt(), and then it certainly was not.
  rt::Task<Committed> commit(Txn txn);

 private:
  // commit(), with a failed condition as an error: `unless`.
  rt::Task<Revision> change(Txn txn, Error unless);
  // The transaction, on the condition that the session's key is as seen, which it replaces.
  Txn marked(Txn txn, const std::string& mark) const;
  // Remembers the session's key as it is; false, when it was not as remembered.
  bool learn(const std::optional<KeyValue>& session);

  ControlStore& store_;
  io::Clock& clock_;
  const std::string key_;
  const std::string nonce_;
  const ClientOptions options_;
  Turns turns_{kWaitingMax};
  Revision seen_;  // when the session's key was last changed, as far as is known
  std::uint64_t commits_ = 0;
};

}  // namespace leat::control
