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

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "io/clock.h"
#include "store/store.h"

namespace leat::store {

struct BucketOptions {
  record::Durability durability = record::Durability::sync;
  std::uint64_t undo_window_ms = 0;
  std::vector<record::Attribute> properties{};
};

// An object that is there, and where.
struct Found {
  record::ObjectKey object{};
  record::Version version{};
  std::size_t disk = 0;
};

// Verified bytes: a small object's in memory, a large one's as they are read.
using Body = std::variant<volume::Content, std::unique_ptr<volume::FilesSource>>;

struct PutDetails {
  // The hexadecimal etag; empty for one made of the content's checksums.
  std::string etag{};
  std::vector<record::Attribute> attributes{};
  volume::Precondition precondition{};
};

class ShardStore;

// An object, or a part of one, on its way in. Nothing is visible before finish(); dropped, it
// leaves nothing.
class Put {
 public:
  struct Target {
    record::ObjectKey object{};
    std::size_t disk = 0;
    record::UploadId upload{};  // 0: an object of its own
    std::uint32_t part = 0;
    bool is_large = false;  // to files at once
  };
  Put(ShardStore& store, Target target);
  ~Put();

  // Room for the next bytes. Errors: no_space, busy, io.
  rt::Task<MutableBytes> next_buffer();
  // The first `size` bytes of the room are filled. Requires: all but the last call fill it.
  void commit(std::size_t size);
  std::uint64_t size_bytes() const { return size_bytes_; }

  // Durable as the bucket's class says when it returns.
  // Errors: precondition_failed, not_found (the bucket or the upload is gone), no_space, io.
  rt::Task<record::Version> finish(PutDetails details);

 private:
  void start_files();
  rt::Task<void> spill();
  record::SummedData small_data() const;
  // The change that was to name the files was not made.
  void give_up(const Error& error);
  rt::Task<record::Version> finish_part(record::Version version);

  ShardStore& store_;
  const Target target_;
  std::vector<io::BufferPool::Buffer> buffers_;  // of a small object
  std::vector<std::size_t> filled_;              // bytes in each buffer
  std::unique_ptr<volume::FileWriter> files_;    // of a large one
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
  rt::Task<void> change_bucket(record::Bucket bucket);
  rt::Task<void> remove_bucket(std::string name);
  // Errors: not_found.
  Result<record::Bucket> find_bucket(std::string_view name) const;
  BucketTablePtr buckets() const { return buckets_; }
  void take(BucketTablePtr table) { buckets_ = std::move(table); }
  rt::Shard& shard() const { return kit_.shard; }

  // Errors: not_found; unavailable, when a disk that may hold it is gone; corrupt, io.
  rt::Task<Found> find(record::ObjectKey object);
  // Requires: the range is within the object. Errors: not_found (replaced meanwhile: find again),
  // corrupt, io.
  rt::Task<Body> read(const Found& found, volume::ByteRange range);

  // Errors: not_found (no such bucket), bad_request (the key is empty or too long).
  // `expected_bytes`: how long it will be, if that is known; a large one then goes straight to
  // files.
  rt::Task<std::unique_ptr<Put>> begin_put(record::ObjectKey object,
                                           std::optional<std::uint64_t> expected_bytes);
  rt::Task<void> remove(record::ObjectKey object, volume::Precondition precondition);
  rt::Task<record::Version> restore(record::ObjectKey object,
                                    std::optional<record::VersionId> version);
  // Copies the bytes of an object to another key.
  rt::Task<record::Version> copy(const Found& from, record::ObjectKey to, PutDetails details);
  // Other attributes for an object that stays the same.
  rt::Task<record::Version> set_attributes(const Found& found,
                                           std::vector<record::Attribute> attributes);

  rt::Task<index::ListPage> list(index::ListRequest request);

  rt::Task<record::Upload> begin_upload(record::ObjectKey object,
                                        std::vector<record::Attribute> attributes);
  // Errors: not_found (no such upload).
  rt::Task<std::unique_ptr<Put>> begin_part(record::ObjectKey object, record::UploadId upload,
                                            std::uint32_t number);
  rt::Task<record::Version> complete_upload(volume::Completion completion,
                                            volume::Precondition precondition);
  rt::Task<void> abort_upload(record::ObjectKey object, record::UploadId upload);
  rt::Task<std::vector<record::Part>> list_parts(record::ObjectKey object, record::UploadId upload);
  rt::Task<std::vector<record::Upload>> list_uploads(record::BucketId bucket);

  // Over all disks.
  rt::Task<index::Counts> counts(record::BucketId bucket);

  Store& store() { return store_; }
  const volume::ShardKit& kit() const { return kit_; }
  std::int64_t now_ms() const;

  // Runs a task of a disk's volume at its home.
  template <class T, class Make>
  rt::Task<T> at_home(std::size_t disk, Make make) {
    const Disk& one = store_.disks()[disk];
    volume::Volume& volume = *one.volume;
    return rt::ask<T>(kit_.shard, *one.home,
                      [&volume, m = std::move(make)]() mutable { return m(volume); });
  }

 private:
  Status check_key(const record::ObjectKey& object) const;
  // The disk that holds the object, or the one that placement chooses for a new one.
  rt::Task<std::size_t> disk_for(record::ObjectKey object);
  rt::Task<std::size_t> disk_of_upload(record::ObjectKey object, record::UploadId upload);
  rt::Task<record::Bucket> create_bucket_at_home(std::string name, BucketOptions options);
  rt::Task<void> change_bucket_at_home(record::Bucket bucket);
  rt::Task<void> remove_bucket_at_home(std::string name);
  rt::Task<void> write_bucket(const record::Bucket& bucket);
  rt::Task<void> undo_half_made();

  Store& store_;
  volume::ShardKit kit_;
  io::Clock& clock_;
  std::vector<std::unique_ptr<volume::VolumeReader>> readers_;
  BucketTablePtr buckets_;
  // A bucket that not all disks took. It must be gone before another one of its name is made, or
  // there would be two after the next start.
  std::optional<record::Bucket> half_made_;
};

}  // namespace leat::store
