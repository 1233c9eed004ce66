// Native: buckets, objects and disks under /_/v1/, for Leat's own tools.
//
//   GET    /_/v1/buckets                     all of them, with counts
//   PUT    /_/v1/buckets/NAME                make one; {"durability": "sync", "undo_window_ms": 0}
//   DELETE /_/v1/buckets/NAME                remove an empty one
//   GET    /_/v1/list/NAME?prefix=&delimiter=&after=&max=&encoding=url
//   GET, HEAD, PUT, DELETE /_/v1/objects/NAME/KEY
//   POST   /_/v1/objects/NAME/KEY?undelete   bring the last version back
//   POST   /_/v1/objects/NAME/KEY?copy=NAME/KEY
//   GET    /_/v1/disks                       how each disk is
//   POST   /_/v1/disks                       bring one in: {"path": "/directory"}
//   DELETE /_/v1/disks/NAME                  take one out, named by its id or its directory
//   GET    /_/v1/keys                        access keys, without their secrets
//   POST   /_/v1/keys                        make one; the answer alone has its secret
//   DELETE /_/v1/keys/ID                     revoke one
//
// docs/reference/api.md has the details. Keys are percent-encoded and decoded once.
// Shard: one of each a shard. Lifetime: what the constructor is given outlives the handlers.
#pragma once

#include <memory>
#include <vector>

#include "http/dispatcher.h"
#include "keys/key_store.h"
#include "log/logger.h"
#include "store/shard_store.h"

namespace leat::native {

class NativeRouter final : public http::Router {
 public:
  Result<std::optional<http::Operation>> route(const http1::RequestHead& head) const override;
  std::string_view allowed(const http1::RequestHead& head) const override;
};

// The handlers of one shard.
class NativeApi {
 public:
  NativeApi(store::ShardStore& store, store::DiskKeeper& keeper, keys::KeyStore& keys,
            log::Logger& logger);
  ~NativeApi();

  void install(http::Dispatcher& dispatcher);

 private:
  class Call;

  NativeRouter router_;
  std::vector<std::pair<http::Operation, std::unique_ptr<Call>>> calls_;
};

}  // namespace leat::native
