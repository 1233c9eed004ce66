// ShardStore: the store as one shard uses it. What protocols are built on.
//
//   LEAT_CO_TRY(auto put, co_await store.begin_put(object));
//   LEAT_CO_TRY(const MutableBytes room, co_await put->next_buffer());
//   … fill, put->commit(n), again …
//   LEAT_CO_TRY(const auto version, co_await put->finish(details));
//
//   LEAT_CO_TRY(const auto found, co_await store.find(object));
//   LEAT_CO_TRY(auto body, co_await store.read(found, {0, found.version.size_bytes}));
//
// Shard: one. Lifetime: the store, the volumes and the kit outlive it and what it gave out.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "io/clock.h"
#include "shard/scanner.h"
#include "store/store.h"
#include "store/turnstile.h"
#include "store/version_name.h"

namespace leat::store {

struct BucketOptions {
  record::Durability durability = record::Durability::sync;
  record::Versioning versioning = record::Versioning::off;
  std::uint64_t undo_window_ms = 0;
  std::vector<record::Attribute> properties{};
};

// An object that is there, and where.
struct Found {
  record::ObjectKey object{};
  record::Version version{};
  record::DiskId disk{};
};

// Verified bytes: a small object's in memory, a large one's as they are read.
using Body = std::variant<volume::Content, std::unique_ptr<ObjectStream>>;

struct PutDetails {
  // The hexadecimal etag; empty for one made of the content's checksums.
  std::string etag{};
  std::vector<record::Attribute> attributes{};
  volume::Precondition precondition{};
  // Sees what passed before anything of it is stored; its error is that of finish().
  std::function<Status(const shard::Summary&)> judge{};
};

// One of the versions in a listing of all of them; nothing for a group.
struct VersionItem {
  std::string name{};
  std::optional<record::Version> version{};
  bool is_current = false;       // what the object shows, or the marker that hides it
  std::int64_t replaced_ms = 0;  // when it was; 0 for the current one
};

struct VersionsRequest {
  index::HistoryRequest keys{};
  // Go on within the key `keys.after`, behind this version of it.
  std::optional<VersionName> after{};
};

struct VersionsPage {
  std::vector<VersionItem> items{};
  bool is_truncated = false;
};

// Of a change that named new files: it is sure that nothing will ever name them.
bool was_not_written(const Error& error);

class ShardStore;

// An object, or a part of one, on its way in. Nothing is visible before finish(); dropped, it
// leaves nothing. An archive is recognised and indexed as it passes (store/shards.h).
class Put {
 public:
  struct Target {
    record::ObjectKey object{};
    DoorPtr door{};
    record::UploadId upload{};  // 0: an object of its own
    std::uint32_t part = 0;
    bool is_large = false;  // to files at once
  };
  // `inside`: of the target's door.
  Put(ShardStore& store, Target target, rt::Gate::Pass inside);
  ~Put();

  // Room for the next bytes. Errors: no_space, busy, io.
  rt::Task<MutableBytes> next_buffer();
  // The first `size` bytes of the room are filled. Requires: all but the last call fill it.
  void commit(std::size_t size);
  std::uint64_t size_bytes() const { return size_bytes_; }

  // Durable as the bucket's class says when it returns.
  // Errors: precondition_failed, not_found (the bucket or the upload is gone), no_space, io; busy,
  // when the key has come to another disk meanwhile: then the object must be sent again.
  rt::Task<record::Version> finish(PutDetails details);

 private:
  volume::Volume& volume() const { return target_.door->volume(); }
  void start_files();
  rt::Task<MutableBytes> next_room();
  rt::Task<void> spill();
  record::SummedData small_data() const;
  // The change that was to name the files was not made.
  void give_up(const Error& error);
  rt::Task<record::Version> finish_part(record::Version version);

