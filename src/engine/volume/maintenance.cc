// What a volume does beside serving: emptying the trash, rewriting thin segments, finding files
// that nobody owns.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "segment/scan.h"
#include "volume/volume.h"

namespace leat::volume {
namespace {

constexpr std::size_t kStep = 1000;

using Segments = std::vector<record::SegmentId>;

// Removes files that the index has given up. One that is gone already was removed before a crash.
Status remove_files(io::Disk& disk, const Folders& folders,
                    const std::vector<record::FileId>& files) {
  for (const record::FileId file : files) {
    Status removed = disk.remove(folders.file(file));
    if (!removed && removed.error().code() != Errc::not_found) return removed;
  }
  return {};
}

// Files below files/ that the index does not know, but for those that `is_young`: they may belong
// to a change that is on its way. When a file was made cannot be asked of the file system, whose
// calendar may jump.
using IsYoung = std::function<bool(record::FileId)>;
Result<std::vector<record::FileId>> find_orphans(io::Disk& disk, const Folders& folders,
                                                 const index::Index& index,
                                                 const IsYoung& is_young) {
  std::vector<record::FileId> orphans;
  LEAT_TRY(const auto shelves, disk.list(folders.files()));
  for (const std::string& shelf : shelves) {
    const std::string folder = folders.files() + '/' + shelf;
    LEAT_TRY(const auto names, disk.list(folder));
    for (const std::string& name : names) {
      std::uint64_t number = 0;
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number, 16);
      if (error != std::errc{} || end != name.data() + name.size()) continue;
      const record::FileId file(number);
      if (is_young(file)) continue;
      LEAT_TRY(const bool known, index.is_known(file));
      if (!known) orphans.push_back(file);
    }
  }
  return orphans;
}

}  // namespace

// A segment to be rewritten, and what it holds.
struct Volume::Victim {
  std::optional<record::SegmentId> segment{};  // nothing: none is worth it
  std::shared_ptr<const io::File> file{};
  std::vector<record::Record> records{};
  bool is_oldest = false;
};

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
  using Files = std::vector<record::FileId>;
  for (;;) {
    auto looked = tools_.pool.run<Files>([&index] { return index.find_garbage(kStep); });
    LEAT_CO_TRY(const Files files, co_await std::move(looked));
    if (files.empty()) co_return Status{};
    // What says that they are garbage must be on the disk before they go.
    LEAT_CO_DO(co_await committer_.sync());
    io::Disk& disk = tools_.disk;
    const Folders& folders = folders_;
    auto removed = tools_.pool.run<void>(
        [&disk, &folders, &files] { return remove_files(disk, folders, files); });
    LEAT_CO_DO(co_await std::move(removed));
    kv::Batch batch;
    for (const record::FileId file : files)
      batch.erase(index::garbage_key(file));
    LEAT_CO_DO(kv_->write(batch));
    removals_.fetch_add(1, std::memory_order_acq_rel);
  }
}

rt::Task<std::size_t> Volume::collect_orphans() {
  io::Disk& disk = tools_.disk;
  const Folders& folders = folders_;
  const index::Index& index = *index_;
  const std::uint64_t tag = file_tag_;
  using Files = std::vector<record::FileId>;
  auto looked = tools_.pool.run<Files>([&disk, &folders, &index, tag] {
    const auto is_young = [tag](record::FileId file) {
      return (file.value() & kFileTagMask) == tag;
    };
    return find_orphans(disk, folders, index, is_young);
  });
  LEAT_CO_TRY(const Files orphans, co_await std::move(looked));
  auto removed = tools_.pool.run<void>(
      [&disk, &folders, &orphans] { return remove_files(disk, folders, orphans); });
  LEAT_CO_DO(co_await std::move(removed));
  co_return orphans.size();
}

rt::Task<bool> Volume::compact() {
  if (compacting_) co_return false;
  compacting_ = true;
  auto done = co_await compact_one();
  compacting_ = false;
  co_return done;
}

