#include "control/control_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace leat::control {
namespace {

constexpr Duration kPauseMin = std::chrono::milliseconds(20);
constexpr Duration kPauseMax = std::chrono::milliseconds(500);
// How often a session's key may be other than remembered: once after a start, and once for each
// attempt of an earlier commit that was given up.
constexpr int kSurprisesMax = 16;

bool may_try_again(Errc code) {
  return code == Errc::unavailable || code == Errc::busy || code == Errc::outcome_unknown;
}

Txn single(Condition condition, Operation operation) {
  Txn txn;
  txn.when.push_back(std::move(condition));
  txn.then.push_back(std::move(operation));
  return txn;
}

// Equal to the revision at which the key was last changed; 0: it is not there.
Condition modified_at(std::string key, Revision revision) {
  return {.key = std::move(key), .number = revision.value()};
}

Operation put(std::string key, std::string value, LeaseId lease = {}) {
  return {.kind = Operation::Kind::put,
          .key = std::move(key),
          .value = std::move(value),
          .lease = lease};
}

Committed committed(TxnReply reply) {
  return {.held = reply.held, .revision = reply.revision, .reads = std::move(reply.reads)};
}

Error exists(const std::string& key) {
  return Error(Errc::conflict, fmt::format("'{}' is there already", key));
}

Error changed(const std::string& key, Revision expected) {
  return Error(Errc::precondition_failed,
               fmt::format("'{}' was changed since revision {}", key, expected.value()));
}

}  // namespace

ControlClient::ControlClient(ControlStore& store, io::Clock& clock, io::Rng& rng,
                             std::string session, ClientOptions options)
    : store_(store),
      clock_(clock),
      key_("sess/" + std::move(session)),
      nonce_(fmt::format("{:016x}", rng.next())),
      options_(options) {}

rt::Task<std::optional<KeyValue>> ControlClient::get(std::string key) {
  Txn txn;
  txn.then.push_back({.key = std::move(key)});
  auto asking = store_.attempt(std::move(txn), options_.attempt);
  LEAT_CO_TRY(TxnReply reply, co_await std::move(asking));
  co_return std::move(reply.reads.front());
}

rt::Task<Revision> ControlClient::create(std::string key, std::string value) {
  Error unless = exists(key);
  Txn txn = single(modified_at(key, Revision()), put(key, std::move(value)));
  auto changing = change(std::move(txn), std::move(unless));
  co_return co_await std::move(changing);
}

rt::Task<Revision> ControlClient::replace(std::string key, std::string value, Revision expected) {
  Error unless = changed(key, expected);
  Txn txn = single(modified_at(key, expected), put(key, std::move(value)));
  auto changing = change(std::move(txn), std::move(unless));
  co_return co_await std::move(changing);
}

rt::Task<Revision> ControlClient::erase(std::string key, Revision expected) {
  Error unless = changed(key, expected);
  Operation gone{.kind = Operation::Kind::erase, .key = key};
  Txn txn = single(modified_at(key, expected), std::move(gone));
  auto changing = change(std::move(txn), std::move(unless));
  co_return co_await std::move(changing);
}

rt::Task<Lease> ControlClient::pin(std::string key, std::string value, Duration ttl) {
  LEAT_CO_TRY(const Lease lease, co_await store_.grant_lease(ttl));
  Error unless = exists(key);
  Txn txn = single(modified_at(key, Revision()), put(key, std::move(value), lease.id));
  auto changing = change(std::move(txn), std::move(unless));
  auto made = co_await std::move(changing);
  if (made) co_return lease;
  // Should this fail, too, the lease ends by itself.
  const Status revoked = co_await store_.revoke_lease(lease.id);
  static_cast<void>(revoked);
  co_return fail(std::move(made).error());
}

rt::Task<Revision> ControlClient::change(Txn txn, Error unless) {
  auto committing = commit(std::move(txn));
  LEAT_CO_TRY(const Committed done, co_await std::move(committing));
  if (!done.held) co_return fail(std::move(unless));
  co_return done.revision;
}

Txn ControlClient::marked(Txn txn, const std::string& mark) const {
  txn.when.push_back(modified_at(key_, seen_));
  txn.then.push_back(put(key_, mark));
  txn.otherwise.push_back({.key = key_});
  return txn;
}

bool ControlClient::learn(const std::optional<KeyValue>& session) {
  const Revision found = session ? session->modified : Revision();
  return std::exchange(seen_, found) == found;
}

rt::Task<Committed> ControlClient::commit(Txn txn) {
  LEAT_CHECK(std::ranges::all_of(
      txn.otherwise, [](const Operation& one) { return one.kind == Operation::Kind::get; }));
  const Instant deadline = clock_.now() + options_.budget;
  LEAT_CO_TRY(const auto turn, co_await turns_.take());
  if (clock_.now() >= deadline) co_return fail(Errc::unavailable, "others took all of its time");
  const std::string mark = fmt::format("{}-{}", nonce_, ++commits_);
  Duration pause = kPauseMin;
  bool unknown = false;
  for (int surprises = 0; surprises < kSurprisesMax;) {
    // What may still be on its way must not arrive after the answer: an attempt that only replaces
    // the session's key makes all before it fail.
    Txn next = unknown ? marked(Txn{}, mark + "-fence") : marked(txn, mark);
    const Duration left = deadline - clock_.now();
    auto attempting = store_.attempt(std::move(next), std::min(options_.attempt, left));
    auto reply = co_await std::move(attempting);
    if (reply && reply->held) {
      seen_ = reply->revision;
      if (!std::exchange(unknown, false)) co_return committed(std::move(*reply));
      continue;
    }
    if (reply) {
      const std::optional<KeyValue> session = std::move(reply->reads.back());
      reply->reads.pop_back();
      const bool as_expected = learn(session);
      if (session && session->value == mark) {
        Committed before{.held = true, .revision = seen_, .replayed = true};
        co_return before;
      }
      if (as_expected) co_return committed(std::move(*reply));
      ++surprises;
      continue;
    }
    const Errc code = reply.error().code();
    unknown = unknown || code == Errc::outcome_unknown;
    bool is_over = !may_try_again(code) || clock_.now() + pause >= deadline;
    if (!is_over) {
      const Status slept = co_await clock_.sleep_until(clock_.now() + pause);
      is_over = !slept;
      pause = std::min(2 * pause, kPauseMax);
    }
    if (is_over) {
      co_return fail(unknown ? Errc::outcome_unknown : code, std::string(reply.error().detail()));
    }
  }
  co_return fail(unknown ? Errc::outcome_unknown : Errc::conflict,
                 fmt::format("'{}' is used by another client, too", key_));
}

}  // namespace leat::control
