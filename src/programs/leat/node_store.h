// NodeStore: the disks of `leat serve`, from opening to closing.
//
// Each directory is identified and recovered before anything runs; its volume lives on one shard,
// the disks spread over the shards. One that does not open ends the start with a line that says
// which and why, and what mends it. After that disks are added and removed at the desk's shard, and
// lifecycle rules are carried out there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "expiry/sweeper.h"
#include "leat/data_directory.h"
#include "leat/server_process.h"
#include "store/shard_store.h"
#include "volume/caretaker.h"

namespace leat::programs {

struct NodeStoreOptions {
  volume::VolumeOptions volume;
  volume::CaretakerOptions caretaker;
  std::uint64_t pinned_max_bytes = 2 * kGiB;      // over all shards
  std::uint64_t lookup_cache_bytes = 128 * kMiB;  // over all shards
  expiry::SweeperOptions sweeper;
  // What to do when a disk of the node is not given.
  store::Store::Missing missing = store::Store::Missing::refused;
};

class NodeStore final : public Foundation, public store::DiskKeeper {
 public:
  // Lifetime: the disk, logger and metrics outlive it.
  NodeStore(io::Disk& disk, NodeStoreOptions options, log::Logger& logger,
            metrics::Registry& metrics);
  ~NodeStore() override;

  // Reads every directory. Blocks. Errors: conflict (a disk of another node), corrupt,
  // not_implemented (made by a later Leat), denied, io.
  Status recover(std::vector<DataDirectory> directories, io::Clock& clock, io::Rng& rng);

  Status prepare(std::span<const ShardTools> shards) override;
  rt::Task<void> start(rt::Shard& shard) override;
  rt::Task<void> stop(rt::Shard& shard) override;

  rt::Task<store::Arrival> add_disk(std::string path, rt::Shard& from) override;
  rt::Task<void> remove_disk(std::string name, Duration patience, rt::Shard& from) override;

  store::ShardStore& on(const rt::Shard& shard) { return *shard_stores_[shard.id().value()]; }

 private:
  struct OpenDisk;

  // Takes the directory, reads its disk and makes its volume. Blocks.
  Result<std::unique_ptr<OpenDisk>> open_disk(DataDirectory directory, io::Clock& clock,
                                              io::Rng& rng);
  Status make_volume(OpenDisk& one, const ShardTools& tools);
  // The shard with the fewest disks.
  const ShardTools& next_home() const;
  rt::Task<void> tell(OpenDisk& one, rt::Task<void> (OpenDisk::*what)());
  rt::Task<void> destroy(std::unique_ptr<OpenDisk> one);
  rt::Task<store::Arrival> add_at_desk(std::string path);
  rt::Task<void> remove_at_desk(std::string name, Duration patience);
  void report(const store::Arrival& arrival);

  io::Disk& disk_;
  NodeStoreOptions options_;
  log::Logger& logger_;
  metrics::Registry& metrics_;
  const volume::LookupMetrics lookup_metrics_;
  std::vector<ShardTools> shards_;
  std::optional<record::DiskId> node_;
  std::vector<std::unique_ptr<OpenDisk>> disks_;  // while it runs: the desk's
  volume::KeyLatch changing_;
  store::Store store_;
  std::vector<std::unique_ptr<volume::Pins>> pins_;            // one a shard
  std::vector<std::unique_ptr<volume::LookupCache>> lookups_;  // one a shard
  std::vector<std::unique_ptr<store::ShardStore>> shard_stores_;
  std::unique_ptr<expiry::Sweeper> sweeper_;  // the desk's
};

// From the settings `store.…`. Errors: bad_request.
Result<NodeStoreOptions> store_options(const config::Config& settings);

}  // namespace leat::programs