rt::Task<bool> Volume::compact_one() {
  LEAT_CO_TRY(const Victim victim, co_await choose_victim());
  if (!victim.segment) co_return false;
  for (const record::Record& record : victim.records) {
    const Status moved = co_await move_record(victim, record);
    if (moved) continue;
    if (moved.error().code() == Errc::corrupt) {
      damaged_.insert(*victim.segment);
      tools_.logger.error("a segment is damaged and is left as it is",
                          {{"segment", victim.segment->value()},
                           {"offset", record.offset},
                           {"disk", folders_.root()},
                           {"error", moved.error().detail()}});
    }
    co_return fail(moved.error());
  }
  // The moved changes are on the disk and in the index's own files before the old ones go.
  LEAT_CO_DO(co_await committer_.checkpoint());
  LEAT_CO_DO(co_await drop_segment(*victim.segment));
  co_return true;
}

rt::Task<Volume::Victim> Volume::choose_victim() {
  segment::SegmentFolder& folder = *segments_;
  auto listed = tools_.pool.run<Segments>([&folder] { return folder.list(); });
  LEAT_CO_TRY(const Segments segments, co_await std::move(listed));
  const index::Index& index = *index_;
  using Applied = std::optional<index::Applied>;
  auto asked = tools_.pool.run<Applied>([&index] { return index.applied(); });
  LEAT_CO_TRY(const Applied applied, co_await std::move(asked));
  Victim victim;
  if (!applied) co_return victim;
  std::uint64_t best_percent = options_.compact_below_percent;
  for (const record::SegmentId id : segments) {
    // The one that is written to stays, and so does the one that recovery begins with: after a roll
    // over that no change followed it is the one before.
    if (id >= applied->segment || damaged_.contains(id)) continue;
    auto sized = tools_.pool.run<std::uint64_t>([&folder, id] { return folder.size_bytes(id); });
    LEAT_CO_TRY(const std::uint64_t size_bytes, co_await std::move(sized));
    const auto live = index_->live_bytes().find(id);
    const std::uint64_t live_bytes = live == index_->live_bytes().end() ? 0 : live->second;
    const std::uint64_t percent = live_bytes * 100 / std::max<std::uint64_t>(size_bytes, 1);
    if (percent >= best_percent) continue;
    best_percent = percent;
    victim.segment = id;
    victim.is_oldest = id == segments.front();
  }
  if (!victim.segment) co_return victim;

  const record::SegmentId id = *victim.segment;
  auto opened = tools_.pool.run<std::unique_ptr<io::File>>(
      [&folder, id] { return folder.open(id, io::OpenMode::read); });
  LEAT_CO_TRY(victim.file, co_await std::move(opened));
  auto scanned = tools_.pool.run<void>([&folder, &victim, id]() -> Status {
    const auto note = [&victim](const record::Record& record) -> Status {
      victim.records.push_back(record);
      return {};
    };
    const segment::ScanRange all{.is_sealed = true};
    LEAT_DO(segment::scan(*victim.file, folder.site(id), all, note));
    return {};
  });
  const Status read = co_await std::move(scanned);
  if (!read) {
    if (read.error().code() == Errc::corrupt) damaged_.insert(id);
    co_return fail(read.error());
  }
  co_return victim;
}

rt::Task<void> Volume::move_record(const Victim& victim, const record::Record& record) {
  if (std::holds_alternative<record::PutObject>(record.change)) {
    return move_object(victim, record);
  }
  return move_other(victim, record);
}

