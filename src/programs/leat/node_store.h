// NodeStore: the disks that `leat serve` was given, from opening to closing.
//
// Each directory is identified and recovered before anything runs; its volume lives on one shard,
// the disks spread over the shards in turn. One that does not open ends the start with a line that
// says which and why, and what mends it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "leat/server_process.h"
#include "store/shard_store.h"
#include "volume/caretaker.h"

namespace leat::programs {

struct NodeStoreOptions {
  volume::VolumeOptions volume;
  volume::CaretakerOptions caretaker;
  std::uint64_t pinned_max_bytes = 2 * kGiB;  // over all shards
};

class NodeStore final : public Foundation {
 public:
  // Lifetime: the disk, logger and metrics outlive it.
  NodeStore(io::Disk& disk, std::vector<std::string> directories, NodeStoreOptions options,
            log::Logger& logger, metrics::Registry& metrics);
  ~NodeStore() override;

  // Reads every directory. Blocks. Errors: conflict (a disk of another node), corrupt,
  // not_implemented (made by a later Leat), denied, io.
  Status recover(io::Clock& clock, io::Rng& rng);

  Status prepare(std::span<const ShardTools> shards) override;
  rt::Task<void> start(rt::Shard& shard) override;
  rt::Task<void> stop(rt::Shard& shard) override;

  store::ShardStore& on(const rt::Shard& shard) { return *shard_stores_[shard.id().value()]; }

 private:
  struct OpenDisk;

  io::Disk& disk_;
  std::vector<std::string> directories_;
  NodeStoreOptions options_;
  log::Logger& logger_;
  metrics::Registry& metrics_;
  std::vector<std::unique_ptr<OpenDisk>> disks_;
  store::Store store_;
  std::vector<std::unique_ptr<volume::Pins>> pins_;  // one a shard
  std::vector<std::unique_ptr<store::ShardStore>> shard_stores_;
};

// From the settings `store.…`. Errors: bad_request.
Result<NodeStoreOptions> store_options(const config::Config& settings);

}  // namespace leat::programs
