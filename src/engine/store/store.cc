#include "store/store.h"

#include <algorithm>
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

ShardStore& Store::on(const rt::Shard& shard) const {
  const auto found = std::ranges::find_if(
      shard_stores_, [&shard](const ShardStore* one) { return &one->shard() == &shard; });
  LEAT_CHECK(found != shard_stores_.end());
  return **found;
}

rt::Task<void> Store::publish(BucketTablePtr table) {
  auto told = on_each_shard([&table](ShardStore& one) { return one.take(table); });
  co_return co_await std::move(told);
}

namespace {

using Buckets = std::map<record::BucketId, record::Bucket>;

rt::Task<Buckets> buckets_of(const volume::Volume& volume) {
  co_return volume.index().buckets();
}

}  // namespace

rt::Task<std::vector<std::string>> Store::agree_on_buckets(std::vector<DoorPtr> doors) {
  // The first disk that knows a bucket says what it is.
  Buckets all;
  std::vector<Buckets> known;
  for (const DoorPtr& door : doors) {
    auto asked = desk().at_home<Buckets>(
        door, [](const volume::Volume& volume) { return buckets_of(volume); });
    LEAT_CO_TRY(Buckets some, co_await std::move(asked));
    all.insert(some.begin(), some.end());
    known.push_back(std::move(some));
  }
  // One that was removed and made again while a disk was away: the young one has the name.
  std::map<std::string, record::Bucket> by_name;
  std::vector<std::string> hidden;
  for (const auto& [id, bucket] : all) {
    const auto [other, is_new] = by_name.try_emplace(bucket.name, bucket);
    if (is_new) continue;
    hidden.push_back(bucket.name);
    if (other->second.created_ms < bucket.created_ms) other->second = bucket;
  }
  std::vector<record::Bucket> list;
  for (const auto& [name, bucket] : by_name)
    list.push_back(bucket);
  for (std::size_t i = 0; i < doors.size(); ++i) {
    for (const record::Bucket& wanted : list) {
      const auto same = known[i].find(wanted.id);
      if (same != known[i].end() && same->second == wanted) continue;
      auto written = desk().at_home<void>(
          doors[i], [&wanted](volume::Volume& volume) { return volume.put_bucket(wanted); });
      LEAT_CO_DO(co_await std::move(written));
    }
  }
  auto table = std::make_shared<const BucketTable>(std::move(list));
  LEAT_CO_DO(co_await publish(std::move(table)));
  co_return hidden;
}

}  // namespace leat::store