rt::Task<void> Volume::move_other(const Victim& victim, const record::Record& record) {
  if (const auto* bucket = std::get_if<record::PutBucket>(&record.change)) {
    const auto known = index_->buckets().find(bucket->bucket.id);
    const bool is_live = known != index_->buckets().end() && known->second == bucket->bucket;
    if (!is_live) co_return Status{};
    co_return co_await move_as_it_is(record);
  }
  if (const auto* begin = std::get_if<record::BeginUpload>(&record.change)) {
    LEAT_CO_TRY(const auto held, co_await hold_upload(begin->upload.id));
    const auto upload = co_await find_upload(begin->upload.object, begin->upload.id);
    if (!upload && upload.error().code() == Errc::not_found) co_return Status{};
    if (!upload) co_return fail(upload.error());
    co_return co_await move_as_it_is(record);
  }
  if (const auto* part = std::get_if<record::PutPart>(&record.change)) {
    LEAT_CO_TRY(const auto held, co_await hold_upload(part->part.upload));
    LEAT_CO_TRY(const auto before, co_await read_before(record.change));
    const bool is_live =
        before.part && before.part->content.sequence == part->part.content.sequence;
    if (!is_live) co_return Status{};
    co_return co_await move_as_it_is(record);
  }
  // That something was removed must be remembered as long as an older segment may still hold it.
  if (victim.is_oldest) co_return Status{};
  co_return co_await move_as_it_is(record);
}

rt::Task<void> Volume::move_as_it_is(const record::Record& record) {
  Entry entry{.change = record.change,
              .durability = record::Durability::relaxed,
              .is_moved = true,
              .sequence = record.header.sequence};
  co_return co_await committer_.commit(entry);
}

rt::Task<void> Volume::move_object(const Victim& victim, const record::Record& record) {
  const auto& put = std::get<record::PutObject>(record.change);
  LEAT_CO_TRY(const auto held, co_await hold(put.object));
  auto looked = co_await read_before(record.change);
  if (!looked) co_return fail(looked.error());
  index::Before before = std::move(*looked);
  // The version as the index knows it now, if this record still is it.
  const auto is_this = [&put](const record::Version& known) {
    if (known.id != put.version.id) return false;
    const auto* place = std::get_if<record::SegmentPlace>(&put.version.place);
    return place == nullptr || known.place == put.version.place;
  };
  const record::Version* live = nullptr;
  if (before.current && is_this(*before.current)) live = &*before.current;
  if (before.trashed && is_this(before.trashed->version)) live = &before.trashed->version;
  if (live == nullptr) co_return Status{};

  std::vector<std::byte> data(record.header.sums_bytes() + record.header.data_bytes);
  const std::uint64_t offset = record.sums_offset();
  const io::File& file = *victim.file;
  auto read =
      tools_.pool.run<std::size_t>([&file, &data, offset] { return file.read_at(offset, data); });
  LEAT_CO_TRY(const std::size_t got, co_await std::move(read));
  if (got < data.size()) co_return fail(Errc::corrupt, "a segment is too short");
  const Bytes content = Bytes(data).subspan(record.header.sums_bytes());
  LEAT_CO_DO(
      record::verify_blocks(as_text(Bytes(data).first(record.header.sums_bytes())), content));

  Entry entry{.change = record::PutObject{.object = put.object, .version = *live, .upload = {}},
              .durability = record::Durability::relaxed,
              .is_moved = true,
              .sequence = live->sequence};
  if (!content.empty()) entry.data = record::sum_blocks({content});
  entry.before = std::move(before);
  co_return co_await committer_.commit(entry);
}

rt::Task<void> Volume::drop_segment(record::SegmentId segment) {
  const auto live = index_->live_bytes().find(segment);
  if (live != index_->live_bytes().end() && live->second != 0) {
    damaged_.insert(segment);
    co_return fail(Errc::internal, fmt::format("segment {:016x} still holds {} bytes after its "
                                               "rewriting; it is kept",
                                               segment.value(), live->second));
  }
  segment::SegmentFolder& folder = *segments_;
  auto removed = tools_.pool.run<void>([&folder, segment] { return folder.remove(segment); });
  LEAT_CO_DO(co_await std::move(removed));
  kv::Batch batch;
  index_->forget(segment, batch);
  LEAT_CO_DO(kv_->write(batch));
  removals_.fetch_add(1, std::memory_order_acq_rel);
  co_return Status{};
}

}  // namespace leat::volume
