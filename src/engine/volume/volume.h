// Volume: the store on one disk. Every change of it goes through here.
//
// A change waits for its key, reads what is there, checks its precondition, is written and synced
// with others, and is then visible to readers on every shard: compare-and-swap is true, and what is
// acknowledged is durable. Reading is VolumeReader's, one a shard.
//
// Shard: its home; other shards ask by rt::ask(). Lifetime: what Tools refers to outlives it;
// close() before destroying.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "index/index.h"
#include "log/logger.h"
#include "volume/committer.h"
#include "volume/folders.h"
#include "volume/key_latch.h"
#include "volume/options.h"
#include "volume/quarantine.h"
#include "volume/recovery.h"
#include "volume/throttle.h"

namespace leat::volume {

struct VolumeTools {
  rt::Shard& shard;
  io::Disk& disk;
  io::FileIo& file_io;
  rt::BlockingPool& pool;
  io::Clock& clock;
  io::Rng& rng;
  log::Logger& logger;
};

// What must be true for a change to be made.
struct Precondition {
  bool must_be_absent = false;
  std::optional<std::string> etag{};
  std::optional<record::VersionId> version{};
};

struct VersionRemoval {
  bool must_be_past = false;  // not the current one
  bool is_elsewhere = false;  // the object has a current version on another disk
};

// An object whose bytes are there: in memory (small), or in files that were finished.
struct NewVersion {
  record::ObjectKey object{};
  // Size, time, etag, attributes, and the files of a large one.
  record::Version version{};
  record::SummedData data{};  // of a small one
};

struct PartChoice {
  std::uint32_t number = 0;
  std::string etag{};  // must be this, if it is not empty
};

struct Completion {
  record::ObjectKey object{};
  record::UploadId upload{};
  std::vector<PartChoice> parts{};  // in order of their numbers
  std::string etag{};               // of the whole
  std::int64_t modified_ms = 0;
  std::vector<record::Attribute> attributes{};  // besides those that the upload began with
  std::vector<record::FileExtent> appendix{};   // files behind those of the parts
};

struct SpaceUse {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;
  bool is_full = false;
};

// How it came up.
struct Opening {
  LogEnd end{};
  std::uint64_t replayed = 0;
  std::uint64_t torn_bytes = 0;
  WallTime at{};
};

// How far the present scrub is, or the last one was.
struct ScrubProgress {
  bool is_running = false;
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
  std::uint64_t damaged = 0;  // versions whose bytes failed their checksums
};

// A version that could not be read.
struct Unread {
  record::ObjectKey object{};
  record::VersionId version{};
  Error error;  // corrupt or io
};

// What a call on a stored file said, for clients: a missing right is the disk's trouble, not
// theirs.
inline Error said_by_disk(const Error& error) {
  return error.code() == Errc::denied ? Error(Errc::io, std::string(error.detail()))
                                      : error.clone();
}

// How often reading this disk has failed since it was opened.
struct ReadFailures {
  std::uint64_t damaged = 0;    // reads that met damage
  std::uint64_t io_errors = 0;  // that the disk answered
};

class Volume {
 public:
  // Blocks. `recovered` is what recover() or rebuild() gave.
  static Result<std::unique_ptr<Volume>> make(VolumeTools tools, Folders folders,
                                              Recovered recovered, VolumeOptions options);
  ~Volume();

  // Errors of all changes: precondition_failed, no_space, busy, io, unavailable (the disk failed).

  rt::Task<record::Version> put(NewVersion& fresh, Precondition precondition);
  // In a bucket that keeps versions a delete marker is made, whether the object is there or not; it
  // is what is given back. Errors: not_found, in other buckets.
  rt::Task<std::optional<record::Version>> remove(record::ObjectKey object,
                                                  Precondition precondition);
  // The object is no longer here, for it is on another disk: no marker is made.
  rt::Task<void> give_up(record::ObjectKey object, Precondition precondition);
  // One version goes for good. When it was what the object showed, the one before it becomes
  // current again, if it is no marker. Errors: not_found; precondition_failed.
  rt::Task<record::Version> remove_version(record::ObjectKey object, record::VersionId version,
                                           VersionRemoval removal);
  // Brings the version back that was removed or replaced last, or the one named.
  // Errors: not_found, when there is none or its time is over.
  rt::Task<record::Version> restore(record::ObjectKey object,
                                    std::optional<record::VersionId> version);
  // Other attributes for the current version or one that is kept, which stays the same one.
  // Errors: precondition_failed, when it is neither, or was revised since it was found.
  // Requires: `fresh` holds the same bytes, for a small object.
  rt::Task<record::Version> revise(NewVersion& fresh);

