// Index: what a disk holds, by key. A function of the disk's changes, kept in a Kv.
//
// Invariants:
//  1. Applying the same changes in the order of their sequence to an empty index gives the same
//     index. Nothing else is written to it.
//  2. Everything one change does, with the counters and how far the segments are applied, is one
//     batch: after a crash the index stands at the end of some batch.
//  3. A file is named by exactly one of: a current version, one in the trash, a part of an upload,
//     the list of files to remove.
//  4. counts() is the sum over the entries, at any time.
//
// What was replaced or removed is in the trash until its time (Trashed::until_ms), or kept until
// somebody removes it (kForever). A delete marker is a kept version: it is never current.
//
// Thread: finding and listing from any; before(), apply(), written() and the counters from the home
// of the disk. Calls may wait for the disk, but for find_cached(). Lifetime: the Kv outlives it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "index/keys.h"
#include "index/revisions.h"
#include "kv/kv.h"
#include "record/change.h"

namespace leat::index {

// Removed or replaced, and there until its time.
struct Trashed {
  record::Version version{};
  std::int64_t since_ms = 0;
  std::int64_t until_ms = 0;
  bool is_kept() const { return until_ms == record::kForever; }
};

struct Counts {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
  std::uint64_t trashed_objects = 0;
  std::uint64_t trashed_bytes = 0;
  std::uint64_t kept_versions = 0;  // besides the current ones, delete markers with them
  std::uint64_t kept_bytes = 0;
  bool operator==(const Counts&) const = default;
};

// How far the segments are in the index.
struct Applied {
  record::SegmentId segment{};
  std::uint64_t offset = 0;
  record::Sequence last{};
};

// What must be known of the state before a change to make it.
struct Before {
  std::optional<record::Version> current{};
  std::optional<Trashed> trashed{};    // the version that is restored, purged or moved
  std::optional<record::Part> part{};  // the one that is replaced or moved
  std::vector<record::Part> parts{};   // of an upload that ends
};

struct ListRequest {
  record::BucketId bucket{};
  std::string prefix{};
  std::string delimiter{};
  std::string after{};  // keys and groups that sort behind this
  std::size_t max = 1000;
};

// An object, or a group of objects that share a prefix up to the delimiter.
struct ListItem {
  std::string name{};
  std::optional<record::Version> version{};  // nothing for a group
};

struct ListPage {
  std::vector<ListItem> items{};
  bool is_truncated = false;
};

// An object with all its versions that are kept, or a group as in a ListItem.
struct History {
  std::string name{};
  bool is_group = false;
  std::optional<record::Version> current{};
  std::vector<Trashed> kept{};  // the newest first
};

struct HistoryRequest {
  record::BucketId bucket{};
  std::string prefix{};
  std::string delimiter{};
  std::string after{};          // keys and groups that sort behind this …
  bool includes_after = false;  // … and the key itself
  std::size_t max = 1000;
};

struct HistoryPage {
  // As many as have `max` versions and groups together; the last one may go beyond that.
  std::vector<History> items{};
  std::string next{};  // the name behind the last one; empty at the end
};

// Uploads that are under way, a page of them.
struct UploadsRequest {
  record::BucketId bucket{};
  std::string prefix{};
  std::string from{};         // keys from this one on …
  record::UploadId behind{};  // … and of it only uploads with higher numbers
  std::size_t max = 1000;
};

class Index {
 public:
  explicit Index(kv::Kv& kv) : kv_(kv) {}

  // Reads counters and buckets. Errors: corrupt, io.
  Status load();

  Result<std::optional<record::Version>> find(const record::ObjectKey& object) const;
  // Errors: would_block, when the disk would have to be waited for.
  Result<std::optional<record::Version>> find_cached(const record::ObjectKey& object) const;
  // The newest first.
  Result<std::vector<Trashed>> find_trash(const record::ObjectKey& object) const;
  // What is kept besides the current version, the newest first.
  Result<std::vector<Trashed>> find_kept(const record::ObjectKey& object) const;
  // The newest of them; one of them. These read no others.
  Result<std::optional<Trashed>> find_newest_kept(const record::ObjectKey& object) const;
  Result<std::optional<Trashed>> find_kept(const record::ObjectKey& object,
                                           record::VersionId version) const;
  Result<std::optional<record::Upload>> find_upload(const record::ObjectKey& object,
                                                    record::UploadId upload) const;
  // By number.
  Result<std::vector<record::Part>> find_parts(record::UploadId upload) const;
  // By key, then by number.
  Result<std::vector<record::Upload>> list_uploads(const UploadsRequest& request) const;
  Result<ListPage> list(const ListRequest& request) const;
  // All versions of a key stand in memory at once.
  Result<HistoryPage> list_histories(const HistoryRequest& request) const;