  ShardStore& store_;
  const Target target_;
  std::shared_ptr<const rt::Gate::Pass> inside_;  // shared with files that are being finished
  std::vector<io::BufferPool::Buffer> buffers_;   // of a small object
  std::vector<std::size_t> filled_;               // bytes in each buffer
  std::unique_ptr<volume::FileWriter> files_;     // of a large one
  shard::ShardScanner scanner_;                   // sees the bytes of an object of its own
  MutableBytes handed_out_{};                     // by the last next_buffer()
  MutableBytes room_{};      // the buffer of files_ that a spill has begun to fill …
  std::size_t carried_ = 0;  // … and how far
  std::uint64_t size_bytes_ = 0;
};

class ShardStore {
 public:
  ShardStore(Store& store, volume::ShardKit kit, io::Clock& clock);

  // Buckets. Names are the caller's to judge.
  // Errors: conflict (it is there; it is not empty), not_found.
  rt::Task<record::Bucket> create_bucket(std::string name, BucketOptions options);
  // `change` is called with the bucket as it is then: two changes of different things both hold.
  using BucketChange = std::function<void(record::Bucket&)>;
  rt::Task<void> change_bucket(record::BucketId id, BucketChange change);
  // Sets one property, or takes it away, and leaves the others as they are by then.
  rt::Task<void> set_property(record::BucketId bucket, std::string name,
                              std::optional<std::string> value);
  rt::Task<void> remove_bucket(std::string name);
  // Errors: not_found.
  Result<record::Bucket> find_bucket(std::string_view name) const;
  BucketTablePtr buckets() const { return buckets_; }
  rt::Shard& shard() const { return kit_.shard; }

  // Errors: not_found; unavailable, when a disk that may hold it is gone; corrupt, io.
  rt::Task<Found> find(record::ObjectKey object);
  // One of its versions, also one that is kept, which may be a delete marker. Errors: the same.
  rt::Task<Found> find_version(record::ObjectKey object, VersionName name);
  // The delete marker that stands where the object was; nothing if there is none.
  rt::Task<std::optional<record::Version>> find_marker(record::ObjectKey object);
  // A range is within the object, or within its appendix, which begins where the object ends.
  // Errors: not_found (replaced meanwhile: find again), corrupt (also: a range outside), io.
  rt::Task<Body> read(const Found& found, volume::ByteRange range);

  // The files of a large object, opened anew, for another process (volume/reader.h). They stay good
  // when the object is replaced or its disk taken out; the space is free when they are closed.
  // Errors: not_implemented, for a small one; not_found (replaced meanwhile), corrupt, io, busy.
  rt::Task<std::vector<volume::ObjectFilePtr>> open_apart(const Found& found);

  // As read(), in memory: for what is known to be small. Errors: busy, when there is no room.
  rt::Task<std::string> read_text(const Found& found, volume::ByteRange range);

  // Errors: not_found (no such bucket), bad_request (the key is empty or too long).
  // `expected_bytes`: how long it will be, if that is known; a large one then goes straight to
  // files.
  rt::Task<std::unique_ptr<Put>> begin_put(record::ObjectKey object,
                                           std::optional<std::uint64_t> expected_bytes);
  // An object of bytes that are in memory. Errors: those of begin_put() and of Put.
  rt::Task<record::Version> put_text(record::ObjectKey object, std::string_view bytes,
                                     PutDetails details);
  // Gives the delete marker that was made, in a bucket that keeps versions.
  rt::Task<std::optional<record::Version>> remove(record::ObjectKey object,
                                                  volume::Precondition precondition);
  // One version goes for good; the one before it shows again if it was the last one.
  // Errors: not_found; precondition_failed, for the current one if `must_be_past`.
  rt::Task<record::Version> remove_version(record::ObjectKey object, VersionName name,
                                           bool must_be_past = false);
  rt::Task<record::Version> restore(record::ObjectKey object,
                                    std::optional<record::VersionId> version);
  // Bytes of an object into a put that was begun; `watch`, if there is one, sees them pass.
  // Requires: the range is within the object. Errors: those of read() and of the put.
  rt::Task<void> pour(const Found& from, volume::ByteRange range, Put& into,
                      std::function<void(Bytes)> watch);
  // Shows the headers of an archive to the scanner, and none of the data that it does not look at.
  // Errors: those of read().
  rt::Task<void> scan_shard(const Found& found, shard::ShardScanner& scanner);
  // Copies the bytes of an object to another key.
  rt::Task<record::Version> copy(const Found& from, record::ObjectKey to, PutDetails details);
  // Other attributes for a version that stays the same.
  rt::Task<record::Version> set_attributes(const Found& found,
                                           std::vector<record::Attribute> attributes);

