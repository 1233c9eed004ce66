// Store: all disks of one node, as one place for buckets and objects.
//
// The store is process-wide; every shard has its own ShardStore through which it reads and writes.
// An object lives on one disk. A new one goes where placement says; one that is there is changed
// where it is, so that each key has one order of changes whatever happens to the set of disks.
//
// Buckets are recorded on every disk, so that losing one loses no bucket and each disk can be
// rebuilt alone.
//
// A disk can come and go while the node runs: bring_in(), take_out(). Every disk knows which disks
// the node has (record/members.h), so that one that was away is noticed when it returns: of a key
// that was written elsewhere meanwhile the newer version stays.
//
// Thread: disks and shards are added while nothing runs. After that the desk, one of the shards,
// makes all changes to the sets of buckets and disks, and gives every shard its own copy by
// messages before a change is answered.
// Lifetime: outlives the ShardStores.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/members.h"
#include "store/door.h"
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

class ShardStore;

// What came with a disk.
struct Arrival {
  std::uint64_t doubles = 0;  // keys that another disk had, too: the newer version stayed
  std::vector<std::string> hidden_buckets{};  // of an old bucket whose name another one has now
};

class Store {
 public:
  static constexpr std::string_view kLatch = "the sets";  // the one key of desk_latch()

  // Requires: no shard runs yet, and no ShardStore was made.
  // Lifetime: the volume outlives the store's use of it.
  void add(const Disk& disk) { first_disks_.push_back(disk); }
  // The first one becomes the desk.
  void add(ShardStore& shard_store) { shard_stores_.push_back(&shard_store); }
  const std::vector<Disk>& first_disks() const { return first_disks_; }

  // These run at the desk's shard.

  // Before requests come: makes all disks know the same buckets and members, which a crash in the
  // middle of a change may have prevented, and settles what a disk holds that was away.
  // Errors: not_found, when a disk of the node is missing and `missing` refuses that.
  enum class Missing : std::uint8_t { refused, accepted };
  rt::Task<Arrival> open(Missing missing);

  // A disk joins the others, with what it holds. Changes wait while its keys are compared with
  // theirs. Errors: conflict (it is in already), and those of its volume.
  rt::Task<Arrival> bring_in(Disk disk);

  // Nobody uses the disk any more when it returns. Who reads from it or writes to it may finish;
  // who is not through after `patience` is broken off.
  // Errors: not_found; conflict, when it is the last one.
  rt::Task<void> take_out(record::DiskId disk, Duration patience);

  ShardStore& desk() const { return *shard_stores_.front(); }
  // The part of a shard. Requires: it has one.
  ShardStore& on(const rt::Shard& shard) const;
  // Held by whoever changes the buckets or the disks.
  volume::KeyLatch& desk_latch() { return desk_latch_; }

  // Gives every shard the new table; all have it when it returns. Shard: the desk's.
  rt::Task<void> publish(BucketTablePtr table);

 private:
  // Runs a task of every shard's part, one after the other. Shard: the desk's.
  rt::Task<void> on_each_shard(std::function<rt::Task<void>(ShardStore&)> make);
  rt::Task<void> stop_changes();
  rt::Task<void> let_changes_go_on();
  // Gives the names that are hidden. The first door that knows a bucket says what it is.
  rt::Task<std::vector<std::string>> agree_on_buckets(std::vector<DoorPtr> doors);
  rt::Task<record::Members> read_members_of(const Door& door);
  rt::Task<std::vector<record::Members>> read_members();
  rt::Task<void> write_members(std::vector<DoorPtr> doors);
  // An older version that has to go, because another disk has a newer one.
  struct Older {
    DoorPtr door{};
    record::ObjectKey object{};
    record::VersionId version{};
  };
  struct Doubles {
    std::uint64_t count = 0;
    std::vector<Older> elsewhere{};  // on other disks than the stranger
  };
  // Of every key that both the disk and another one have the newer version is to stay: removes what
  // the stranger has of older ones, and gives those of the others.
  rt::Task<Doubles> settle(DoorPtr stranger);
  rt::Task<void> settle_bucket(const DoorPtr& stranger, record::BucketId bucket, Doubles& doubles);
  rt::Task<void> remove_doubles(const std::vector<Older>& older);
  rt::Task<Arrival> bring_in_stopped(Disk disk);
  rt::Task<void> shut_out(record::DiskId disk);
  // Nobody uses a disk that was given up any more; who is inside may finish until `end`.
  rt::Task<void> close_doors(record::DiskId disk, Instant end);

  std::vector<Disk> first_disks_;
  std::vector<ShardStore*> shard_stores_;
  volume::KeyLatch desk_latch_;
  std::uint64_t generation_ = 0;  // of the members
};

// What an operator can do to the disks of a node that runs. Shard: any.
class DiskKeeper {
 public:
  virtual ~DiskKeeper() = default;
  // Opens the disk in a directory, a new one or one that was here before, and brings it in.
  // Errors: conflict (in service, or in use, or of another node), and those of opening it.
  virtual rt::Task<Arrival> add_disk(std::string path, rt::Shard& from) = 0;
  // Takes the disk out and lets go of its directory, which can be unmounted after that.
  // `name`: its directory or its id. Errors: not_found, conflict (the last one).
  virtual rt::Task<void> remove_disk(std::string name, Duration patience, rt::Shard& from) = 0;
};

}  // namespace leat::store
