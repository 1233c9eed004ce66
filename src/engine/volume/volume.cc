#include "volume/volume.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace leat::volume {
namespace {

// What was seen of the free space is believed for so long, and for so much of the reserve.
constexpr Duration kSpaceTrust = std::chrono::seconds(1);
constexpr std::uint64_t kLooksPerReserve = 8;

Status check(const Precondition& precondition, const std::optional<record::Version>& current) {
  const auto failed = [](std::string_view why) {
    return fail(Errc::precondition_failed, std::string(why));
  };
  if (precondition.must_be_absent && current) return failed("the object is already there");
  if (precondition.etag && (!current || current->etag != *precondition.etag)) {
    return failed("the object has another etag");
  }
  if (precondition.version && (!current || current->id != *precondition.version)) {
    return failed("the object has another version");
  }
  return {};
}

struct Hooks {
  std::function<Result<io::DiskSpace>()> space;
  std::function<void(const Error&)> on_failure;
};

CommitterTools committer_tools(const VolumeTools& tools, segment::SegmentFolder& segments,
                               index::Index& index, kv::Kv& kv, Hooks hooks) {
  return {.shard = tools.shard,
          .file_io = tools.file_io,
          .pool = tools.pool,
          .clock = tools.clock,
          .segments = segments,
          .index = index,
          .kv = kv,
          .space = std::move(hooks.space),
          .on_failure = std::move(hooks.on_failure)};
}

}  // namespace

Result<std::unique_ptr<Volume>> Volume::make(VolumeTools tools, Folders folders,
                                             Recovered recovered, VolumeOptions options) {
  auto made =
      std::unique_ptr<Volume>(new Volume(tools, std::move(folders), std::move(recovered), options));
  LEAT_TRY(const io::DiskSpace space, tools.disk.space(made->folders_.root()));
  made->take_space(space);
  return made;
}

Volume::Volume(VolumeTools tools, Folders folders, Recovered recovered, VolumeOptions options)
    : tools_(tools),
      folders_(std::move(folders)),
      options_(options),
      identity_(recovered.identity),
      file_tag_(tools.rng.next() & kFileTagMask),
      segments_(std::move(recovered.segments)),
      kv_(std::move(recovered.kv)),
      index_(std::move(recovered.index)),
      opening_{.end = recovered.end,
               .replayed = recovered.replayed,
               .torn_bytes = recovered.torn_bytes,
               .at = tools.clock.wall_now()},
      committer_(committer_tools(tools, *segments_, *index_, *kv_,
                                 {.space = [this] { return tools_.disk.space(folders_.root()); },
                                  .on_failure = [this](const Error& e) { note_failure(e); }}),
                 options_, std::move(recovered.active), recovered.end),
      compaction_(tools.clock, options_.compact_rate_bytes) {}

Volume::~Volume() = default;