  // What in the trash is due at `now_ms`, at most `max`.
  Result<std::vector<Due>> find_due(std::int64_t now_ms, std::size_t max) const;
  // Files that may be removed, at most `max`, by number, from `first` on.
  Result<std::vector<record::FileId>> find_garbage(std::size_t max,
                                                   record::FileId first = {}) const;
  // Somebody's, or on the list of files to remove. A file that is neither is an orphan.
  Result<bool> is_known(record::FileId file) const;

  // Whether the bytes of the version are still needed where it says that they are: then they must
  // be there. One that was replaced, moved by compaction or removed since it was found is not.
  Result<bool> is_held(const record::ObjectKey& object, const record::Version& version) const;

  // Walks over everything that holds data: current versions, the trash, parts (whose key is the
  // text "upload … part …", without a bucket). `after` is the entry to go on behind; empty for the
  // start. Gives the last entry visited, empty at the end.
  using VisitVersion = std::function<Status(const record::ObjectKey&, const record::Version&)>;
  Result<std::string> visit_versions(std::string_view after, std::size_t max,
                                     const VisitVersion& visit) const;

  // May wait for the disk. Errors: corrupt, io.
  Result<Before> before(const record::Change& change) const;

  // Writes what the change does into `batch`, and counts. Requires: `before` is still true.
  // A moved change only changes where data is.
  void apply(record::Sequence sequence, const record::Change& change, const Before& before,
             kv::Batch& batch);
  void apply_moved(const record::Change& change, const Before& before, kv::Batch& batch);

  // Puts counters that changed and `applied` into the batch. The last step of each batch.
  void finish(const Applied& applied, kv::Batch& batch);
  Result<std::optional<Applied>> applied() const;
  // The batch was written: everybody who looks finds what it changed. Until then nothing that it
  // changes may be remembered (index/revisions.h).
  void written() { revisions_.end_changes(); }
  const Revisions& revisions() const { return revisions_; }

  const std::map<record::BucketId, record::Bucket>& buckets() const { return buckets_; }
  // What becomes of a current version that is replaced or removed; nothing if it is gone at once.
  std::optional<Trashed> retired(const record::ObjectKey& object, const record::Version& version,
                                 std::int64_t at_ms) const;
  Counts counts(record::BucketId bucket) const;
  // Bytes of each segment that something still needs, data and headers.
  const std::map<record::SegmentId, std::uint64_t>& live_bytes() const { return live_; }
  // The segment is gone.
  void forget(record::SegmentId segment, kv::Batch& batch);

 private:
  void apply_one(const record::PutObject& change, const Before& before, kv::Batch& batch);
  void apply_one(const record::RemoveObject& change, const Before& before, kv::Batch& batch);
  void apply_one(const record::RestoreObject& change, const Before& before, kv::Batch& batch);
  void apply_one(const record::PurgeVersion& change, const Before& before, kv::Batch& batch);
  void apply_one(const record::PutBucket& change, const Before& before, kv::Batch& batch);
  void apply_one(const record::RemoveBucket& change, const Before& before, kv::Batch& batch);
  void apply_one(const record::BeginUpload& change, const Before& before, kv::Batch& batch);
  void apply_one(const record::PutPart& change, const Before& before, kv::Batch& batch);
  void apply_one(const record::EndUpload& change, const Before& before, kv::Batch& batch);
  void apply_one(const record::KeepTrashed& change, const Before& before, kv::Batch& batch);

  void end_upload(const record::ObjectKey& object, record::UploadId upload, const Before& before,
                  kv::Batch& batch);
  // The current version of an object. Nothing else writes these entries.
  void put_current(const record::ObjectKey& object, const record::Version& version,
                   kv::Batch& batch);
  void erase_current(const record::ObjectKey& object, kv::Batch& batch);
  // The current version goes where retired() says.
  void retire(const record::ObjectKey& object, const record::Version& version, std::int64_t at_ms,
              kv::Batch& batch);
  void put_trash(const record::ObjectKey& object, const Trashed& trashed, kv::Batch& batch);
  void erase_trash(const record::ObjectKey& object, const Trashed& trashed, kv::Batch& batch);
  // The version's bytes are needed; are needed no more.
  void hold(const record::Version& version, kv::Batch& batch);
  void release(const record::Version& version, kv::Batch& batch);
  void count_use(const record::Version& version, int sign);
  Counts& count(record::BucketId bucket);

  kv::Kv& kv_;
  std::map<record::BucketId, record::Bucket> buckets_;
  std::map<record::BucketId, Counts> counts_;
  std::map<record::SegmentId, std::uint64_t> live_;
  std::map<record::BucketId, bool> counts_changed_;
  std::map<record::SegmentId, bool> live_changed_;
  record::Sequence sequence_{};  // of the change being applied
  Revisions revisions_;
};

// What a version takes in its segment; 0 when it is in files.
std::uint64_t segment_bytes(const record::Version& version);

}  // namespace leat::index
