// Rewriting thin segments: what is still needed of one is written again at the end, and it goes.
//
// A rebuild must come to the same index from what is left. So a record stays, in some form, as long
// as an older segment may hold something that it ended:
//  1. A current version is written again as it is; one in the trash as KeepTrashed, which says when
//     it goes.
//  2. A put that is no longer needed may have replaced something: then that is kept, as a removal
//  at
//     its time. So is the end of the upload that it completed.
//  3. Removals, restorings and purges are kept until their segment is the oldest. What they ended
//     was written before them, so nothing of it is left then.
//  4. What a bucket was like is kept while the bucket is there or has trash: how long a version
//  stays
//     in the trash was decided by it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "segment/scan.h"
#include "volume/volume.h"

namespace leat::volume {
namespace {

using Segments = std::vector<record::SegmentId>;

// Removals and the like that only wait for older segments to go may take this share of the disk's
// segments; then the oldest segment is rewritten for their sake.
constexpr std::uint64_t kWaitingPercent = 25;

record::ObjectKey& object_in(record::Change& change) {
  if (auto* put = std::get_if<record::PutObject>(&change)) return put->object;
  return std::get<record::KeepTrashed>(change).object;
}

}  // namespace

// A segment to be rewritten, and what it holds.
struct Volume::Victim {
  std::optional<record::SegmentId> segment{};  // nothing: none is worth it
  std::shared_ptr<const io::File> file{};
  std::vector<record::Record> records{};
  bool is_oldest = false;
};

rt::Task<bool> Volume::compact(std::function<bool()> is_over) {
  if (compacting_) co_return false;
  compacting_ = true;
  auto done = co_await compact_one(std::move(is_over));
  compacting_ = false;
  co_return done;
}

rt::Task<bool> Volume::compact_one(std::function<bool()> is_over) {
  LEAT_CO_TRY(const Victim victim, co_await choose_victim());
  if (!victim.segment) co_return false;
  for (const record::Record& record : victim.records) {
    if (is_over()) co_return false;
    const Status moved = co_await move_record(victim, record);
    const std::uint64_t bytes = std::exchange(moved_bytes_, 0);
    if (moved && bytes > 0 && !space_.is_full) {
      LEAT_CO_DO(co_await compaction_.spend(2 * bytes));
    }
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

// What the segments take and what of it is needed, so far as the counters know.
rt::Task<Volume::Survey> Volume::survey() {
  segment::SegmentFolder& folder = *segments_;
  const index::Index& index = *index_;
  Survey survey;
  auto looked = tools_.pool.run<void>([&folder, &index, &survey]() -> Status {
    LEAT_TRY(const auto applied, index.applied());
    LEAT_TRY(const Segments segments, folder.list());
    for (const record::SegmentId id : segments) {
      // The one that is written to stays, and so does the one that recovery begins with: after a
      // roll over that no change followed it is the one before.
      if (!applied || id >= applied->segment) break;
      LEAT_TRY(const std::uint64_t size_bytes, folder.size_bytes(id));
      survey.segments.push_back({.id = id, .size_bytes = std::max<std::uint64_t>(size_bytes, 1)});
      survey.total_bytes += size_bytes;
    }
    return {};
  });
  LEAT_CO_DO(co_await std::move(looked));
  for (Thin& one : survey.segments) {
    const auto live = index_->live_bytes().find(one.id);
    one.needed_bytes = live == index_->live_bytes().end() ? 0 : live->second;
  }
  co_return survey;
}

rt::Task<Volume::Victim> Volume::choose_victim() {
  LEAT_CO_TRY(Survey all, co_await survey());
  if (all.segments.empty()) co_return Victim{};
  const record::SegmentId oldest = all.segments.front().id;
  std::ranges::sort(all.segments, {},
                    [](const Thin& one) { return std::pair(one.percent(), one.id); });
  std::erase_if(judged_, [oldest](const auto& one) { return one.first < oldest; });
  std::uint64_t waiting_bytes = 0;
  for (const Thin& one : all.segments) {
    if (one.percent() >= options_.compact_below_percent) break;
    if (damaged_.contains(one.id)) continue;
    Judgement& judged = judged_[one.id];
    if (judged.oldest != oldest || judged.needed_bytes != one.needed_bytes) {
      LEAT_CO_TRY(Victim victim, co_await read_victim(one.id, one.id == oldest));
      judged = judge(victim, one, oldest);
      if (judged.is_worth_it) co_return victim;
    }
    if (judged.is_waiting) waiting_bytes += one.size_bytes;
  }
  if (waiting_bytes * 100 < all.total_bytes * kWaitingPercent || waiting_bytes == 0) {
    co_return Victim{};
  }
  if (damaged_.contains(oldest)) co_return Victim{};
  co_return co_await read_victim(oldest, true);
}

rt::Task<Volume::Victim> Volume::read_victim(record::SegmentId id, bool is_oldest) {
  segment::SegmentFolder& folder = *segments_;
  Victim victim{.segment = id, .is_oldest = is_oldest};
  auto scanned = tools_.pool.run<void>([&folder, &victim, id]() -> Status {
    LEAT_TRY(victim.file, folder.open(id, io::OpenMode::read));
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

// Counters know of versions alone. What must be remembered beside them is written again as well:
// some for good, some until there is no older segment.
Volume::Judgement Volume::judge(const Victim& victim, const Thin& thin, record::SegmentId oldest) {
  std::uint64_t kept = 0;
  std::uint64_t waiting = 0;
  for (const record::Record& record : victim.records) {
    const auto* put = std::get_if<record::PutObject>(&record.change);
    const bool is_bucket = std::holds_alternative<record::PutBucket>(record.change) ||
                           std::holds_alternative<record::RemoveBucket>(record.change);
    const bool ends_something = put != nullptr
                                    ? put->replaced.value() != 0 || put->upload.value() != 0
                                    : !std::holds_alternative<record::KeepTrashed>(record.change);
    if (is_bucket) {
      kept += record.header.covered_bytes();
    } else if (ends_something && !victim.is_oldest) {
      waiting += record.header.covered_bytes();
    }
  }
  // Whatever is written again takes a batch, if not a segment, of its own.
  if (kept > 0) kept += record::kSegmentHeaderBytes + 2 * record::kBatchHeaderBytes;
  const std::uint64_t limit = thin.size_bytes * options_.compact_below_percent / 100;
  const std::uint64_t needed = thin.needed_bytes + kept;
  return {.oldest = oldest,
          .needed_bytes = thin.needed_bytes,
          .is_worth_it = needed + waiting < limit,
          .is_waiting = needed < limit && needed + waiting >= limit};
}

rt::Task<void> Volume::move_record(const Victim& victim, const record::Record& record) {
  if (std::holds_alternative<record::PutObject>(record.change) ||
      std::holds_alternative<record::KeepTrashed>(record.change)) {
    return move_object(victim, record);
  }
  return move_other(victim, record);
}

rt::Task<void> Volume::move_other(const Victim& victim, const record::Record& record) {
  if (const auto* bucket = std::get_if<record::PutBucket>(&record.change)) {
    const record::BucketId id = bucket->bucket.id;
    const bool matters = index_->buckets().contains(id) || index_->counts(id).trashed_objects > 0;
    if (!matters) co_return Status{};
    co_return co_await move_as(record.change, record.header.sequence);
  }
  if (const auto* begin = std::get_if<record::BeginUpload>(&record.change)) {
    LEAT_CO_TRY(const auto held, co_await hold_upload(begin->upload.id));
    const auto upload = co_await find_upload(begin->upload.object, begin->upload.id);
    if (!upload && upload.error().code() == Errc::not_found) co_return Status{};
    if (!upload) co_return fail(upload.error());
    co_return co_await move_as(record.change, record.header.sequence);
  }
  if (const auto* part = std::get_if<record::PutPart>(&record.change)) {
    LEAT_CO_TRY(const auto held, co_await hold_upload(part->part.upload));
    LEAT_CO_TRY(const auto before, co_await read_before(record.change));
    const bool is_live =
        before.part && before.part->content.sequence == part->part.content.sequence;
    if (!is_live) co_return Status{};
    co_return co_await move_as(record.change, record.header.sequence);
  }
  // A bucket's older forms may be written again behind its removal, which therefore stays.
  const bool is_bucket = std::holds_alternative<record::RemoveBucket>(record.change);
  if (victim.is_oldest && !is_bucket) co_return Status{};
  co_return co_await move_as(record.change, record.header.sequence);
}

rt::Task<void> Volume::move_as(record::Change change, record::Sequence sequence) {
  Entry entry{.change = std::move(change),
              .durability = record::Durability::relaxed,
              .is_moved = true,
              .sequence = sequence};
  co_return co_await committer_.commit(entry);
}

rt::Task<void> Volume::move_object(const Victim& victim, const record::Record& record) {
  record::Change change = record.change;
  const record::ObjectKey object = object_in(change);
  const record::Version& version = *record::version_in(record.change);
  LEAT_CO_TRY(const auto held, co_await hold(object));
  LEAT_CO_TRY(const index::Before before, co_await read_before(change));
  // The version as the index knows it now, if this record still is it.
  const auto is_this = [&version](const record::Version& known) {
    return known.id == version.id && known.place == version.place;
  };
  const auto* put = std::get_if<record::PutObject>(&record.change);
  record::Sequence sequence{};  // of what is written again; none for a version that is not needed
  record::PutObject again{.object = object};
  if (before.current && is_this(*before.current)) {
    again.version = *before.current;
    sequence = again.version.sequence;
    if (put != nullptr && sequence == record.header.sequence) {
      again.upload = put->upload;
      again.replaced = put->replaced;
    }
    change = again;
  } else if (before.trashed && is_this(before.trashed->version)) {
    const index::Trashed& trashed = *before.trashed;
    sequence = trashed.version.sequence;
    change = record::KeepTrashed{.object = object,
                                 .version = trashed.version,
                                 .since_ms = trashed.since_ms,
                                 .until_ms = trashed.until_ms};
  }
  if (put != nullptr && !victim.is_oldest) LEAT_CO_DO(co_await move_ends(*put, again, record));
  if (sequence.value() == 0) co_return Status{};
  co_return co_await move_with_data(victim, record, std::move(change), before);
}

// What the put ended and what is written again in its place does not say.
rt::Task<void> Volume::move_ends(const record::PutObject& put, const record::PutObject& again,
                                 const record::Record& record) {
  const record::Sequence sequence = record.header.sequence;
  if (put.upload.value() != 0 && again.upload != put.upload) {
    record::Change end = record::EndUpload{.object = put.object, .upload = put.upload};
    LEAT_CO_DO(co_await move_as(std::move(end), sequence));
  }
  if (put.replaced.value() != 0 && again.replaced != put.replaced) {
    record::Change removal = record::RemoveObject{
        .object = put.object, .removed = put.replaced, .at_ms = put.version.modified_ms};
    LEAT_CO_DO(co_await move_as(std::move(removal), sequence));
  }
  co_return Status{};
}

rt::Task<void> Volume::move_with_data(const Victim& victim, const record::Record& record,
                                      record::Change change, const index::Before& before) {
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

  const record::Sequence sequence = record::version_in(change)->sequence;
  Entry entry{.change = std::move(change),
              .durability = record::Durability::relaxed,
              .is_moved = true,
              .sequence = sequence};
  if (!content.empty()) entry.data = record::sum_blocks({content});
  entry.before = before;
  moved_bytes_ += data.size();
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