std::int64_t Volume::now_ms() const {
  const auto since = tools_.clock.wall_now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

record::Durability Volume::durability(record::BucketId bucket) const {
  const auto found = index_->buckets().find(bucket);
  return found == index_->buckets().end() ? record::Durability::sync : found->second.durability;
}

record::Versioning Volume::versioning(record::BucketId bucket) const {
  const auto found = index_->buckets().find(bucket);
  return found == index_->buckets().end() ? record::Versioning::off : found->second.versioning;
}

rt::Task<KeyLatch::Hold> Volume::hold(const record::ObjectKey& object) {
  return latch_.acquire(index::object_key(object));
}

rt::Task<KeyLatch::Hold> Volume::hold_upload(record::UploadId upload) {
  return latch_.acquire(index::part_prefix(upload));
}

rt::Task<index::Before> Volume::read_before(const record::Change& change) {
  const index::Index& index = *index_;
  // Most keys are new or were just used: then nothing has to be read from the disk.
  if (const auto* put = std::get_if<record::PutObject>(&change);
      put != nullptr && put->upload.value() == 0 && put->version.id.value() == 0) {
    auto current = index.find_cached(put->object);
    if (current) co_return index::Before{.current = std::move(*current)};
  }
  auto read = tools_.pool.run<index::Before>([&index, &change] { return index.before(change); });
  co_return co_await std::move(read);
}

rt::Task<void> Volume::commit(Entry& entry) {
  auto before = co_await read_before(entry.change);
  if (!before) co_return fail(before.error());
  entry.before = std::move(*before);
  co_return co_await committer_.commit(entry);
}

Status Volume::check_bucket(record::BucketId bucket) const {
  if (!index_->buckets().contains(bucket) || leaving_ == bucket) {
    return fail(Errc::not_found, "no such bucket");
  }
  return {};
}

rt::Task<void> Volume::check_room(record::BucketId bucket) {
  LEAT_CO_DO(check_bucket(bucket));
  const bool is_stale = tools_.clock.now() - space_checked_ > kSpaceTrust ||
                        bytes_since_look_ > options_.reserve_bytes / kLooksPerReserve;
  if (options_.quiet || is_stale) {
    LEAT_CO_DO(co_await look_at_space());
  }
  if (space_.is_full) {
    co_return fail(Errc::no_space,
                   fmt::format("the disk {} is full ({} of {} bytes left); delete something or "
                               "add a disk",
                               folders_.root(), space_.available_bytes, space_.total_bytes));
  }
  co_return check_bucket(bucket);
}

rt::Task<void> Volume::look_at_space() {
  io::Disk& disk = tools_.disk;
  const std::string& root = folders_.root();
  auto asked = tools_.pool.run<io::DiskSpace>([&disk, &root] { return disk.space(root); });
  const auto space = co_await std::move(asked);
  if (!space) co_return fail(said_by_disk(space.error()));
  take_space(*space);
  co_return Status{};
}

void Volume::take_space(const io::DiskSpace& space) {
  space_checked_ = tools_.clock.now();
  bytes_since_look_ = 0;
  space_.total_bytes = space.total_bytes;
  space_.available_bytes = space.available_bytes;
  const std::uint64_t used = space.total_bytes - std::min(space.available_bytes, space.total_bytes);
  const std::uint32_t limit = space_.is_full ? options_.relief_percent : options_.full_percent;
  space_.is_full =
      space.available_bytes < options_.reserve_bytes || used >= space.total_bytes / 100 * limit;
  takes_data_.store(!space_.is_full && !failure(), std::memory_order_relaxed);
}

rt::Task<record::Version> Volume::put(NewVersion& fresh, Precondition precondition) {
  LEAT_CO_DO(co_await check_room(fresh.object.bucket));
  bytes_since_look_ += fresh.version.size_bytes;
  LEAT_CO_TRY(const auto held, co_await hold(fresh.object));
  Entry entry{.change =
                  record::PutObject{
                      .object = fresh.object, .version = std::move(fresh.version), .upload = {}},
              .data = std::move(fresh.data),
              .durability = durability(fresh.object.bucket)};
  co_return co_await put_held(entry, std::move(precondition));
}

rt::Task<record::Version> Volume::put_held(Entry& entry, Precondition precondition) {
  LEAT_CO_TRY(entry.before, co_await read_before(entry.change));
  LEAT_CO_DO(check(precondition, entry.before.current));
  auto& put = std::get<record::PutObject>(entry.change);
  LEAT_CO_DO(check_bucket(put.object.bucket));
  const auto& current = entry.before.current;
  if (current && current->id != put.version.id) put.replaced = current->id;
  const record::BucketId bucket = put.object.bucket;
  if (put.version.id.value() == 0) {
    put.version.is_versioned = versioning(bucket) == record::Versioning::on;
    LEAT_CO_DO(co_await purge_unversioned(entry, put.object));
  }
  LEAT_CO_DO(co_await commit_arriving(entry, bucket));
  co_return std::move(put.version);
}

rt::Task<void> Volume::commit_arriving(Entry& entry, record::BucketId bucket) {
  LEAT_CO_DO(check_bucket(bucket));
  ++arriving_[bucket];
  const Status done = co_await committer_.commit(entry);
  if (--arriving_[bucket] == 0) arriving_.erase(bucket);
  if (failure()) takes_data_.store(false, std::memory_order_relaxed);
  if (!done) co_return fail(done.error());
  co_return Status{};
}

rt::Task<std::optional<record::Version>> Volume::remove(record::ObjectKey object,
                                                        Precondition precondition) {
  if (versioning(object.bucket) == record::Versioning::off) {
    LEAT_CO_DO(co_await give_up(std::move(object), std::move(precondition)));
    co_return std::nullopt;
  }
  LEAT_CO_TRY(const auto held, co_await hold(object));
  const record::Change removal = record::RemoveObject{.object = object};
  LEAT_CO_TRY(index::Before before, co_await read_before(removal));
  LEAT_CO_DO(check(precondition, before.current));
  LEAT_CO_TRY(auto marker, co_await mark_deleted(std::move(object), std::move(before.current)));
  co_return std::move(marker);
}

rt::Task<void> Volume::give_up(record::ObjectKey object, Precondition precondition) {
  LEAT_CO_TRY(const auto held, co_await hold(object));
  const record::Durability durable = durability(object.bucket);
  Entry entry{
      .change = record::RemoveObject{.object = std::move(object), .removed = {}, .at_ms = now_ms()},
      .durability = durable};
  LEAT_CO_TRY(entry.before, co_await read_before(entry.change));
  LEAT_CO_DO(check(precondition, entry.before.current));
  if (!entry.before.current) co_return fail(Errc::not_found, "no such object");
  std::get<record::RemoveObject>(entry.change).removed = entry.before.current->id;
  co_return co_await committer_.commit(entry);
}

rt::Task<record::Version> Volume::restore(record::ObjectKey object,
                                          std::optional<record::VersionId> version) {
  LEAT_CO_DO(co_await check_room(object.bucket));
  LEAT_CO_TRY(const auto held, co_await hold(object));
  const index::Index& index = *index_;
  using Trash = std::vector<index::Trashed>;
  auto looked = tools_.pool.run<Trash>([&index, &object] { return index.find_trash(object); });
  LEAT_CO_TRY(const Trash trash, co_await std::move(looked));
  const std::int64_t now = now_ms();
  const auto wanted = std::ranges::find_if(trash, [&](const index::Trashed& one) {
    return one.until_ms > now && !one.version.is_marker && (!version || one.version.id == *version);
  });
  if (wanted == trash.end()) co_return fail(Errc::not_found, "nothing to bring back");
  const record::BucketId bucket = object.bucket;
  const record::Durability durable = durability(bucket);
  record::Version restored = wanted->version;
  Entry entry{
      .change =
          record::RestoreObject{.object = std::move(object), .restored = restored.id, .at_ms = now},
      .durability = durable};
  LEAT_CO_TRY(entry.before, co_await read_before(entry.change));
  LEAT_CO_DO(co_await commit_arriving(entry, bucket));
  restored.sequence = entry.sequence;
  co_return restored;
}

rt::Task<record::Version> Volume::revise(NewVersion& fresh) {
  LEAT_CO_DO(co_await check_room(fresh.object.bucket));
  LEAT_CO_TRY(const auto held, co_await hold(fresh.object));
  const record::VersionId fresh_id = fresh.version.id;
  const record::Sequence fresh_sequence = fresh.version.sequence;
  Precondition same{.version = fresh_id};
  Entry entry{.change =
                  record::PutObject{
                      .object = fresh.object, .version = std::move(fresh.version), .upload = {}},
              .data = std::move(fresh.data),
              .durability = durability(fresh.object.bucket)};
  LEAT_CO_TRY(const index::Before before, co_await read_before(entry.change));
  const bool is_kept = before.trashed && before.trashed->is_kept();
  const auto& known = is_kept ? std::optional(before.trashed->version) : before.current;
  if (known && known->id == fresh_id && known->sequence != fresh_sequence) {
    co_return fail(Errc::precondition_failed, "its attributes were changed meanwhile");
  }
  if (!is_kept) co_return co_await put_held(entry, std::move(same));
  record::Change keep =
      record::KeepTrashed{.object = std::move(fresh.object),
                          .version = std::move(std::get<record::PutObject>(entry.change).version),
                          .since_ms = before.trashed->since_ms,
                          .until_ms = before.trashed->until_ms};
  entry.change = std::move(keep);
  LEAT_CO_DO(co_await commit(entry));
  co_return std::move(*record::version_in(entry.change));
}

rt::Task<void> Volume::put_bucket(record::Bucket bucket) {
  LEAT_CO_TRY(const auto held, co_await latch_.acquire(index::bucket_key(bucket.id)));
  Entry entry{.change = record::PutBucket{.bucket = std::move(bucket)}};
  co_return co_await committer_.commit(entry);
}

rt::Task<void> Volume::check_removable(record::BucketId bucket) {
  LEAT_CO_DO(check_bucket(bucket));
  co_return co_await check_empty(bucket);
}

rt::Task<void> Volume::check_empty(record::BucketId bucket) {
  const index::Index& index = *index_;
  using Uploads = std::vector<record::Upload>;
  auto looked = tools_.pool.run<Uploads>(
      [&index, bucket] { return index.list_uploads({.bucket = bucket, .max = 1}); });
  LEAT_CO_TRY(const Uploads uploads, co_await std::move(looked));
  const index::Counts counts = index.counts(bucket);
  if (counts.objects > 0 || counts.kept_versions > 0 || !uploads.empty() ||
      arriving_.contains(bucket)) {
    co_return fail(Errc::conflict, "the bucket is not empty");
  }
  co_return Status{};
}

rt::Task<void> Volume::remove_bucket(record::BucketId bucket) {
  LEAT_CO_TRY(const auto held, co_await latch_.acquire(index::bucket_key(bucket)));
  LEAT_CO_DO(check_bucket(bucket));
  leaving_ = bucket;  // nothing comes in while it is decided
  Status done = co_await check_empty(bucket);
  Entry entry{.change = record::RemoveBucket{.bucket = bucket}};
  if (done) done = co_await committer_.commit(entry);
  leaving_.reset();
  co_return done;
}

rt::Task<void> Volume::begin_upload(record::Upload upload) {
  const record::BucketId bucket = upload.object.bucket;
  LEAT_CO_DO(co_await check_room(bucket));
  Entry entry{.change = record::BeginUpload{.upload = std::move(upload)}};
  co_return co_await commit_arriving(entry, bucket);
}

rt::Task<record::Upload> Volume::find_upload(const record::ObjectKey& object,
                                             record::UploadId upload) {
  const index::Index& index = *index_;
  using Found = std::optional<record::Upload>;
  auto looked = tools_.pool.run<Found>(
      [&index, &object, upload] { return index.find_upload(object, upload); });
  LEAT_CO_TRY(Found found, co_await std::move(looked));
  if (!found) co_return fail(Errc::not_found, "no such upload");
  co_return std::move(*found);
}

rt::Task<void> Volume::put_part(record::ObjectKey object, record::Part part) {
  LEAT_CO_DO(co_await check_room(object.bucket));
  bytes_since_look_ += part.content.size_bytes;
  LEAT_CO_TRY(const auto held, co_await hold_upload(part.upload));
  LEAT_CO_TRY(const auto upload, co_await find_upload(object, part.upload));
  Entry entry{.change = record::PutPart{.part = std::move(part)},
              .durability = durability(object.bucket)};
  co_return co_await commit(entry);
}

rt::Task<record::Version> Volume::complete_upload(Completion completion,
                                                  Precondition precondition) {
  LEAT_CO_DO(co_await check_room(completion.object.bucket));
  LEAT_CO_TRY(const auto held, co_await hold(completion.object));
  LEAT_CO_TRY(const auto held_upload, co_await hold_upload(completion.upload));
  LEAT_CO_TRY(auto upload, co_await find_upload(completion.object, completion.upload));
  const index::Index& index = *index_;
  using Parts = std::vector<record::Part>;
  const record::UploadId id = completion.upload;
  auto looked = tools_.pool.run<Parts>([&index, id] { return index.find_parts(id); });
  LEAT_CO_TRY(const Parts parts, co_await std::move(looked));

  std::vector<record::FileExtent> files;
  std::uint64_t size_bytes = 0;
  for (const PartChoice& choice : completion.parts) {
    const auto part = std::ranges::find(parts, choice.number, &record::Part::number);
    if (part == parts.end() || (!choice.etag.empty() && part->content.etag != choice.etag)) {
      co_return fail(Errc::bad_request,
                     fmt::format("part {} is not there or has another etag", choice.number));
    }
    const auto& extents = std::get<std::vector<record::FileExtent>>(part->content.place);
    files.insert(files.end(), extents.begin(), extents.end());
    size_bytes += part->content.size_bytes;
  }
  files.insert(files.end(), completion.appendix.begin(), completion.appendix.end());
  const record::Durability durable = durability(completion.object.bucket);
  std::ranges::move(completion.attributes, std::back_inserter(upload.attributes));
  record::Version version{.size_bytes = size_bytes,
                          .modified_ms = completion.modified_ms,
                          .etag = std::move(completion.etag),
                          .attributes = std::move(upload.attributes),
                          .place = std::move(files)};
  Entry entry{.change = record::PutObject{.object = std::move(completion.object),
                                          .version = std::move(version),
                                          .upload = id},
              .durability = durable};
  co_return co_await put_held(entry, std::move(precondition));
}

rt::Task<void> Volume::abort_upload(record::ObjectKey object, record::UploadId upload) {
  LEAT_CO_TRY(const auto held, co_await hold_upload(upload));
  LEAT_CO_TRY(const auto found, co_await find_upload(object, upload));
  const record::Durability durable = durability(object.bucket);
  Entry entry{.change = record::EndUpload{.object = std::move(object), .upload = upload},
              .durability = durable};
  co_return co_await commit(entry);
}

void Volume::note_failure(const Error& error) {
  ++write_errors_;
  takes_data_.store(false, std::memory_order_relaxed);
  tools_.logger.error("a disk has failed and takes no more changes",
                      {{"disk", folders_.root()}, {"error", error.detail()}});
}

rt::Task<void> Volume::fail_disk(const Error& error, std::string_view what) {
  co_return committer_.fail_disk(error, what);
}

rt::Task<void> Volume::close() {
  const Status flushed = co_await committer_.checkpoint();
  LEAT_CO_DO(co_await committer_.close());
  // A disk that failed has said so already; there is nothing left to save on it.
  if (failure()) co_return Status{};
  if (!flushed) co_return fail(flushed.error());
  co_return Status{};
}

}  // namespace leat::volume
