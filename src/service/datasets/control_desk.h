// ControlDesk: the control store, from any shard.
//
// Lifetime: the client outlives it. Threads: any shard.
#pragma once

#include <optional>
#include <string>

#include "control/control_client.h"
#include "rt/shard.h"

namespace leat::datasets {

class ControlDesk {
 public:
  // `shard`: of the client and its store.
  ControlDesk(rt::Shard& shard, control::ControlClient& client) : shard_(shard), client_(client) {}

  rt::Task<std::optional<control::KeyValue>> get(rt::Shard& from, std::string key) {
    return rt::ask<std::optional<control::KeyValue>>(
        from, shard_, [this, k = std::move(key)]() mutable { return client_.get(std::move(k)); });
  }
  rt::Task<control::Listing> list(rt::Shard& from, std::string prefix) {
    return rt::ask<control::Listing>(from, shard_, [this, p = std::move(prefix)]() mutable {
      return client_.store().list(std::move(p), control::ReadLevel::linearizable);
    });
  }
  rt::Task<control::Committed> commit(rt::Shard& from, control::Txn txn) {
    return rt::ask<control::Committed>(from, shard_, [this, t = std::move(txn)]() mutable {
      return client_.commit(std::move(t));
    });
  }
  rt::Task<control::Lease> grant_lease(rt::Shard& from, Duration ttl) {
    return rt::ask<control::Lease>(from, shard_,
                                   [this, ttl] { return client_.store().grant_lease(ttl); });
  }
  rt::Task<void> revoke_lease(rt::Shard& from, control::LeaseId lease) {
    return rt::ask<void>(from, shard_,
                         [this, lease] { return client_.store().revoke_lease(lease); });
  }

 private:
  rt::Shard& shard_;
  control::ControlClient& client_;
};

}  // namespace leat::datasets
