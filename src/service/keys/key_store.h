// KeyStore: the access keys of a node, in one private file and in a table on every shard.
//
// Changes are made at the desk, the first shard, one at a time: written to the file, then given to
// every shard, then answered. So a key that was revoked is good nowhere once that was answered.
//
// Thread: made and filled while nothing runs; after that the calls below, from any shard.
// Lifetime: the disk and the pool outlive it; it outlives the shards' use.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/disk.h"
#include "io/rng.h"
#include "keys/key.h"
#include "rt/blocking_pool.h"
#include "rt/shard.h"
#include "volume/key_latch.h"

namespace leat::keys {

// The keys as one shard knows them. Shard: one.
class ShardKeys {
 public:
  ShardKeys(rt::Shard& shard, KeyTablePtr table) : shard_(shard), table_(std::move(table)) {}

  const KeyTablePtr& table() const { return table_; }
  rt::Shard& shard() const { return shard_; }
  rt::Task<void> take(KeyTablePtr table);

 private:
  rt::Shard& shard_;
  KeyTablePtr table_;
};

// What a new key is to be.
struct NewKey {
  std::string name{};
  std::vector<Rule> rules{};
  std::int64_t created_ms = 0;
  std::optional<std::int64_t> expires_ms{};
};

class KeyStore {
 public:
  // How many keys a node has at most.
  static constexpr std::size_t kKeysMax = 10'000;

  KeyStore(io::Disk& disk, io::Rng& rng, std::string path)
      : disk_(disk), rng_(rng), path_(std::move(path)) {}

  // Reads the file, or makes it with a first key that may do everything. Blocks. Gives that key if
  // it was made. Errors: corrupt, denied, io.
  Result<std::shared_ptr<const Key>> open(std::int64_t now_ms);

  // Requires: open() succeeded and no shard runs yet. The first one becomes the desk.
  void add(rt::Shard& shard, rt::BlockingPool& pool);
  // The part of a shard. Requires: it has one.
  ShardKeys& on(const rt::Shard& shard) const { return *shards_[shard.id().value()]; }

  // Errors: conflict (too many keys), io.
  rt::Task<Key> create(NewKey wanted, rt::Shard& from);
  // Errors: not_found, io.
  rt::Task<void> revoke(std::string id, rt::Shard& from);

 private:
  rt::Task<Key> create_at_desk(NewKey wanted);
  rt::Task<void> revoke_at_desk(std::string id);
  // Writes the file and tells every shard. Shard: the desk's.
  rt::Task<void> publish(std::vector<Key> keys);
  Key make_key(NewKey wanted);
  Status write(const std::string& text);
  std::vector<Key> present() const;

  io::Disk& disk_;
  io::Rng& rng_;
  const std::string path_;
  rt::BlockingPool* pool_ = nullptr;
  KeyTablePtr first_;  // what open() found
  volume::KeyLatch changing_;
  std::vector<std::unique_ptr<ShardKeys>> shards_;
};

}  // namespace leat::keys
