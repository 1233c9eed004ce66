#include "datasets/datasets.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/encoding.h"
#include "datasets/control_keys.h"

namespace leat::datasets {
namespace {

constexpr std::size_t kReadersKept = 16;
// Pages of all snapshots together.
constexpr std::uint64_t kPagesMaxBytes = 64 * kMiB;

control::Operation put(std::string key, std::string value) {
  return {.kind = control::Operation::Kind::put, .key = std::move(key), .value = std::move(value)};
}
control::Operation erase(std::string key) {
  return {.kind = control::Operation::Kind::erase, .key = std::move(key)};
}
control::Condition at_revision(std::string key, control::Revision modified) {
  return {.key = std::move(key),
          .field = control::Condition::Field::modified,
          .relation = control::Condition::Relation::equal,
          .number = modified.value()};
}

std::unexpected<Error> no_dataset(const DatasetName& name) {
  return fail(Errc::not_found,
              fmt::format("there is no dataset {}; `leat dataset create` makes one", name.text()));
}

std::unexpected<Error> no_version(const DatasetName& name, std::string_view which) {
  return fail(Errc::not_found, fmt::format("the dataset {} has no version {}", name.text(), which));
}

// The object is an ordinary one: who may write there can replace it.
std::unexpected<Error> is_another(const Opened& opened) {
  return fail(Errc::corrupt, fmt::format("the snapshot of version {} of {} is another one",
                                         opened.ref.version, opened.dataset.text()));
}
Status check_fingerprint(const Opened& opened, const std::string& found) {
  if (found == opened.record.snapshot.fingerprint) return {};
  return is_another(opened);
}
Status check_size(const Opened& opened, std::uint64_t found) {
  if (found == opened.record.snapshot.size_bytes) return {};
  return is_another(opened);
}

}  // namespace

Result<SnapshotPtr> LoadedSnapshot::open(std::string bytes) {
  auto loaded = std::make_shared<LoadedSnapshot>();
  loaded->bytes_ = std::move(bytes);
  LEAT_TRY(loaded->view_, snapshot::View::open(as_bytes(loaded->bytes_)));
  return loaded;
}

Datasets::Datasets(const Parts& parts, const VersionLimits& limits)
    : parts_(parts), limits_(limits), pages_(kPagesMaxBytes) {}

Result<record::BucketId> Datasets::find_bucket(const DatasetName& name) const {
  const auto bucket = parts_.store.find_bucket(name.bucket);
  if (!bucket) return fail(Errc::not_found, fmt::format("there is no bucket {}", name.bucket));
  return bucket->id;
}

rt::Task<Datasets::Head> Datasets::head(const DatasetName& name) {
  LEAT_CO_TRY(const auto found, co_await parts_.control.get(shard(), pointer_key(name)));
  if (!found) co_return no_dataset(name);
  LEAT_CO_TRY(VersionRef ref, decode_pointer(found->value));
  co_return Head{.ref = std::move(ref), .modified = found->modified};
}

rt::Task<CommitRecord> Datasets::read_record(record::BucketId bucket, const std::string& key) {
  record::ObjectKey object{.bucket = bucket, .key = key};
  LEAT_CO_TRY(const store::Found found, co_await parts_.store.find(std::move(object)));
  auto reading = shards::read_whole(parts_.store, found, limits_.record_bytes);
  LEAT_CO_TRY(const std::string text, co_await std::move(reading));
  co_return decode_record(text);
}

rt::Task<Tombstone> Datasets::read_tombstone(record::BucketId bucket, const std::string& key) {
  record::ObjectKey object{.bucket = bucket, .key = key};
  LEAT_CO_TRY(const store::Found found, co_await parts_.store.find(std::move(object)));
  auto reading = shards::read_whole(parts_.store, found, limits_.record_bytes);
  LEAT_CO_TRY(const std::string text, co_await std::move(reading));
  co_return decode_tombstone(text);
}

rt::Task<CommitRecord> Datasets::read_version(record::BucketId bucket, const VersionRef& ref) {
  LEAT_CO_TRY(CommitRecord record, co_await read_record(bucket, ref.record));
  if (record.version == ref.version) co_return record;
  co_return fail(Errc::corrupt, fmt::format("{} is not the record of version {} but of {}",
                                            ref.record, ref.version, record.version));
}

rt::Task<VersionRef> Datasets::walk_back(record::BucketId bucket, VersionRef from,
                                         const IsOldEnough& is_old_enough) {
  while (from.version != 0 && !is_old_enough(from)) {
    LEAT_CO_TRY(const CommitRecord record, co_await read_version(bucket, from));
    from = step_back(record, is_old_enough);
  }
  co_return from;
}

rt::Task<VersionRef> Datasets::resolve(record::BucketId bucket, const DatasetName& name,
                                       const VersionRef& last, const Which& which) {
  if (const auto* number = std::get_if<VersionNumber>(&which)) {
    const std::uint64_t wanted = number->number;
    if (wanted > last.version) co_return no_version(name, std::to_string(wanted));
    const IsOldEnough is_it = [wanted](const VersionRef& ref) { return ref.version <= wanted; };
    LEAT_CO_TRY(VersionRef found, co_await walk_back(bucket, last, is_it));
    if (wanted == 0 || found.version != wanted) co_return no_version(name, std::to_string(wanted));
    co_return found;
  }
  if (const auto* as_of = std::get_if<AsOf>(&which)) {
    const std::int64_t ms = as_of->ms;
    const IsOldEnough is_it = [ms](const VersionRef& ref) { return ref.committed_ms <= ms; };
    LEAT_CO_TRY(VersionRef found, co_await walk_back(bucket, last, is_it));
    if (found.version == 0) co_return no_version(name, "of that time: it is younger");
    co_return found;
  }
  if (const auto* tag = std::get_if<Tag>(&which)) {
    LEAT_CO_TRY(const auto found, co_await parts_.control.get(shard(), tag_key(name, tag->name)));
    if (!found) co_return no_version(name, fmt::format("with the tag {}", tag->name));
    co_return decode_pointer(found->value);
  }
  co_return last;
}

rt::Task<Opened> Datasets::open(Reference reference) {
  LEAT_CO_TRY(const record::BucketId bucket, find_bucket(reference.dataset));
  LEAT_CO_TRY(const Head last, co_await head(reference.dataset));
  Opened opened{.dataset = reference.dataset, .bucket = bucket};
  LEAT_CO_TRY(opened.ref, co_await resolve(bucket, reference.dataset, last.ref, reference.which));
  if (opened.ref.version != 0) {
    LEAT_CO_TRY(opened.record, co_await read_version(bucket, opened.ref));
  }
  co_return opened;
}

rt::Task<store::Found> Datasets::find_snapshot(const Opened& opened) {
  record::ObjectKey object{.bucket = opened.bucket, .key = opened.record.snapshot.key};
  auto found = co_await parts_.store.find(std::move(object));
  if (found || found.error().code() != Errc::not_found) co_return found;
  co_return fail(Errc::not_found,
                 fmt::format("the snapshot of version {} of {} is gone: it was vacuumed or deleted",
                             opened.ref.version, opened.dataset.text()));
}

rt::Task<ReaderPtr> Datasets::reader(const Opened& opened) {
  // Also for one that is known: it may have been vacuumed, or replaced.
  LEAT_CO_TRY(store::Found found, co_await find_snapshot(opened));
  const std::string name = fmt::format("{}/{}/{}", opened.bucket.value(), found.version.id.value(),
                                       opened.record.snapshot.key);
  const auto known = std::ranges::find(kept_, name, &Kept::key);
  if (known != kept_.end()) {
    std::rotate(kept_.begin(), known, known + 1);
    co_return kept_.front().reader;
  }
  LEAT_CO_DO(check_size(opened, found.version.size_bytes));
  const SnapshotReader::Parts parts{
      .store = parts_.store, .cache = pages_, .catalog_max_bytes = limits_.catalog_bytes};
  auto opening = SnapshotReader::open(parts, std::move(found), ++readers_);
  LEAT_CO_TRY(ReaderPtr reader, co_await std::move(opening));
  LEAT_CO_DO(check_fingerprint(opened, reader->fingerprint()));
  kept_.insert(kept_.begin(), {.key = name, .reader = reader});
  if (kept_.size() > kReadersKept) kept_.pop_back();
  co_return reader;
}

rt::Task<SnapshotPtr> Datasets::snapshot(const Opened& opened) {
  LEAT_CO_TRY(const store::Found found, co_await find_snapshot(opened));
  LEAT_CO_DO(check_size(opened, found.version.size_bytes));
  auto reading = shards::read_whole(parts_.store, found, limits_.snapshot_bytes);
  LEAT_CO_TRY(std::string bytes, co_await std::move(reading));
  LEAT_CO_TRY(SnapshotPtr loaded, LoadedSnapshot::open(std::move(bytes)));
  LEAT_CO_DO(check_fingerprint(opened, to_hex(Bytes(loaded->view().fingerprint()))));
  co_return loaded;
}

rt::Task<std::vector<CommitRecord>> Datasets::log(Opened from, std::size_t max) {
  std::vector<CommitRecord> all;
  VersionRef at = from.ref;
  while (at.version != 0 && all.size() < max) {
    LEAT_CO_TRY(CommitRecord record, co_await read_version(from.bucket, at));
    at = record.parent;
    all.push_back(std::move(record));
  }
  co_return all;
}

rt::Task<Opened> Datasets::create(DatasetName name) {
  LEAT_CO_TRY(const record::BucketId bucket, find_bucket(name));
  const std::string key = pointer_key(name);
  LEAT_CO_TRY(const auto there, co_await parts_.control.get(shard(), key));
  if (!there) LEAT_CO_DO(co_await clear_left_overs(name));
  control::Txn txn{.when = {at_revision(key, control::Revision(0))},
                   .then = {put(key, encode(VersionRef{}))}};
  LEAT_CO_TRY(const auto done, co_await parts_.control.commit(shard(), std::move(txn)));
  if (!done.held) {
    co_return fail(Errc::conflict, fmt::format("the dataset {} is there already", name.text()));
  }
  co_return Opened{.dataset = std::move(name), .bucket = bucket};
}

// Nothing, where the bucket is gone with all that was in it.
rt::Task<std::optional<record::ObjectKey>> Datasets::put_tombstone(const DatasetName& name,
                                                                   const VersionRef& last) {
  const auto bucket = find_bucket(name);
  if (!bucket) co_return std::nullopt;
  record::ObjectKey stone{.bucket = *bucket,
                          .key = fmt::format("{}/_leat/{:016x}{}", name.name,
                                             parts_.store.kit().rng.next(), kTombstoneSuffix)};
  const Tombstone tombstone{.record = last.record, .removed_ms = parts_.store.now_ms()};
  const std::string text = encode(tombstone);
  store::PutDetails details;
  LEAT_CO_DO(co_await parts_.store.put_text(stone, text, std::move(details)));
  co_return stone;
}

rt::Task<void> Datasets::remove(DatasetName name) {
  LEAT_CO_TRY(const Head last, co_await head(name));
  // First of all: a pointer that went without it would be taken for a lost one. Who is killed
  // before the pointer goes leaves one that the next version makes void.
  LEAT_CO_TRY(const auto stone, co_await put_tombstone(name, last.ref));
  const std::string key = pointer_key(name);
  control::Txn txn{.when = {at_revision(key, last.modified)}, .then = {erase(key)}};
  const auto done = co_await parts_.control.commit(shard(), std::move(txn));
  const bool is_unknown = !done && done.error().code() == Errc::outcome_unknown;
  if (stone && !is_unknown && (!done || !done->held)) {
    volume::Precondition none;
    static_cast<void>(co_await parts_.store.remove(*stone, std::move(none)));
  }
  if (!done) co_return fail(done.error());
  if (!done->held) {
    co_return fail(Errc::conflict, fmt::format("{} was changed meanwhile; try again", name.text()));
  }
  // Whoever is killed here leaves what create() clears.
  co_return co_await clear_left_overs(name);
}

rt::Task<Datasets::Pointers> Datasets::pointers(std::string bucket) {
  const std::string prefix =
      bucket.empty() ? std::string(kPointers) : fmt::format("{}{}/", kPointers, bucket);
  LEAT_CO_TRY(const auto listing, co_await parts_.control.list(shard(), prefix));
  Pointers found;
  for (const control::KeyValue& one : listing.entries) {
    const std::string_view text = std::string_view(one.key).substr(kPointers.size());
    const std::size_t slash = text.find('/');
    DatasetName name{.bucket = std::string(text.substr(0, slash)),
                     .name = std::string(text.substr(slash + 1))};
    LEAT_CO_TRY(VersionRef ref, decode_pointer(one.value));
    found.emplace(std::move(name), std::move(ref));
  }
  co_return found;
}

rt::Task<std::vector<DatasetName>> Datasets::list(std::string bucket) {
  LEAT_CO_TRY(const Pointers all, co_await pointers(std::move(bucket)));
  std::vector<DatasetName> names;
  for (const auto& [name, ref] : all)
    names.push_back(name);
  co_return names;
}

rt::Task<Doomed> Datasets::doomed(std::string bucket) {
  LEAT_CO_TRY(const auto found, co_await parts_.control.get(shard(), doomed_key(bucket)));
  if (!found) co_return Doomed{};
  LEAT_CO_TRY(Doomed doomed, decode_doomed(found->value));
  doomed.modified = found->modified;
  co_return doomed;
}

}  // namespace leat::datasets
