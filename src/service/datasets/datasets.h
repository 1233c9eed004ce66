// Datasets: named, versioned sets of shards.
//
// A version is two objects beside the shards that never change: a snapshot, which lists samples and
// where they lie, and a record, which tells how the version came to be. The control store has one
// pointer a dataset; a commit writes the objects first and then moves the pointer, on the condition
// that nobody moved it meanwhile. So readers see the old version or the new one, whoever is killed
// when; what a commit that lost has written is removed, or is garbage that vacuum() finds.
//
//   objects of the dataset B/N:  N/_leat/VERSION-RANDOM.snapshot, N/_leat/VERSION-RANDOM.json
//   control store:               ds/B/N → version, record; the rest in control_keys.h
//
// Whatever may meet a commit or a vacuum (tags, pins) also replaces the pointer, by itself: one of
// two that meet is made again and sees the other.
//
// Shard: one. Lifetime: what it is given outlives it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/appends.h"
#include "datasets/commit_record.h"
#include "datasets/compose.h"
#include "datasets/control_desk.h"
#include "datasets/doomed.h"
#include "datasets/reference.h"
#include "datasets/snapshot_reader.h"
#include "shards/indexes.h"
#include "shards/recipes.h"
#include "store/shard_store.h"

namespace leat::datasets {

// The version of a dataset that a reference names.
struct Opened {
  DatasetName dataset{};
  record::BucketId bucket{};
  CommitRecord record{};  // version 0, and empty, of a dataset that has none yet
  VersionRef ref{};
};

// A snapshot in memory.
class LoadedSnapshot {
 public:
  // Errors: corrupt.
  static Result<std::shared_ptr<const LoadedSnapshot>> open(std::string bytes);
  const snapshot::View& view() const { return *view_; }

 private:
  std::string bytes_;
  std::optional<snapshot::View> view_;
};
using SnapshotPtr = std::shared_ptr<const LoadedSnapshot>;

struct Commit {
  DatasetName dataset{};
  // The version that the changes were made for. Without one, or when shards are only added, the
  // changes are made to whatever is the last version.
  std::optional<std::uint64_t> base{};
  // Also what only adds is made to `base` or not at all: who replaces the content of a version must
  // not add to that of another. Requires: a base.
  bool is_exact = false;
  std::vector<std::string> add{};  // keys of shards, in the dataset's bucket
  std::vector<std::string> remove{};
  std::vector<std::string> delete_samples{};
  // Also what producers appended and no commit took yet.
  bool appended = false;
  // Instead of changes: the content of this version again.
  std::optional<std::uint64_t> restore{};
  // Of the last version, whose snapshot is lost, nothing is kept.
  bool is_anew = false;
  std::string message{};
  // Names the commit for who tries again: what was done under it is not done twice.
  std::string transaction{};

  bool only_adds() const { return remove.empty() && delete_samples.empty() && !restore; }
};

// What is longer is neither written nor read: who reads it has it in memory, and a version that
// nobody can open would hold up all that follow.
struct VersionLimits {
  std::uint64_t record_bytes = 64 * kMiB;
  std::uint64_t snapshot_bytes = 4 * kGiB;
  std::uint64_t catalog_bytes = kCatalogMaxBytes;  // of the snapshot
};

class Datasets {
 public:
  struct Parts {
    store::ShardStore& store;
    shards::ShardIndexes& indexes;
    ControlDesk& control;
  };
  explicit Datasets(const Parts& parts, const VersionLimits& limits = {});

  // Errors of all: not_found (no such bucket, dataset or version), unavailable and outcome_unknown
  // (the control store), corrupt, io.

  // Errors: conflict, when it is there already.
  rt::Task<Opened> create(DatasetName name);
  // The pointer goes, and tags; shards and versions stay as objects, with a tombstone beside them.
  rt::Task<void> remove(DatasetName name);
  // Names of a bucket's datasets; of all buckets, if it is empty.
  rt::Task<std::vector<DatasetName>> list(std::string bucket);

  rt::Task<Opened> open(Reference reference);
  // The snapshot, read as far as it is needed. Requires: the version is not 0.
  rt::Task<ReaderPtr> reader(const Opened& opened);
  // All of it, in memory: for what goes through all samples. Requires: the version is not 0.
  rt::Task<SnapshotPtr> snapshot(const Opened& opened);
  // The object that holds the snapshot.
  rt::Task<store::Found> find_snapshot(const Opened& opened);
  // From the version on, back in time.
  rt::Task<std::vector<CommitRecord>> log(Opened from, std::size_t max);

  // All of them at one moment, or none. Errors: conflict, with the current version, when a base is
  // not the last version any more; bad_request, when a shard has no index; too_large; busy, when a
  // vacuum is about to remove a shard; those of compose().
  rt::Task<std::vector<Opened>> commit(std::vector<Commit> commits);

  rt::Task<void> tag(const Opened& opened, std::string tag);
  rt::Task<void> remove_tag(DatasetName name, std::string tag);
  struct TagEntry {
    std::string tag{};
    std::uint64_t version = 0;
  };
  rt::Task<std::vector<TagEntry>> tags(DatasetName name);

