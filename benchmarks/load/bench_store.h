// BenchStore: a store in this process, wired as `leat serve` wires it, without sockets.
//
// One directory, real disk, io_uring; the benchmark's tasks run on the shards and call the same
// ShardStore that the protocols call. Figures of it are the engine's own, without HTTP.
//
// Thread: main() makes it, runs work by run(), and closes it. Lifetime: tasks end before close().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/clock.h"
#include "io/descriptor_limit.h"
#include "io/disk.h"
#include "io/rng.h"
#include "leat/node_store.h"
#include "log/logger.h"
#include "metrics/registry.h"
#include "rt/blocking_pool.h"
#include "rt/runtime.h"

namespace leat::benchmarks {

class BenchStore {
 public:
  BenchStore(const std::string& directory, std::uint32_t shards);
  ~BenchStore();

  // Opens the directory, starts the shards, and makes the bucket if it is not there.
  Status open(const std::string& bucket, record::Durability durability);
  // Everything is in the index's own files when it returns.
  Status close();

  record::BucketId bucket() const { return bucket_; }
  std::uint32_t shards() const { return runtime_.size(); }
  rt::Shard& shard(std::uint32_t index) { return runtime_.shard(index); }
  store::ShardStore& on(const rt::Shard& shard) { return node_.on(shard); }

  // Runs `work` on every shard and waits for all.
  Status run(const std::function<rt::Task<void>(rt::Shard&)>& work);

 private:
  struct ShardParts;

  rt::Task<void> take_bucket(rt::Shard& shard, std::string name, record::Durability durability);

  const std::string directory_;
  io::DescriptorLimit descriptors_ = io::raise_descriptor_limit();
  io::PosixDisk disk_;
  io::RealClock clock_;
  io::SystemRng rng_;
  log::FdSink sink_;
  log::Logger logger_;
  metrics::Registry metrics_;
  rt::Runtime runtime_;
  rt::BlockingPool pool_;
  std::vector<std::unique_ptr<ShardParts>> parts_;
  programs::NodeStore node_;
  record::BucketId bucket_{};
  bool draining_ = false;
};

// Runs `count` tasks at a time on one shard and returns when all have ended.
// Errors: the first one that a task returned.
rt::Task<void> run_together(rt::Shard& shard, std::size_t count,
                            std::function<rt::Task<void>(std::size_t)> make);

}  // namespace leat::benchmarks