  rt::Task<void> put_bucket(record::Bucket bucket);
  // Errors: not_found; conflict, when it still holds objects, kept versions or uploads.
  rt::Task<void> remove_bucket(record::BucketId bucket);
  // Whether it could be removed now; changes nothing. Errors: those of remove_bucket().
  rt::Task<void> check_removable(record::BucketId bucket);

  rt::Task<void> begin_upload(record::Upload upload);
  // Errors: not_found (no such upload).
  rt::Task<void> put_part(record::ObjectKey object, record::Part part);
  // The parts become the object without their bytes being touched.
  // Errors: not_found; bad_request, when a part is missing or not the one named.
  rt::Task<record::Version> complete_upload(Completion completion, Precondition precondition);
  rt::Task<void> abort_upload(record::ObjectKey object, record::UploadId upload);

  // Everything acknowledged so far is on the disk.
  rt::Task<void> sync() { return committer_.sync(); }
  // The same, and recovery need not read it again.
  rt::Task<void> checkpoint() { return committer_.checkpoint(); }

  // Purges what is due in the trash and removes files nobody needs. Gives how many were purged. A
  // file that cannot be removed is logged, and tried again the next time.
  // `until_ms`: what is due by then; later than now when space is short.
  rt::Task<std::size_t> reclaim(std::int64_t until_ms);
  // Rewrites the worst segment, if one is worth it; true if one was. Breaks off, which costs
  // nothing but the work, when `is_over` says so.
  rt::Task<bool> compact(std::function<bool()> is_over = [] { return false; });
  // Removes files that no change ever named (a crash came first). Gives how many. Those that may
  // have been made since the volume was opened are left to the next time.
  rt::Task<std::size_t> collect_orphans();

  // Asks the disk how much room it has; new data is refused or taken by that from now on.
  rt::Task<void> look_at_space();

  // Finishes what is running, flushes the index. Errors: that the last flush failed.
  rt::Task<void> close();

  const record::Identity& identity() const { return identity_; }
  const Folders& folders() const { return folders_; }
  const VolumeOptions& options() const { return options_; }
  io::Disk& disk() { return tools_.disk; }
  // Safe to read from any shard.
  const index::Index& index() const { return *index_; }
  const segment::SegmentFolder& segments() const { return *segments_; }
  const kv::Kv& kv() const { return *kv_; }
  // Grows when segments or files are removed: readers let go of what they hold open.
  std::uint64_t removals() const { return removals_.load(std::memory_order_acquire); }

  // Why it takes no more changes; nothing while all is well.
  const std::optional<Error>& failure() const { return committer_.failure(); }
  SpaceUse space() const { return space_; }
  // Neither failed nor full, as of a moment ago. Safe from any shard.
  bool takes_data() const { return takes_data_.load(std::memory_order_relaxed); }
  // A sync of a file of this disk has failed, or it does not let its files be written: it takes no
  // more changes. Errors: always unavailable.
  rt::Task<void> fail_disk(const Error& error, std::string_view what);
  // Whether the folder of a file is known to be there after a power cut. Safe from any shard.
  bool is_shelf_durable(record::FileId file) const {
    return durable_shelves_[file.value() >> 56].load(std::memory_order_relaxed);
  }
  void note_durable_shelf(record::FileId file) {
    durable_shelves_[file.value() >> 56].store(true, std::memory_order_relaxed);
  }
  rt::Shard& home() { return tools_.shard; }
  const Opening& opening() const { return opening_; }
  // Written by the caretaker.
  ScrubProgress& scrubbed() { return scrubbed_; }
  const Quarantine& quarantine() const { return quarantine_; }
  Quarantine& quarantine() { return quarantine_; }
  // A request or the caretaker could not read a version: it is logged when it is news, with the
  // object and the disk. Gives whether it is damage that was not known before.
  bool note_unread(const Unread& unread);
  const ReadFailures& read_failures() const { return read_failures_; }
  // A file of an object on its way in could not be written.
  rt::Task<void> note_unwritten(const record::ObjectKey& object, const Error& error);
  // How often writing to this disk has failed since it was opened.
  std::uint64_t write_errors() const { return write_errors_; }

  // A number for a file that is about to be written. Safe from any shard, with its own Rng.
  record::FileId new_file(io::Rng& rng) const {
    return record::FileId((rng.next() & ~kFileTagMask) | file_tag_);
  }

 private:
  // The last bits of a file's number say which opening of the volume made it.
  static constexpr std::uint64_t kFileTagMask = 0xFF;

  Volume(VolumeTools tools, Folders folders, Recovered recovered, VolumeOptions options);