  // Who sets, moves or removes a pin: its owner may, and who may write the dataset.
  struct PinHolder {
    std::string id{};  // empty: nobody known; pins of nobody are anybody's
    bool may_write = false;
  };
  // A version that a running job needs is not vacuumed for `ttl` from now on.
  // Errors: bad_request, for a name that is no tag; denied, when it is somebody else's.
  rt::Task<void> pin(const Opened& opened, std::string pin, Duration ttl, PinHolder holder);
  // Errors: not_found; denied, when it is somebody else's.
  rt::Task<void> remove_pin(DatasetName name, std::string pin, PinHolder holder);
  rt::Task<std::vector<TagEntry>> pins(DatasetName name);

  // Where the next appends go, and what of them was committed.
  rt::Task<AppendState> appends(DatasetName name);
  // Keys of what was appended and not yet committed, in order, up to the first gap of each
  // producer; `state` says the same afterwards. Of more than kProducersMax producers the last by
  // name that have nothing in the dataset are left out.
  rt::Task<std::vector<std::string>> pending(const DatasetName& name, AppendState& state);

  // For who changes what is kept: the pointer, and a transaction on the condition that it is so.
  struct Head {
    VersionRef ref{};
    control::Revision modified{};
  };
  rt::Task<Head> head(const DatasetName& name);
  // Applies the operations if the pointer is still the same, and replaces it by itself.
  // False: it has moved.
  rt::Task<bool> change_beside(const DatasetName& name, const Head& head,
                               std::vector<control::Operation> operations);
  // The last versions of a bucket's datasets; of all buckets, if it is empty.
  using Pointers = std::map<DatasetName, VersionRef>;
  rt::Task<Pointers> pointers(std::string bucket);
  // What is being removed in the bucket: no commit may take it.
  rt::Task<Doomed> doomed(std::string bucket);
  // Errors: not_found, when the version was vacuumed.
  rt::Task<void> check_kept(const Opened& opened);
  rt::Task<CommitRecord> read_record(record::BucketId bucket, const std::string& key);
  rt::Task<Tombstone> read_tombstone(record::BucketId bucket, const std::string& key);
  // Errors: corrupt, when it is the record of another version.
  rt::Task<CommitRecord> read_version(record::BucketId bucket, const VersionRef& ref);
  // What is in an object that is a shard, or a recipe of one.
  // Errors: bad_request, when it is neither; corrupt, io.
  struct ShardContent {
    shards::IndexPtr index{};
    std::uint64_t size_bytes = 0;  // of the tar
    bool is_recipe = false;
  };
  rt::Task<ShardContent> content_of(const store::Found& found);
  // The pointer of a dataset that has none, or one as `before` says, and what else the control
  // store knew of it. Errors: conflict, when the pointer is another, or a vacuum is under way in
  // the bucket.
  rt::Task<void> restore_pointer(DatasetName name, VersionRef last,
                                 std::vector<control::Operation> beside,
                                 control::Revision before = {});
  const Parts& parts() const { return parts_; }
  Result<record::BucketId> find_bucket(const DatasetName& name) const;

 private:
  // A version that is written and not yet visible.
  struct Prepared {
    Commit commit{};
    Head head{};
    Opened opened{};
    std::vector<std::string> keys{};       // of its objects
    std::optional<AppendState> appends{};  // as they will be
    // Nothing was appended, and nothing else was to be done.
    bool is_unchanged = false;
  };

  rt::Shard& shard() const { return parts_.store.shard(); }
  rt::Task<VersionRef> resolve(record::BucketId bucket, const DatasetName& name,
                               const VersionRef& head, const Which& which);
  rt::Task<VersionRef> walk_back(record::BucketId bucket, VersionRef from,
                                 const IsOldEnough& is_old_enough);
  rt::Task<std::vector<TagEntry>> list_marks(std::string prefix);
  // The lease that the pin had before.
  rt::Task<control::LeaseId> move_pin(const Opened& opened, std::string key, control::LeaseId lease,
                                      const PinHolder& holder);
  // What cannot be revoked ends by itself.
  rt::Task<void> revoke(control::LeaseId lease);
  rt::Task<void> mark(const Opened& opened, control::Operation operation);
  rt::Task<void> remove_mark(const DatasetName& name, std::string key, std::string_view what);
  rt::Task<std::optional<record::ObjectKey>> put_tombstone(const DatasetName& name,
                                                           const VersionRef& last);
  // Of a dataset that was removed, and of what was set while it was.
  rt::Task<void> clear_left_overs(const DatasetName& name);
  rt::Task<std::optional<Opened>> find_transaction(const Commit& commit);
  rt::Task<std::vector<Opened>> find_transactions(const std::vector<Commit>& commits);
  using DoomedByBucket = std::map<std::string, Doomed>;
  rt::Task<DoomedByBucket> doomed_for(const std::vector<Commit>& commits);
  rt::Task<Prepared> prepare(Commit commit, const DoomedByBucket& doomed);
  rt::Task<std::vector<Prepared>> prepare_all(const std::vector<Commit>& commits,
                                              const DoomedByBucket& doomed);
  rt::Task<Composed> compose_next(const Opened& before, const Commit& commit, const Doomed& doomed);
  rt::Task<void> write(Prepared& prepared, const Composed& composed);
  rt::Task<void> drop(const Prepared& prepared);
  control::Txn moves(const std::vector<Prepared>& all, const DoomedByBucket& doomed) const;

  Parts parts_;
  const VersionLimits limits_;
  PageCache pages_;
  // Snapshots that were used last.
  struct Kept {
    std::string key{};
    ReaderPtr reader{};
  };
  std::vector<Kept> kept_;
  std::uint64_t readers_ = 0;
};

}  // namespace leat::datasets
