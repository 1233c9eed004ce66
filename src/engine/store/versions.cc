// Versions that are kept: finding, removing and listing them over all disks.
//
// The history of a key is on the disk that the key is on. Only a disk that was away while the key
// was written elsewhere brings a second part of it: then the parts are merged by time.
#include <algorithm>

#include "store/shard_store.h"

namespace leat::store {
namespace {

using Kept = std::vector<index::Trashed>;

// Two parts of one key's history. The newest first; within a disk they are so already, whatever its
// clock did.
void merge_into(index::History& into, index::History other) {
  if (!into.current) into.current = std::move(other.current);
  const auto time = [](const index::Trashed& one) { return one.version.modified_ms; };
  Kept merged;
  std::ranges::merge(into.kept, other.kept, std::back_inserter(merged), std::ranges::greater{},
                     time, time);
  into.kept = std::move(merged);
}

// The pages of several disks as one. A name behind the end of some disk's page may have more to it
// there: it is left to the next page.
index::HistoryPage merge(std::vector<index::HistoryPage> pages) {
  index::HistoryPage merged;
  for (index::HistoryPage& page : pages) {
    if (!page.next.empty() && (merged.next.empty() || page.next < merged.next)) {
      merged.next = page.next;
    }
    std::ranges::move(page.items, std::back_inserter(merged.items));
  }
  std::ranges::sort(merged.items, {}, &index::History::name);
  std::vector<index::History> items;
  for (index::History& item : merged.items) {
    if (!merged.next.empty() && item.name >= merged.next) break;
    if (items.empty() || items.back().name != item.name) {
      items.push_back(std::move(item));
    } else if (!item.is_group) {
      merge_into(items.back(), std::move(item));
    }
  }
  merged.items = std::move(items);
  return merged;
}

// The versions behind `after`, or all of them.
void add_items(index::History history, const std::optional<VersionName>& after,
               std::vector<VersionItem>& items) {
  if (history.is_group) {
    items.push_back({.name = std::move(history.name)});
    return;
  }
  std::vector<VersionItem> all;
  if (history.current) {
    all.push_back({.name = history.name, .version = *history.current, .is_current = true});
  }
  for (index::Trashed& one : history.kept) {
    const bool is_shown = all.empty() && one.version.is_marker;
    all.push_back({.name = history.name,
                   .version = std::move(one.version),
                   .is_current = is_shown,
                   .replaced_ms = one.since_ms});
  }
  auto first = all.begin();
  if (after) {
    const auto is_it = [&after](const VersionItem& one) { return after->names(*one.version); };
    // One that is gone by now has left no mark: what is older than it follows. Rather twice than
    // not at all.
    const auto is_older = [&after](const VersionItem& one) {
      return after->id.value() == 0 || one.version->id < after->id ||
             one.version->modified_ms < after->modified_ms;
    };
    const auto last = std::ranges::find_if(all, is_it);
    first = last != all.end() ? last + 1 : std::ranges::find_if(all, is_older);
  }
  std::move(first, all.end(), std::back_inserter(items));
}

}  // namespace

bool ShardStore::keeps_versions(record::BucketId bucket) const {
  const record::Bucket* found = buckets_->find(bucket);
  return found != nullptr && found->versioning != record::Versioning::off;
}

rt::Task<ShardStore::MaybeKept> ShardStore::find_newest_kept(const Door& door,
                                                             const record::ObjectKey& object) {
  const index::Index& index = door.volume().index();
  auto looked =
      kit_.pool.run<MaybeKept>([&index, &object] { return index.find_newest_kept(object); });
  co_return co_await std::move(looked);
}

rt::Task<ShardStore::MaybeKept> ShardStore::find_kept(const Door& door,
                                                      const record::ObjectKey& object,
                                                      const VersionName& name) {
  const index::Index& index = door.volume().index();
  auto looked = kit_.pool.run<MaybeKept>([&index, &object, &name]() -> Result<MaybeKept> {
    if (name.id.value() != 0) {
      LEAT_TRY(MaybeKept one, index.find_kept(object, name.id));
      if (one && !name.names(one->version)) one.reset();
      return one;
    }
    // "null" may be any of them.
    LEAT_TRY(Kept kept, index.find_kept(object));
    const auto found = std::ranges::find_if(
        kept, [&name](const index::Trashed& one) { return name.names(one.version); });
    if (found == kept.end()) return MaybeKept();
    return std::move(*found);
  });
  co_return co_await std::move(looked);
}

rt::Task<Found> ShardStore::find_version(record::ObjectKey object, VersionName name) {
  LEAT_CO_DO(check_key(object));
  std::vector<DoorPtr> order = ranked(object);
  // A second look: one that is replaced or shown again meanwhile is for a moment in neither place.
  const std::vector<DoorPtr> again = order;
  order.insert(order.end(), again.begin(), again.end());
  for (const DoorPtr& door : order) {
    LEAT_CO_TRY(const auto inside, door->enter());
    LEAT_CO_TRY(auto current, co_await door->reader().find(object));
    if (current && name.names(*current)) {
      co_return Found{
          .object = std::move(object), .version = std::move(*current), .disk = door->id()};
    }
    LEAT_CO_TRY(MaybeKept found, co_await find_kept(*door, object, name));
    if (found) {
      co_return Found{
          .object = std::move(object), .version = std::move(found->version), .disk = door->id()};
    }
  }
  co_return fail(Errc::not_found, "no such version");
}

rt::Task<std::optional<record::Version>> ShardStore::find_marker(record::ObjectKey object) {
  std::optional<record::Version> newest;
  if (!keeps_versions(object.bucket)) co_return newest;
  const std::vector<DoorPtr> order = ranked(object);
  for (const DoorPtr& door : order) {
    LEAT_CO_TRY(const auto inside, door->enter());
    LEAT_CO_TRY(MaybeKept kept, co_await find_newest_kept(*door, object));
    if (!kept) continue;
    record::Version& one = kept->version;
    if (!newest || one.modified_ms > newest->modified_ms) newest = std::move(one);
  }
  if (newest && !newest->is_marker) newest.reset();
  co_return newest;
}

rt::Task<record::Version> ShardStore::remove_version(record::ObjectKey object, VersionName name,
                                                     bool must_be_past) {
  LEAT_CO_TRY(const Found found, co_await find_version(object, name));
  LEAT_CO_TRY(const DoorPtr door, open_door_to(found.disk));
  LEAT_CO_TRY(const auto inside, door->enter());
  volume::VersionRemoval removal{.must_be_past = must_be_past};
  const record::VersionId id = found.version.id;
  const auto make = [&object, &removal, id](volume::Volume& volume) {
    return volume.remove_version(object, id, removal);
  };
  auto removed = change<record::Version>(object, door, make, &removal.is_elsewhere);
  co_return co_await std::move(removed);
}

rt::Task<index::HistoryPage> ShardStore::list_histories(const index::HistoryRequest& request) {
  using Page = index::HistoryPage;
  const std::vector<DoorPtr> doors = doors_;
  std::vector<Page> pages;
  for (const DoorPtr& door : doors) {
    LEAT_CO_TRY(const auto inside, door->enter());
    const index::Index& index = door->volume().index();
    auto listed = kit_.pool.run<Page>([&index, &request] { return index.list_histories(request); });
    LEAT_CO_TRY(Page page, co_await std::move(listed));
    pages.push_back(std::move(page));
  }
  if (pages.size() == 1) co_return std::move(pages.front());
  co_return merge(std::move(pages));
}

rt::Task<VersionsPage> ShardStore::list_versions(VersionsRequest request) {
  VersionsPage page;
  index::HistoryRequest keys = request.keys;
  keys.includes_after = request.after.has_value();
  // Until there is one more than is asked for, so that it is known whether there is more.
  do {
    LEAT_CO_TRY(index::HistoryPage histories, co_await list_histories(keys));
    for (index::History& history : histories.items) {
      const bool is_begun = request.after && history.name == request.keys.after;
      add_items(std::move(history), is_begun ? request.after : std::nullopt, page.items);
    }
    keys.after = std::move(histories.next);
    keys.includes_after = true;
  } while (!keys.after.empty() && page.items.size() <= request.keys.max);
  page.is_truncated = page.items.size() > request.keys.max;
  if (page.is_truncated) page.items.resize(request.keys.max);
  co_return page;
}

}  // namespace leat::store
