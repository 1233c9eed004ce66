#include "store/store.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/check.h"
#include "store/shard_store.h"

namespace leat::store {

BucketTable::BucketTable(std::vector<record::Bucket> buckets) : buckets_(std::move(buckets)) {
  std::ranges::sort(buckets_, {}, &record::Bucket::name);
}

const record::Bucket* BucketTable::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(buckets_, name, {}, &record::Bucket::name);
  return found != buckets_.end() && found->name == name ? &*found : nullptr;
}

const record::Bucket* BucketTable::find(record::BucketId id) const {
  const auto found = std::ranges::find(buckets_, id, &record::Bucket::id);
  return found != buckets_.end() ? &*found : nullptr;
}

void Store::add(Disk disk) {
  std::uint64_t identity = 0;
  std::memcpy(&identity, disk.volume->identity().disk.data(), sizeof(identity));
  candidates_.push_back({.identity = identity, .weight = disk.weight});
  disks_.push_back(disk);
}

std::size_t Store::choose(const record::ObjectKey& object) const {
  return placement::choose(placement::hash_key(object.bucket.value(), object.key), candidates_);
}

std::vector<std::size_t> Store::rank(const record::ObjectKey& object) const {
  return placement::rank(placement::hash_key(object.bucket.value(), object.key), candidates_);
}

ShardStore& Store::bucket_desk() const {
  const auto desk = std::ranges::find_if(
      shard_stores_, [this](const ShardStore* one) { return &one->shard() == &bucket_home(); });
  LEAT_CHECK(desk != shard_stores_.end());
  return **desk;
}

rt::Task<void> Store::publish(rt::Shard& here, BucketTablePtr table) {
  for (ShardStore* one : shard_stores_) {
    if (&one->shard() == &here) {
      one->take(table);
      continue;
    }
    auto taken = rt::call<void>(one->shard(), [one, table]() -> Status {
      one->take(table);
      return {};
    });
    LEAT_CO_DO(co_await std::move(taken));
  }
  co_return Status{};
}

namespace {

using Buckets = std::map<record::BucketId, record::Bucket>;

rt::Task<Buckets> buckets_of(const volume::Volume& volume) {
  co_return volume.index().buckets();
}

}  // namespace

rt::Task<void> Store::agree_on_buckets() {
  rt::Shard& here = bucket_home();
  // The first disk that knows a bucket says what it is.
  Buckets all;
  std::vector<Buckets> known;
  for (const Disk& disk : disks_) {
    const volume::Volume& volume = *disk.volume;
    auto asked = rt::ask<Buckets>(here, *disk.home, [&volume] { return buckets_of(volume); });
    LEAT_CO_TRY(Buckets some, co_await std::move(asked));
    all.insert(some.begin(), some.end());
    known.push_back(std::move(some));
  }
  for (std::size_t i = 0; i < disks_.size(); ++i) {
    volume::Volume& volume = *disks_[i].volume;
    for (const auto& [id, bucket] : all) {
      const auto same = known[i].find(id);
      if (same != known[i].end() && same->second == bucket) continue;
      const record::Bucket& wanted = bucket;
      auto written = rt::ask<void>(here, *disks_[i].home,
                                   [&volume, &wanted] { return volume.put_bucket(wanted); });
      LEAT_CO_DO(co_await std::move(written));
    }
  }
  std::vector<record::Bucket> list;
  for (const auto& [id, bucket] : all)
    list.push_back(bucket);
  auto table = std::make_shared<const BucketTable>(std::move(list));
  co_return co_await publish(here, std::move(table));
}

}  // namespace leat::store