  rt::Task<KeyLatch::Hold> hold(const record::ObjectKey& object);
  rt::Task<KeyLatch::Hold> hold_upload(record::UploadId upload);
  rt::Task<index::Before> read_before(const record::Change& change);
  rt::Task<record::Upload> find_upload(const record::ObjectKey& object, record::UploadId upload);
  // Reads what is there and writes the change. Requires: its key is held.
  rt::Task<void> commit(Entry& entry);
  rt::Task<record::Version> put_held(Entry& entry, Precondition precondition);
  rt::Task<record::Version> mark_deleted(record::ObjectKey object,
                                         std::optional<record::Version> current);
  // What a version made without `on` replaces among those that are kept.
  rt::Task<void> purge_unversioned(Entry& entry, const record::ObjectKey& object);
  // Commits what comes into a bucket, which cannot be removed meanwhile.
  rt::Task<void> commit_arriving(Entry& entry, record::BucketId bucket);
  record::Durability durability(record::BucketId bucket) const;
  record::Versioning versioning(record::BucketId bucket) const;
  Status check_bucket(record::BucketId bucket) const;
  // Errors: conflict, when it is not.
  rt::Task<void> check_empty(record::BucketId bucket);
  // There is such a bucket, and room for more.
  rt::Task<void> check_room(record::BucketId bucket);
  void take_space(const io::DiskSpace& space);
  void note_failure(const Error& error);
  // Empty for one that is not there.
  std::string name_of(record::BucketId bucket) const;
  std::int64_t now_ms() const;

  rt::Task<std::size_t> purge_due(std::int64_t until_ms);
  rt::Task<void> remove_garbage();
  // Logged when it is another number than before.
  void note_stuck(std::uint64_t files, const std::optional<Error>& refusal);
  // A segment and what of it is needed.
  struct Thin {
    record::SegmentId id{};
    std::uint64_t size_bytes = 0;
    std::uint64_t needed_bytes = 0;
    std::uint64_t percent() const { return needed_bytes * 100 / size_bytes; }
  };
  struct Survey {
    std::vector<Thin> segments{};  // that may be rewritten, the oldest first
    std::uint64_t total_bytes = 0;
  };
  // What was found when a segment was read, true as long as the first two are.
  struct Judgement {
    record::SegmentId oldest{};
    std::uint64_t needed_bytes = 0;
    bool is_worth_it = false;
    bool is_waiting = false;  // it will be when older segments are gone
  };
  struct Victim;
  rt::Task<bool> compact_one(std::function<bool()> is_over);
  rt::Task<Survey> survey();
  rt::Task<Victim> choose_victim();
  rt::Task<Victim> read_victim(record::SegmentId id, bool is_oldest);
  Judgement judge(const Victim& victim, const Thin& thin, record::SegmentId oldest);
  rt::Task<void> move_record(const Victim& victim, const record::Record& record);
  rt::Task<void> move_object(const Victim& victim, const record::Record& record);
  rt::Task<void> move_ends(const record::PutObject& put, const record::PutObject& again,
                           const record::Record& record);
  rt::Task<void> move_with_data(const Victim& victim, const record::Record& record,
                                record::Change change, const index::Before& before);
  rt::Task<void> move_other(const Victim& victim, const record::Record& record);
  rt::Task<void> move_as(record::Change change, record::Sequence sequence);
  rt::Task<void> drop_segment(record::SegmentId segment);

  VolumeTools tools_;
  const Folders folders_;
  const VolumeOptions options_;
  const record::Identity identity_;
  const std::uint64_t file_tag_;
  std::unique_ptr<segment::SegmentFolder> segments_;
  std::unique_ptr<kv::Kv> kv_;
  std::unique_ptr<index::Index> index_;
  Opening opening_;
  ScrubProgress scrubbed_;
  Quarantine quarantine_;
  ReadFailures read_failures_;
  std::uint64_t write_errors_ = 0;
  Committer committer_;
  KeyLatch latch_;
  SpaceUse space_;
  Instant space_checked_{};
  std::uint64_t bytes_since_look_ = 0;                // that puts brought since space_checked_
  std::map<record::BucketId, std::size_t> arriving_;  // changes that are being written
  std::optional<record::BucketId> leaving_;           // the bucket that is being removed
  std::uint64_t stuck_files_ = 0;                     // that could not be removed the last time
  bool compacting_ = false;
  Throttle compaction_;
  std::uint64_t moved_bytes_ = 0;        // by compaction, and not yet spent of its rate
  std::set<record::SegmentId> damaged_;  // segments that compaction could not read
  std::map<record::SegmentId, Judgement> judged_;
  std::atomic<std::uint64_t> removals_{0};
  std::atomic<bool> takes_data_{true};
  std::array<std::atomic<bool>, 256> durable_shelves_{};
};

}  // namespace leat::volume