  rt::Task<index::ListPage> list(index::ListRequest request);
  // All versions, by key, the newest of a key first.
  rt::Task<VersionsPage> list_versions(VersionsRequest request);

  rt::Task<record::Upload> begin_upload(record::ObjectKey object,
                                        std::vector<record::Attribute> attributes);
  // Errors: not_found (no such upload).
  rt::Task<std::unique_ptr<Put>> begin_part(record::ObjectKey object, record::UploadId upload,
                                            std::uint32_t number);
  rt::Task<record::Version> complete_upload(volume::Completion completion,
                                            volume::Precondition precondition);
  rt::Task<void> abort_upload(record::ObjectKey object, record::UploadId upload);
  rt::Task<record::Upload> find_upload(record::ObjectKey object, record::UploadId upload);
  rt::Task<std::vector<record::Part>> list_parts(record::ObjectKey object, record::UploadId upload);
  // A page of what is under way, by key, then by number; fewer than `max` at the end.
  rt::Task<std::vector<record::Upload>> list_uploads(index::UploadsRequest request);

  // Over all disks.
  rt::Task<index::Counts> counts(record::BucketId bucket);

  Store& store() { return store_; }
  const volume::ShardKit& kit() const { return kit_; }
  io::Clock& clock() const { return clock_; }
  std::int64_t now_ms() const;

  // The disks of the node, as this shard knows them.
  const std::vector<DoorPtr>& doors() const { return doors_; }
  // Null when the disk is not in service.
  DoorPtr find_door(const record::DiskId& disk) const;

  // Runs a task of a disk's volume at its home. Requires: the caller is inside the door.
  template <class T, class Make>
  rt::Task<T> at_home(const DoorPtr& door, Make make) {
    volume::Volume& volume = door->volume();
    return rt::ask<T>(kit_.shard, door->home(),
                      [&volume, m = std::move(make)]() mutable { return m(volume); });
  }

  // What the desk does to each shard when the set of buckets or of disks changes.
  rt::Task<void> take(BucketTablePtr table);
  // Errors: unavailable, when changes that are under way take longer than `patience`.
  rt::Task<void> stop_changes(Duration patience) { return turnstile_.close(clock_, patience); }
  rt::Task<void> let_changes_go_on() { return turnstile_.open(); }
  rt::Task<void> open_door(Disk disk);
  // Nothing new uses the disk.
  rt::Task<void> give_up_door(record::DiskId disk);
  // Nothing of a disk that was given up is open on this shard when it returns.
  // Who is inside may finish until `end`.
  rt::Task<void> close_door(record::DiskId disk, Instant end);

 private:
  friend class Put;

  Status check_key(const record::ObjectKey& object) const;
  void add_door(const Disk& disk);
  // Errors: unavailable, when the disk was taken out.
  Result<DoorPtr> open_door_to(const record::DiskId& disk) const;
  // The disks in the order in which placement likes them for a key.
  std::vector<DoorPtr> ranked(const record::ObjectKey& object) const;
  // The disk that holds the object, or the one that placement chooses for a new one.
  rt::Task<DoorPtr> door_for(record::ObjectKey object);
  struct UploadAt {
    record::Upload upload{};
    DoorPtr door{};
  };
  rt::Task<UploadAt> look_for_upload(record::ObjectKey object, record::UploadId upload);
  rt::Task<DoorPtr> door_of_upload(record::ObjectKey object, record::UploadId upload);
  rt::Task<std::unique_ptr<Put>> open_put(Put::Target target);
  // Sees whether the parts make an archive, and gives the completion its index and note then. The
  // writer has the files of the index.
  rt::Task<void> index_parts(Door& door, volume::Completion& completion,
                             volume::FileWriter& writer);

