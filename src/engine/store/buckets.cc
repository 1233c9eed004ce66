// Making, changing and removing buckets: one at a time, at the desk, on all disks, and known to all
// shards before the answer. The set of disks does not change meanwhile: it has the same latch.
#include <algorithm>

#include "store/shard_store.h"

namespace leat::store {
namespace {

// The table with one bucket put in, or taken out when `fresh` is null.
BucketTablePtr with(const BucketTable& table, record::BucketId id, const record::Bucket* fresh) {
  std::vector<record::Bucket> buckets = table.all();
  std::erase_if(buckets, [id](const record::Bucket& one) { return one.id == id; });
  if (fresh != nullptr) buckets.push_back(*fresh);
  return std::make_shared<const BucketTable>(std::move(buckets));
}

}  // namespace

Result<record::Bucket> ShardStore::find_bucket(std::string_view name) const {
  const record::Bucket* found = buckets_->find(name);
  if (found == nullptr) return fail(Errc::not_found, "no such bucket");
  return *found;
}

// Each of these runs at the desk's shard, with its ShardStore.

rt::Task<record::Bucket> ShardStore::create_bucket(std::string name, BucketOptions options) {
  ShardStore& desk = store_.desk();
  auto created = rt::ask<record::Bucket>(kit_.shard, desk.shard(), [&desk, &name, &options] {
    return desk.create_bucket_at_desk(name, options);
  });
  co_return co_await std::move(created);
}

rt::Task<void> ShardStore::change_bucket(record::BucketId id, BucketChange change) {
  ShardStore& desk = store_.desk();
  auto changed = rt::ask<void>(kit_.shard, desk.shard(), [&desk, &change, id] {
    return desk.change_bucket_at_desk(id, change);
  });
  co_return co_await std::move(changed);
}

rt::Task<void> ShardStore::set_property(record::BucketId bucket, std::string name,
                                        std::optional<std::string> value) {
  return change_bucket(bucket, [name = std::move(name), value = std::move(value)](auto& changed) {
    std::erase_if(changed.properties, [&name](const auto& one) { return one.name == name; });
    if (value) changed.properties.push_back({.name = name, .value = *value});
  });
}

rt::Task<void> ShardStore::remove_bucket(std::string name) {
  ShardStore& desk = store_.desk();
  auto removed = rt::ask<void>(kit_.shard, desk.shard(),
                               [&desk, &name] { return desk.remove_bucket_at_desk(name); });
  co_return co_await std::move(removed);
}

rt::Task<record::Bucket> ShardStore::create_bucket_at_desk(std::string name,
                                                           BucketOptions options) {
  LEAT_CO_TRY(const auto held, co_await store_.desk_latch().acquire(std::string(Store::kLatch)));
  LEAT_CO_DO(co_await undo_half_changed());
  LEAT_CO_DO(co_await undo_half_made());
  if (buckets_->find(name) != nullptr) co_return fail(Errc::conflict, "the bucket is there");
  record::Bucket bucket{.name = std::move(name),
                        .created_ms = now_ms(),
                        .durability = options.durability,
                        .versioning = options.versioning,
                        .undo_window_ms = options.undo_window_ms,
                        .properties = std::move(options.properties)};
  // At random, so that the number of a removed bucket, whose trash may still be there, is not used
  // again.
  do {
    bucket.id = record::BucketId(static_cast<std::uint32_t>(kit_.rng.next()));
  } while (buckets_->find(bucket.id) != nullptr);
  half_made_ = bucket;
  const Status written = co_await write_bucket(bucket);
  if (written) {
    half_made_.reset();
    co_return bucket;
  }
  // If this fails too, the next one to be made tries again.
  static_cast<void>(co_await undo_half_made());
  co_return fail(written.error());
}

rt::Task<void> ShardStore::undo_half_made() {
  if (!half_made_) co_return Status{};
  const record::BucketId id = half_made_->id;
  for (const DoorPtr& door : doors_) {
    auto asked =
        at_home<void>(door, [id](volume::Volume& volume) { return volume.remove_bucket(id); });
    const Status removed = co_await std::move(asked);
    if (!removed && removed.error().code() != Errc::not_found) co_return fail(removed.error());
  }
  BucketTablePtr table = with(*buckets_, id, nullptr);
  LEAT_CO_DO(co_await store_.publish(std::move(table)));
  half_made_.reset();
  co_return Status{};
}

rt::Task<void> ShardStore::change_bucket_at_desk(record::BucketId id, const BucketChange& change) {
  LEAT_CO_TRY(const auto held, co_await store_.desk_latch().acquire(std::string(Store::kLatch)));
  LEAT_CO_DO(co_await undo_half_changed());
  const record::Bucket* found = buckets_->find(id);
  if (found == nullptr) co_return fail(Errc::not_found, "no such bucket");
  record::Bucket bucket = *found;
  change(bucket);
  if (bucket == *found) co_return Status{};
  half_changed_ = *found;
  const Status written = co_await write_bucket(bucket);
  if (written) {
    half_changed_.reset();
    co_return Status{};
  }
  // If this fails too, the next change tries again.
  static_cast<void>(co_await undo_half_changed());
  co_return fail(written.error());
}

// What is written again where nothing had changed does no harm.
rt::Task<void> ShardStore::undo_half_changed() {
  if (!half_changed_) co_return Status{};
  Status undone;
  const record::Bucket& before = *half_changed_;
  for (const DoorPtr& door : doors_) {
    auto written = at_home<void>(
        door, [&before](volume::Volume& volume) { return volume.put_bucket(before); });
    // The others are not left as they are because of one that fails.
    const Status done = co_await std::move(written);
    if (!done) undone = fail(done.error());
  }
  if (undone) half_changed_.reset();
  co_return undone;
}

rt::Task<void> ShardStore::write_bucket(const record::Bucket& bucket) {
  for (const DoorPtr& door : doors_) {
    auto written = at_home<void>(
        door, [&bucket](volume::Volume& volume) { return volume.put_bucket(bucket); });
    LEAT_CO_DO(co_await std::move(written));
  }
  BucketTablePtr table = with(*buckets_, bucket.id, &bucket);
  co_return co_await store_.publish(std::move(table));
}

rt::Task<void> ShardStore::remove_bucket_at_desk(std::string name) {
  LEAT_CO_TRY(const auto held, co_await store_.desk_latch().acquire(std::string(Store::kLatch)));
  LEAT_CO_DO(co_await undo_half_changed());
  LEAT_CO_TRY(const record::Bucket bucket, find_bucket(name));
  // A disk that lets go of it takes no more objects for it: so all are asked first.
  for (const DoorPtr& door : doors_) {
    auto asked = at_home<void>(
        door, [&bucket](volume::Volume& volume) { return volume.check_removable(bucket.id); });
    LEAT_CO_DO(co_await std::move(asked));
  }
  half_changed_ = bucket;
  const Status removed = co_await erase_bucket(bucket.id);
  if (removed) {
    half_changed_.reset();
    co_return Status{};
  }
  // Something has come in meanwhile, or a disk failed. If this fails too, the next change tries
  // again.
  static_cast<void>(co_await undo_half_changed());
  co_return fail(removed.error());
}

rt::Task<void> ShardStore::erase_bucket(record::BucketId id) {
  for (const DoorPtr& door : doors_) {
    auto asked =
        at_home<void>(door, [id](volume::Volume& volume) { return volume.remove_bucket(id); });
    LEAT_CO_DO(co_await std::move(asked));
  }
  BucketTablePtr table = with(*buckets_, id, nullptr);
  co_return co_await store_.publish(std::move(table));
}

}  // namespace leat::store
