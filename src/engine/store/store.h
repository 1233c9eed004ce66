// Store: all disks of one node, as one place for buckets and objects.
//
// The store is process-wide; every shard has its own ShardStore through which it reads and writes.
// An object lives on one disk. A new one goes where placement says; one that is there is changed
// where it is, so that each key has one order of changes whatever happens to the set of disks.
//
// Buckets are recorded on every disk, so that losing one loses no bucket and each disk can be
// rebuilt alone.
//
// Thread: disks and shards are added while nothing runs; after that it does not change. Each shard
// has its own copy of the table of buckets, renewed by messages before a change of it is answered.
// Lifetime: outlives the ShardStores.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/placement.h"
#include "volume/reader.h"
#include "volume/volume.h"

namespace leat::store {

// The buckets as they were at some moment; never changed, only replaced.
class BucketTable {
 public:
  explicit BucketTable(std::vector<record::Bucket> buckets);

  // Null when there is none of that name.
  const record::Bucket* find(std::string_view name) const;
  const record::Bucket* find(record::BucketId id) const;
  // By name.
  const std::vector<record::Bucket>& all() const { return buckets_; }

 private:
  std::vector<record::Bucket> buckets_;
};
using BucketTablePtr = std::shared_ptr<const BucketTable>;

// One disk and the shard that all its changes go through.
struct Disk {
  rt::Shard* home = nullptr;
  volume::Volume* volume = nullptr;
  std::uint32_t weight = 1;
};

class ShardStore;

class Store {
 public:
  // Requires: no shard runs yet. The disk's buckets become known.
  // Lifetime: the volume outlives the store's use.
  void add(Disk disk);

  void add(ShardStore& shard_store) { shard_stores_.push_back(&shard_store); }

  // Makes all disks know the same buckets, which a crash in the middle of making or removing one
  // may have prevented, and tells the shards. Call at home of the first disk, before requests come.
  rt::Task<void> agree_on_buckets();

  const std::vector<Disk>& disks() const { return disks_; }
  // Where buckets are made and removed, one after the other.
  rt::Shard& bucket_home() const { return *disks_.front().home; }
  ShardStore& bucket_desk() const;
  volume::KeyLatch& bucket_latch() { return bucket_latch_; }

  // Gives every shard the new table; all have it when it returns. Shard: `here`.
  rt::Task<void> publish(rt::Shard& here, BucketTablePtr table);

  // The disks in the order in which placement likes them for a key.
  std::vector<std::size_t> rank(const record::ObjectKey& object) const;
  std::size_t choose(const record::ObjectKey& object) const;

 private:
  std::vector<Disk> disks_;
  std::vector<placement::Candidate> candidates_;
  std::vector<ShardStore*> shard_stores_;
  volume::KeyLatch bucket_latch_;  // of bucket_home()
};

}  // namespace leat::store