  // A change of a key on a disk, while no other disk gets the key and the set of disks stands
  // still. `make` gives the volume's task. With several disks the shard that is home to the first
  // disk in the key's ranking lets one change of the key at a time through.
  // Requires: the caller is inside the door. Errors: busy, when the key is on another disk by now;
  // who gives `is_elsewhere` is told so instead, before `make` is called.
  template <class T, class Make>
  rt::Task<T> change(const record::ObjectKey& object, const DoorPtr& door, Make make,
                     bool* is_elsewhere = nullptr) {
    LEAT_CO_TRY(const Turnstile::Pass through, co_await turnstile_.enter());
    LEAT_CO_DO(open_door_to(door->id()));
    if (doors_.size() == 1) {
      auto done = at_home<T>(door, std::move(make));
      co_return co_await std::move(done);
    }
    ShardStore& judge = store_.on(ranked(object).front()->home());
    auto done =
        rt::ask<T>(kit_.shard, judge.shard(), [&judge, &object, &door, &make, is_elsewhere] {
          return judge.change_here<T>(object, *door, make, is_elsewhere);
        });
    co_return co_await std::move(done);
  }
  template <class T, class Make>
  rt::Task<T> change_here(const record::ObjectKey& object, const Door& door, Make& make,
                          bool* is_elsewhere) {
    LEAT_CO_TRY(const volume::KeyLatch::Hold held, co_await judging_.acquire(latch_name(object)));
    LEAT_CO_DO(co_await check_elsewhere(object, door.id(), is_elsewhere));
    volume::Volume& volume = door.volume();
    auto done =
        rt::ask<T>(kit_.shard, door.home(), [&volume, &make]() mutable { return make(volume); });
    co_return co_await std::move(done);
  }
  static std::string latch_name(const record::ObjectKey& object);
  // Errors: busy, when the key is on another disk than this one and nobody wants to know.
  rt::Task<void> check_elsewhere(const record::ObjectKey& object, const record::DiskId& disk,
                                 bool* is_elsewhere);
  bool keeps_versions(record::BucketId bucket) const;
  rt::Task<index::HistoryPage> list_histories(const index::HistoryRequest& request);
  // What the disk has of the object besides the current version: the newest, or the one named.
  using MaybeKept = std::optional<index::Trashed>;
  rt::Task<MaybeKept> find_newest_kept(const Door& door, const record::ObjectKey& object);
  rt::Task<MaybeKept> find_kept(const Door& door, const record::ObjectKey& object,
                                const VersionName& name);

  rt::Task<record::Bucket> create_bucket_at_desk(std::string name, BucketOptions options);
  rt::Task<void> change_bucket_at_desk(record::BucketId id, const BucketChange& change);
  rt::Task<void> remove_bucket_at_desk(std::string name);
  rt::Task<void> write_bucket(const record::Bucket& bucket);
  rt::Task<void> erase_bucket(record::BucketId id);
  rt::Task<void> undo_half_made();
  rt::Task<void> undo_half_changed();

  Store& store_;
  volume::ShardKit kit_;
  io::Clock& clock_;
  std::vector<DoorPtr> doors_;
  std::vector<placement::Candidate> candidates_;  // of the doors
  std::vector<DoorPtr> leaving_;                  // given up, not closed yet
  Turnstile turnstile_;
  volume::KeyLatch judging_;  // keys whose changes are under way, for all shards
  BucketTablePtr buckets_;
  // A bucket that not all disks took. It must be gone before another one of its name is made, or
  // there would be two after the next start.
  std::optional<record::Bucket> half_made_;
  // A bucket as it was before a change that not all disks took. They must be alike again before
  // another one.
  std::optional<record::Bucket> half_changed_;
};

}  // namespace leat::store
