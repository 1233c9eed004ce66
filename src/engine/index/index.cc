#include "index/index.h"

#include "base/check.h"
#include "codec/codec.h"

namespace leat::index {
namespace {

using codec::Decoder;
using codec::Encoder;
using record::FileExtent;
using record::SegmentPlace;
using record::Version;

std::string encode(const Trashed& trashed) {
  std::string bytes;
  Encoder out(bytes);
  out.varint(static_cast<std::uint64_t>(trashed.since_ms));
  out.varint(static_cast<std::uint64_t>(trashed.until_ms));
  out.raw(record::encode(trashed.version));
  return bytes;
}

std::string encode(const Counts& counts) {
  std::string bytes;
  Encoder out(bytes);
  out.varint(counts.objects);
  out.varint(counts.bytes);
  out.varint(counts.trashed_objects);
  out.varint(counts.trashed_bytes);
  if (counts.kept_versions > 0) {
    out.varint(counts.kept_versions);
    out.varint(counts.kept_bytes);
  }
  return bytes;
}

Result<Counts> decode_counts(std::string_view bytes) {
  Decoder in(bytes);
  Counts counts;
  counts.objects = in.varint();
  counts.bytes = in.varint();
  counts.trashed_objects = in.varint();
  counts.trashed_bytes = in.varint();
  if (!in.rest().empty()) {
    counts.kept_versions = in.varint();
    counts.kept_bytes = in.varint();
  }
  LEAT_DO(in.finish("the counters of a bucket"));
  return counts;
}

const std::vector<FileExtent>* files_of(const Version& version) {
  return std::get_if<std::vector<FileExtent>>(&version.place);
}

}  // namespace

Result<Trashed> decode_trashed(std::string_view bytes) {
  Decoder in(bytes);
  Trashed trashed;
  trashed.since_ms = static_cast<std::int64_t>(in.varint());
  trashed.until_ms = static_cast<std::int64_t>(in.varint());
  LEAT_DO(in.status("an entry of the trash"));
  LEAT_TRY(trashed.version, record::decode_version(in.rest()));
  return trashed;
}

std::uint64_t segment_bytes(const Version& version) {
  if (files_of(version) != nullptr) return 0;
  return version.size_bytes + record::block_count(version.size_bytes) * 4 + 64;
}

Status Index::load() {
  kv::Cursor cursor = kv_.cursor();
  const std::string buckets = bucket_prefix();
  for (cursor.seek(buckets); cursor.is_valid() && cursor.key().starts_with(buckets);
       cursor.next()) {
    LEAT_TRY(auto bucket, record::decode_bucket(cursor.value()));
    const record::BucketId id = bucket.id;
    buckets_.insert_or_assign(id, std::move(bucket));
  }
  const std::string counts = counts_prefix();
  for (cursor.seek(counts); cursor.is_valid() && cursor.key().starts_with(counts); cursor.next()) {
    const record::BucketId id(static_cast<std::uint32_t>(number_in(cursor.key())));
    LEAT_TRY(counts_[id], decode_counts(cursor.value()));
  }
  const std::string segments = segment_prefix();
  for (cursor.seek(segments); cursor.is_valid() && cursor.key().starts_with(segments);
       cursor.next()) {
    Decoder in(cursor.value());
    live_[record::SegmentId(number_in(cursor.key()))] = in.varint();
    LEAT_DO(in.finish("the counter of a segment"));
  }
  return cursor.status();
}

Result<Before> Index::before(const record::Change& change) const {
  Before before;
  const auto trashed = [this, &before](const record::ObjectKey& object,
                                       record::VersionId version) -> Status {
    LEAT_TRY(const auto bytes, kv_.get(trash_key(object, version)));
    if (!bytes) return {};
    LEAT_TRY(before.trashed, decode_trashed(*bytes));
    return {};
  };
  if (const auto* put = std::get_if<record::PutObject>(&change)) {
    LEAT_TRY(before.current, find(put->object));
    LEAT_DO(trashed(put->object, put->version.id));
    if (put->upload.value() != 0) {
      LEAT_TRY(before.parts, find_parts(put->upload));
    }
  } else if (const auto* remove = std::get_if<record::RemoveObject>(&change)) {
    LEAT_TRY(before.current, find(remove->object));
  } else if (const auto* restore = std::get_if<record::RestoreObject>(&change)) {
    LEAT_TRY(before.current, find(restore->object));
    LEAT_DO(trashed(restore->object, restore->restored));
  } else if (const auto* purge = std::get_if<record::PurgeVersion>(&change)) {
    LEAT_DO(trashed(purge->object, purge->purged));
  } else if (const auto* part = std::get_if<record::PutPart>(&change)) {
    LEAT_TRY(const auto bytes, kv_.get(part_key(part->part.upload, part->part.number)));
    if (bytes) {
      LEAT_TRY(auto content, record::decode_version(*bytes));
      before.part = record::Part{
          .upload = part->part.upload, .number = part->part.number, .content = std::move(content)};
    }
  } else if (const auto* end = std::get_if<record::EndUpload>(&change)) {
    LEAT_TRY(before.parts, find_parts(end->upload));
  } else if (const auto* keep = std::get_if<record::KeepTrashed>(&change)) {
    LEAT_TRY(before.current, find(keep->object));
    LEAT_DO(trashed(keep->object, keep->version.id));
  }
  return before;
}

void Index::apply(record::Sequence sequence, const record::Change& change, const Before& before,
                  kv::Batch& batch) {
  sequence_ = sequence;
  std::visit([&](const auto& one) { apply_one(one, before, batch); }, change);
}

void Index::apply_one(const record::PutObject& change, const Before& before, kv::Batch& batch) {
  Counts& counts = count(change.object.bucket);
  if (before.current) {
    const Version& old = *before.current;
    --counts.objects;
    counts.bytes -= old.size_bytes;
    if (old.id == change.version.id) {
      release(old, batch);  // the same version with other attributes
    } else {
      retire(change.object, old, change.version.modified_ms, batch);
    }
  }
  if (before.trashed) {
    // It was brought back, and what says so went before what it says it of: a rebuild only.
    erase_trash(change.object, *before.trashed, batch);
    release(before.trashed->version, batch);
  }
  if (change.upload.value() != 0) end_upload(change.object, change.upload, before, batch);
  hold(change.version, batch);
  put_current(change.object, change.version, batch);
  ++counts.objects;
  counts.bytes += change.version.size_bytes;
}

void Index::apply_one(const record::RemoveObject& change, const Before& before, kv::Batch& batch) {
  if (!before.current) return;
  Counts& counts = count(change.object.bucket);
  --counts.objects;
  counts.bytes -= before.current->size_bytes;
  erase_current(change.object, batch);
  retire(change.object, *before.current, change.at_ms, batch);
}

// In a rebuild the version may be missing here: compaction has written it again, as what it is now.
void Index::apply_one(const record::RestoreObject& change, const Before& before, kv::Batch& batch) {
  Counts& counts = count(change.object.bucket);
  if (before.current) {
    --counts.objects;
    counts.bytes -= before.current->size_bytes;
    erase_current(change.object, batch);
    retire(change.object, *before.current, change.at_ms, batch);
  }
  if (!before.trashed) return;
  erase_trash(change.object, *before.trashed, batch);
  Version version = before.trashed->version;
  version.sequence = sequence_;
  put_current(change.object, version, batch);
  ++counts.objects;
  counts.bytes += version.size_bytes;
}

void Index::apply_one(const record::PurgeVersion& change, const Before& before, kv::Batch& batch) {
  if (!before.trashed) return;
  erase_trash(change.object, *before.trashed, batch);
  release(before.trashed->version, batch);
}

void Index::apply_one(const record::KeepTrashed& change, const Before& before, kv::Batch& batch) {
  const bool is_current = before.current && before.current->id == change.version.id;
  if (is_current) {
    Counts& counts = count(change.object.bucket);
    --counts.objects;
    counts.bytes -= before.current->size_bytes;
    erase_current(change.object, batch);
    release(*before.current, batch);
  }
  if (before.trashed) {
    erase_trash(change.object, *before.trashed, batch);
    release(before.trashed->version, batch);
  }
  hold(change.version, batch);
  put_trash(change.object, {change.version, change.since_ms, change.until_ms}, batch);
}

void Index::apply_one(const record::PutBucket& change, const Before& /*before*/, kv::Batch& batch) {
  batch.put(bucket_key(change.bucket.id), record::encode(change.bucket));
  buckets_.insert_or_assign(change.bucket.id, change.bucket);
}

void Index::apply_one(const record::RemoveBucket& change, const Before& /*before*/,
                      kv::Batch& batch) {
  batch.erase(bucket_key(change.bucket));
  buckets_.erase(change.bucket);
}

void Index::apply_one(const record::BeginUpload& change, const Before& /*before*/,
                      kv::Batch& batch) {
  batch.put(upload_key(change.upload.object, change.upload.id), record::encode(change.upload));
}

void Index::apply_one(const record::PutPart& change, const Before& before, kv::Batch& batch) {
  if (before.part) release(before.part->content, batch);
  batch.put(part_key(change.part.upload, change.part.number), record::encode(change.part.content));
  hold(change.part.content, batch);
}

void Index::apply_one(const record::EndUpload& change, const Before& before, kv::Batch& batch) {
  end_upload(change.object, change.upload, before, batch);
}

void Index::end_upload(const record::ObjectKey& object, record::UploadId upload,
                       const Before& before, kv::Batch& batch) {
  batch.erase(upload_key(object, upload));
  for (const record::Part& part : before.parts) {
    batch.erase(part_key(part.upload, part.number));
    release(part.content, batch);
  }
}

void Index::apply_moved(const record::Change& change, const Before& before, kv::Batch& batch) {
  const auto moved = [this](Version& known, const Version& to) {
    if (known.id != to.id || known.sequence != to.sequence) return false;
    count_use(known, -1);
    known.place = to.place;
    count_use(known, 1);
    return true;
  };
  if (const auto* put = std::get_if<record::PutObject>(&change); put && before.current) {
    Version current = *before.current;
    if (moved(current, put->version)) put_current(put->object, current, batch);
  }
  if (const auto* keep = std::get_if<record::KeepTrashed>(&change); keep && before.trashed) {
    Trashed trashed = *before.trashed;
    if (moved(trashed.version, keep->version)) {
      batch.put(trash_key(keep->object, keep->version.id), encode(trashed));
    }
  }
}

std::optional<Trashed> Index::retired(const record::ObjectKey& object, const Version& version,
                                      std::int64_t at_ms) const {
  const auto found = buckets_.find(object.bucket);
  const record::Bucket bucket = found == buckets_.end() ? record::Bucket{} : found->second;
  Trashed trashed{.version = version, .since_ms = at_ms, .until_ms = record::kForever};
  if (bucket.versioning == record::Versioning::on || version.is_versioned) return trashed;
  if (bucket.undo_window_ms == 0) return std::nullopt;
  trashed.until_ms = at_ms + static_cast<std::int64_t>(bucket.undo_window_ms);
  return trashed;
}

void Index::retire(const record::ObjectKey& object, const Version& version, std::int64_t at_ms,
                   kv::Batch& batch) {
  if (const auto trashed = retired(object, version, at_ms)) {
    put_trash(object, *trashed, batch);
  } else {
    release(version, batch);
  }
}

void Index::put_trash(const record::ObjectKey& object, const Trashed& trashed, kv::Batch& batch) {
  const Version& version = trashed.version;
  batch.put(trash_key(object, version.id), encode(trashed));
  Counts& counts = count(object.bucket);
  if (trashed.is_kept()) {
    ++counts.kept_versions;
    counts.kept_bytes += version.size_bytes;
    return;
  }
  batch.put(due_key({trashed.until_ms, object, version.id}), "");
  ++counts.trashed_objects;
  counts.trashed_bytes += version.size_bytes;
}

void Index::erase_trash(const record::ObjectKey& object, const Trashed& trashed, kv::Batch& batch) {
  const Version& version = trashed.version;
  batch.erase(trash_key(object, version.id));
  Counts& counts = count(object.bucket);
  if (trashed.is_kept()) {
    --counts.kept_versions;
    counts.kept_bytes -= version.size_bytes;
    return;
  }
  batch.erase(due_key({trashed.until_ms, object, version.id}));
  --counts.trashed_objects;
  counts.trashed_bytes -= version.size_bytes;
}

void Index::put_current(const record::ObjectKey& object, const Version& version, kv::Batch& batch) {
  revisions_.begin_change(hash_of(object));
  batch.put(object_key(object), record::encode(version));
}

void Index::erase_current(const record::ObjectKey& object, kv::Batch& batch) {
  revisions_.begin_change(hash_of(object));
  batch.erase(object_key(object));
}

void Index::hold(const Version& version, kv::Batch& batch) {
  count_use(version, 1);
  if (const auto* files = files_of(version)) {
    for (const FileExtent& extent : *files) {
      batch.put(file_key(extent.file), "");
      // The same change may have taken it from a part or from an older form of the version.
      batch.erase(garbage_key(extent.file));
    }
  }
}

void Index::release(const Version& version, kv::Batch& batch) {
  count_use(version, -1);
  if (const auto* files = files_of(version)) {
    for (const FileExtent& extent : *files) {
      batch.erase(file_key(extent.file));
      batch.put(garbage_key(extent.file), "");
    }
  }
}

void Index::count_use(const Version& version, int sign) {
  const auto* place = std::get_if<SegmentPlace>(&version.place);
  if (place == nullptr) return;
  std::uint64_t& live = live_[place->segment];
  const std::uint64_t bytes = segment_bytes(version);
  LEAT_CHECK(sign > 0 || live >= bytes);
  live = sign > 0 ? live + bytes : live - bytes;
  live_changed_[place->segment] = true;
}

Counts& Index::count(record::BucketId bucket) {
  counts_changed_[bucket] = true;
  return counts_[bucket];
}

void Index::finish(const Applied& applied, kv::Batch& batch) {
  for (const auto& [bucket, changed] : counts_changed_)
    batch.put(counts_key(bucket), encode(counts_[bucket]));
  for (const auto& [segment, changed] : live_changed_) {
    std::string live;
    Encoder(live).varint(live_[segment]);
    batch.put(segment_key(segment), live);
  }
  counts_changed_.clear();
  live_changed_.clear();
  std::string bytes;
  Encoder out(bytes);
  out.varint(applied.segment.value());
  out.varint(applied.offset);
  out.varint(applied.last.value());
  batch.put(applied_key(), bytes);
}

Result<std::optional<Applied>> Index::applied() const {
  LEAT_TRY(const auto bytes, kv_.get(applied_key()));
  if (!bytes) return std::nullopt;
  Decoder in(*bytes);
  Applied applied;
  applied.segment = record::SegmentId(in.varint());
  applied.offset = in.varint();
  applied.last = record::Sequence(in.varint());
  LEAT_DO(in.finish("how far the segments are applied"));
  return applied;
}

Counts Index::counts(record::BucketId bucket) const {
  const auto found = counts_.find(bucket);
  return found == counts_.end() ? Counts{} : found->second;
}

void Index::forget(record::SegmentId segment, kv::Batch& batch) {
  live_.erase(segment);
  live_changed_.erase(segment);
  batch.erase(segment_key(segment));
}

}  // namespace leat::index
