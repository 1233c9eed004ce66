// What a volume does beside serving: emptying the trash, finding files that nobody owns.
// compaction.cc has the rewriting of thin segments.
#include <utility>

#include "volume/orphans.h"
#include "volume/volume.h"

namespace leat::volume {
namespace {

constexpr std::size_t kStep = 1000;

using Files = std::vector<record::FileId>;

struct Removal {
  Files removed{};
  std::uint64_t stuck = 0;         // that could not be removed
  std::optional<Error> refusal{};  // of the first of them
};

// Removes files that the index has given up. One that is gone already was removed before a crash;
// one that cannot be removed does not keep the others.
Removal remove_files(io::Disk& disk, const Folders& folders, const Files& files) {
  Removal done;
  for (const record::FileId file : files) {
    Status removed = disk.remove(folders.file(file));
    if (removed || removed.error().code() == Errc::not_found) {
      done.removed.push_back(file);
      continue;
    }
    ++done.stuck;
    if (!done.refusal) done.refusal = std::move(removed).error();
  }
  return done;
}

}  // namespace

std::string Volume::name_of(record::BucketId bucket) const {
  const auto found = index_->buckets().find(bucket);
  return found != index_->buckets().end() ? found->second.name : "";
}

rt::Task<void> Volume::note_unwritten(const record::ObjectKey& object, const Error& error) {
  ++write_errors_;
  tools_.logger.error("an object could not be written", {{"disk", folders_.root()},
                                                         {"bucket", name_of(object.bucket)},
                                                         {"key", object.key},
                                                         {"error", error}});
  co_return Status{};
}

bool Volume::note_unread(const Unread& unread) {
  const bool is_damage = unread.error.code() == Errc::corrupt;
  ++(is_damage ? read_failures_.damaged : read_failures_.io_errors);
  const bool is_news = is_damage && quarantine_.add(unread.object);
  if (is_damage && !is_news) return false;
  tools_.logger.error(
      is_damage ? "an object is damaged; it is not served" : "an object could not be read",
      {{"disk", folders_.root()},
       {"bucket", name_of(unread.object.bucket)},
       {"key", unread.object.key},
       {"version", unread.version.value()},
       {"error", unread.error}});
  return is_news;
}

rt::Task<std::size_t> Volume::reclaim(std::int64_t until_ms) {
  LEAT_CO_TRY(const std::size_t purged, co_await purge_due(until_ms));
  LEAT_CO_DO(co_await remove_garbage());
  co_return purged;
}

rt::Task<std::size_t> Volume::purge_due(std::int64_t until_ms) {
  const index::Index& index = *index_;
  using Dues = std::vector<index::Due>;
  std::size_t purged = 0;
  for (;;) {
    auto looked =
        tools_.pool.run<Dues>([&index, until_ms] { return index.find_due(until_ms, kStep); });
    LEAT_CO_TRY(const Dues dues, co_await std::move(looked));
    for (const index::Due& due : dues) {
      LEAT_CO_TRY(const auto held, co_await hold(due.object));
      Entry entry{.change = record::PurgeVersion{.object = due.object, .purged = due.version},
                  .durability = record::Durability::relaxed};
      LEAT_CO_DO(co_await commit(entry));
      ++purged;
    }
    if (dues.size() < kStep) co_return purged;
  }
}

rt::Task<void> Volume::remove_garbage() {
  const index::Index& index = *index_;
  std::uint64_t stuck = 0;
  std::optional<Error> refusal;
  for (record::FileId first{};;) {
    auto looked =
        tools_.pool.run<Files>([&index, first] { return index.find_garbage(kStep, first); });
    LEAT_CO_TRY(const Files files, co_await std::move(looked));
    if (files.empty()) break;
    // What says that they are garbage must be on the disk before they go.
    LEAT_CO_DO(co_await committer_.sync());
    io::Disk& disk = tools_.disk;
    const Folders& folders = folders_;
    auto removing = tools_.pool.run<Removal>(
        [&disk, &folders, &files] { return remove_files(disk, folders, files); });
    LEAT_CO_TRY(Removal done, co_await std::move(removing));
    kv::Batch batch;
    for (const record::FileId file : done.removed)
      batch.erase(index::garbage_key(file));
    LEAT_CO_DO(kv_->write(batch));
    removals_.fetch_add(1, std::memory_order_acq_rel);
    stuck += done.stuck;
    if (!refusal) refusal = std::move(done.refusal);
    if (files.size() < kStep) break;
    first = record::FileId(files.back().value() + 1);
  }
  note_stuck(stuck, refusal);
  co_return Status{};
}

void Volume::note_stuck(std::uint64_t files, const std::optional<Error>& refusal) {
  if (files == std::exchange(stuck_files_, files) || !refusal) return;
  tools_.logger.error("files that nobody needs could not be removed",
                      {{"disk", folders_.root()}, {"files", files}, {"error", *refusal}});
}

rt::Task<std::size_t> Volume::collect_orphans() {
  io::Disk& disk = tools_.disk;
  const Folders& folders = folders_;
  const index::Index& index = *index_;
  const std::uint64_t tag = file_tag_;
  auto looked = tools_.pool.run<Files>([&disk, &folders, &index, tag] {
    const auto is_young = [tag](record::FileId file) {
      return (file.value() & kFileTagMask) == tag;
    };
    return find_orphans(disk, folders, index, is_young);
  });
  LEAT_CO_TRY(const Files orphans, co_await std::move(looked));
  auto removing = tools_.pool.run<Removal>(
      [&disk, &folders, &orphans] { return remove_files(disk, folders, orphans); });
  LEAT_CO_TRY(const Removal done, co_await std::move(removing));
  if (done.refusal) {
    tools_.logger.error(
        "files that no object names could not be removed",
        {{"disk", folders_.root()}, {"files", done.stuck}, {"error", *done.refusal}});
  }
  co_return done.removed.size();
}

}  // namespace leat::volume
