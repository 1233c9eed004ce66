// S3Api: the S3 API at /, on one shard.
//
//   router → authenticator → http::permits() → policy, rules of the key, ACL → operation
//
// Who may is decided in one place (s3/permission.h), before any operation runs, by a switch over
// all operations; only what more than one key is about (copies, deletions of many) asks again for
// each, and an object that is public is known as such when it was found.
//
// Shard: one of each a shard. Lifetime: what it is given outlives it; it outlives the dispatcher's
// use.
#pragma once

#include <memory>
#include <vector>

#include "http/dispatcher.h"
#include "log/logger.h"
#include "s3/authenticator.h"
#include "s3/call.h"
#include "s3/router.h"

namespace leat::s3 {

class S3Api {
 public:
  struct Parts {
    store::ShardStore& store;
    shards::ShardIndexes& indexes;
    const keys::ShardKeys& keys;
    const http::Authenticator& token;  // of the operators
    const io::Clock& clock;
    log::Logger& logger;
    S3Options options;
  };
  explicit S3Api(const Parts& parts);
  ~S3Api();

  // The first one to be installed: a host with a bucket in it has no other API.
  void install(http::Dispatcher& dispatcher);

  // For other APIs whose callers hold the same keys.
  Tools& tools() { return tools_; }

 private:
  class Operator;

  Tools tools_;
  S3Router router_;
  S3Authenticator authenticator_;
  std::vector<std::unique_ptr<Operator>> operators_;
};

}  // namespace leat::s3
