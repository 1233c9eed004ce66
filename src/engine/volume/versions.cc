// Buckets that keep versions: delete markers, and removing one version out of many.
//
// What one request does to several versions of a key is one batch of the log, so that a crash
// leaves all of it or nothing.
#include <algorithm>

#include "volume/volume.h"

namespace leat::volume {
namespace {

using Kept = std::vector<index::Trashed>;

Entry purge_of(const record::ObjectKey& object, index::Trashed trashed) {
  const record::VersionId id = trashed.version.id;
  return {.change = record::PurgeVersion{.object = object, .purged = id},
          .before = {.trashed = std::move(trashed)}};
}

Entry restoring_of(const record::ObjectKey& object, const index::Trashed& trashed,
                   std::int64_t at_ms) {
  return {
      .change =
          record::RestoreObject{.object = object, .restored = trashed.version.id, .at_ms = at_ms},
      .before = {.trashed = trashed}};
}

}  // namespace

rt::Task<void> Volume::purge_unversioned(Entry& entry, const record::ObjectKey& object) {
  if (versioning(object.bucket) != record::Versioning::suspended) co_return Status{};
  const index::Index& index = *index_;
  auto looked = tools_.pool.run<Kept>([&index, &object] { return index.find_kept(object); });
  LEAT_CO_TRY(Kept kept, co_await std::move(looked));
  for (index::Trashed& one : kept) {
    if (!one.version.is_versioned) entry.with.push_back(purge_of(object, std::move(one)));
  }
  co_return Status{};
}

rt::Task<record::Version> Volume::mark_deleted(record::ObjectKey object,
                                               std::optional<record::Version> current) {
  const record::BucketId bucket = object.bucket;
  LEAT_CO_DO(check_bucket(bucket));
  const std::int64_t now = now_ms();
  record::Version marker{.is_marker = true,
                         .is_versioned = versioning(bucket) == record::Versioning::on,
                         .modified_ms = now};
  record::Change mark = record::KeepTrashed{.object = object,
                                            .version = std::move(marker),
                                            .since_ms = now,
                                            .until_ms = record::kForever};
  Entry entry{.durability = durability(bucket)};
  if (current) {
    const record::VersionId id = current->id;
    entry.change = record::RemoveObject{.object = object, .removed = id, .at_ms = now};
    entry.before.current = std::move(current);
    entry.with.push_back({.change = std::move(mark)});
  } else {
    entry.change = std::move(mark);
  }
  LEAT_CO_DO(co_await purge_unversioned(entry, object));
  LEAT_CO_DO(co_await commit_arriving(entry, bucket));
  const bool is_first = std::holds_alternative<record::KeepTrashed>(entry.change);
  co_return *record::version_in(is_first ? entry.change : entry.with.front().change);
}

rt::Task<record::Version> Volume::remove_version(record::ObjectKey object,
                                                 record::VersionId version,
                                                 VersionRemoval removal) {
  LEAT_CO_TRY(const auto held, co_await hold(object));
  const record::Change look = record::RemoveObject{.object = object};
  LEAT_CO_TRY(const index::Before before, co_await read_before(look));
  const auto& current = before.current;
  const index::Index& index = *index_;
  auto looked = tools_.pool.run<Kept>([&index, &object] { return index.find_kept(object); });
  LEAT_CO_TRY(const Kept kept, co_await std::move(looked));
  const auto is_it = [version](const index::Trashed& one) { return one.version.id == version; };
  const auto next = std::ranges::find_if_not(kept, is_it);
  const bool has_next = next != kept.end() && !next->version.is_marker;
  // What becomes of one that is not versioned is the bucket's choice, which must not change now.
  std::optional<KeyLatch::Hold> bucket;
  if (current && !current->is_versioned) {
    LEAT_CO_TRY(auto hold, co_await latch_.acquire(index::bucket_key(object.bucket)));
    bucket.emplace(std::move(hold));
  }
  const std::int64_t now = now_ms();

  Entry entry;
  record::Version removed;
  if (current && current->id == version) {
    removed = *current;
    if (removal.must_be_past) co_return fail(Errc::precondition_failed, "the version is current");
    if (has_next) {
      entry = restoring_of(object, *next, now);
    } else {
      entry.change = record::RemoveObject{.object = object, .removed = version, .at_ms = now};
    }
    entry.before.current = current;
    // One that was never to be kept has its undo window.
    auto retired = index.retired(object, *current, now);
    if (retired && retired->is_kept()) entry.with.push_back(purge_of(object, std::move(*retired)));
  } else {
    const auto found = std::ranges::find_if(kept, is_it);
    if (found == kept.end()) co_return fail(Errc::not_found, "no such version");
    removed = found->version;
    entry = purge_of(object, *found);
    const bool was_shown = !current && found == kept.begin();
    if (removal.must_be_past && was_shown && has_next) {
      co_return fail(Errc::precondition_failed, "the marker hides the object");
    }
    if (was_shown && has_next && !removal.is_elsewhere) {
      entry.with.push_back(restoring_of(object, *next, now));
    }
  }
  entry.durability = durability(object.bucket);
  LEAT_CO_DO(co_await committer_.commit(entry));
  co_return removed;
}

}  // namespace leat::volume
