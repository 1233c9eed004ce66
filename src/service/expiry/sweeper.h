// Sweeper: carries out the lifecycle of buckets, in the background, at a set rate.
//
// Now and then (24 times a day) it looks at every object that a rule may be about, and removes what
// is due; uploads that nobody completed likewise. It removes the version it looked at or nothing:
// what was written since stays. Rules that are changed or taken away stop it at the next page.
//
// Shard: the desk's, one for a node. Lifetime: what it is given outlives it; stop() before
// destroying, and before the store closes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lifecycle/lifecycle.h"
#include "log/logger.h"
#include "metrics/registry.h"
#include "rt/gate.h"
#include "store/shard_store.h"
#include "volume/throttle.h"

namespace leat::expiry {

struct SweeperOptions {
  // Tests make it short.
  Duration day = std::chrono::hours(24);
  // Objects that are looked at in a second; a removal counts as many of them.
  std::uint64_t looks_per_second = 20'000;
};

struct SweeperTools {
  io::Clock& clock;
  log::Logger& logger;
  metrics::Registry& metrics;
};

// What a sweep removed.
struct Swept {
  std::uint64_t objects = 0;
  std::uint64_t versions = 0;  // that were not current, and delete markers
  std::uint64_t uploads = 0;
  std::uint64_t total() const { return objects + versions + uploads; }
};

class Sweeper {
 public:
  Sweeper(store::ShardStore& store, SweeperTools tools, SweeperOptions options);

  void start();
  // Returns when nothing of it runs any more.
  rt::Task<void> stop() { return gate_.close(); }

  // All buckets once. Errors are logged, and the next bucket is looked at.
  rt::Task<Swept> sweep();

 private:
  using Rules = std::vector<lifecycle::Rule>;

  rt::Task<void> loop(rt::Gate::Pass pass);
  rt::Task<bool> rest(Duration duration);
  rt::Task<void> sweep_bucket(const record::Bucket& bucket, Swept& swept);
  rt::Task<void> sweep_objects(const record::Bucket& bucket, const Rules& rules, Swept& swept);
  rt::Task<void> sweep_uploads(const record::Bucket& bucket, const Rules& rules, Swept& swept);
  rt::Task<void> abort_due(const record::Bucket& bucket, const Rules& rules,
                           const std::vector<record::Upload>& uploads, Swept& swept);
  rt::Task<void> sweep_versions(const record::Bucket& bucket, const Rules& rules, Swept& swept);
  // All versions of a key, the newest first.
  rt::Task<void> sweep_history(const record::ObjectKey& object, const Rules& rules,
                               std::vector<store::VersionItem> versions, Swept& swept);
  rt::Task<void> remove_version(const record::ObjectKey& object, const record::Version& version,
                                Swept& swept);
  rt::Task<void> remove(record::ObjectKey object, const record::Version& version, Swept& swept);
  // Whether to go on with a bucket: it has the same rules still, and nobody stops us.
  bool is_current(const record::Bucket& bucket) const;
  std::int64_t day_ms() const;

  store::ShardStore& store_;
  SweeperTools tools_;
  SweeperOptions options_;
  volume::Throttle looking_;
  rt::Gate gate_;
  metrics::Counter& objects_;
  metrics::Counter& versions_;
  metrics::Counter& uploads_;
};

}  // namespace leat::expiry
