#include "engine/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace leat::model {
namespace {

template <class T, std::size_t N>
const T& pick(const std::array<T, N>& from, io::Rng& rng) {
  return from[rng.below(N)];
}

constexpr std::uint32_t kBuckets = 3;

}  // namespace

Generator::Generator(ModelledStore& store, io::Rng& rng) : store_(store), rng_(rng) {
  const std::uint64_t count = 3 + rng_.below(8);
  for (std::uint64_t i = 0; i < count; ++i) {
    const record::BucketId bucket(static_cast<std::uint32_t>(1 + rng_.below(kBuckets)));
    keys_.push_back({.bucket = bucket, .key = key_text()});
  }
}

volume::VolumeOptions Generator::options(io::Rng& rng) {
  volume::VolumeOptions options = test::VolumeWorld::small_options();
  options.small_max_bytes = pick(std::array<std::uint64_t, 4>{600, 600, 5000, 150 * kKiB}, rng);
  options.file_max_bytes = pick(std::array<std::uint64_t, 2>{64 * kKiB, 128 * kKiB}, rng);
  options.segment_max_bytes = pick(std::array<std::uint64_t, 4>{700, 2000, 6000, 200 * kKiB}, rng);
  options.batch_max_bytes = pick(std::array<std::uint64_t, 2>{2000, 256 * kKiB}, rng);
  options.compact_below_percent =
      static_cast<std::uint32_t>(pick(std::array<std::uint64_t, 3>{30, 60, 101}, rng));
  options.index_cache_bytes = 64 * kKiB;
  return options;
}

std::string Generator::describe_options(const volume::VolumeOptions& options) {
  return fmt::format("small_max {} file_max {} segment_max {} batch_max {} compact_below {} %",
                     options.small_max_bytes, options.file_max_bytes, options.segment_max_bytes,
                     options.batch_max_bytes, options.compact_below_percent);
}

std::string Generator::key_text() {
  using namespace std::string_view_literals;
  constexpr std::array kPieces = {"a"sv, "b"sv,    "/"sv,        "a/"sv,         "\0"sv,
                                  "."sv, "\xFF"sv, "\xFF\xFF"sv, "\0\xFF\0\1"sv, "key"sv};
  std::string text;
  const std::uint64_t pieces = 1 + rng_.below(4);
  for (std::uint64_t i = 0; i < pieces; ++i)
    text += pick(kPieces, rng_);
  if (rng_.chance(1, 30)) text.resize(record::kKeyMaxBytes, '\xFF');
  return text;
}

record::ObjectKey Generator::key() {
  return keys_[rng_.below(keys_.size())];
}

std::string Generator::data() {
  const volume::VolumeOptions& options = store_.world().options();
  std::uint64_t size = rng_.below(400);
  const std::uint64_t drawn = rng_.below(100);
  if (drawn < 8) size = 0;
  if (drawn >= 8 && drawn < 20) size = 500 + rng_.below(1500);
  if (drawn >= 20 && drawn < 24) size = 6000;
  if (drawn == 24) size = record::kBlockBytes - 1 + rng_.below(3);
  if (drawn == 25) size = options.file_max_bytes + rng_.below(2 * record::kBlockBytes);
  if (drawn == 26) size = options.file_max_bytes * 2;
  std::string bytes(size, '\0');
  const std::uint64_t seed = rng_.next();
  for (std::uint64_t i = 0; i < size; ++i)
    bytes[i] = static_cast<char>((seed >> (i % 57)) + i / 57);
  return bytes;
}

std::vector<record::Attribute> Generator::attributes() {
  if (!rng_.chance(1, 4)) return {};
  return {{.name = "a", .value = std::to_string(rng_.below(100))},
          {.name = "", .value = std::string(rng_.below(40), '\0')}};
}

Version Generator::version() {
  return {.id = 0,
          .sequence = 0,
          .data = std::make_shared<const std::string>(data()),
          .etag = fmt::format("e{}", ++made_),
          .modified_ms = store_.now_ms(),
          .attributes = attributes()};
}

volume::Precondition Generator::precondition(const State& state) {
  switch (rng_.below(12)) {
    case 0: return {.must_be_absent = true};
    case 1: return {.etag = state.current ? state.current->etag : "e1"};
    case 2: return {.etag = "other"};
    case 3:
      return {.version = record::VersionId(
                  state.current && state.current->id != 0 ? state.current->id : 1)};
    case 4: return {.version = record::VersionId(rng_.below(50))};
    default: return {};
  }
}

Operation Generator::put_bucket(record::BucketId id) {
  record::Bucket bucket{.id = id, .name = "b", .created_ms = store_.now_ms()};
  bucket.durability = static_cast<record::Durability>(rng_.below(3));
  bucket.versioning = pick(std::array{record::Versioning::off, record::Versioning::off,
                                      record::Versioning::on, record::Versioning::suspended},
                           rng_);
  bucket.undo_window_ms = pick(std::array<std::uint64_t, 3>{0, 2000, 3'600'000}, rng_);
  return {
      .kind = Kind::put_bucket, .object = {.bucket = id, .key = ""}, .bucket = std::move(bucket)};
}

Operation Generator::bucket_operation() {
  const record::BucketId id(static_cast<std::uint32_t>(1 + rng_.below(kBuckets)));
  if (rng_.chance(1, 3)) {
    return {.kind = Kind::remove_bucket, .object = {.bucket = id, .key = ""}};
  }
  return put_bucket(id);
}

std::optional<Operation> Generator::operation() {
  Operation operation{.object = key()};
  const State& state = store_.last(operation.object);
  const std::uint64_t drawn = rng_.below(100);
  if (drawn < 45) {
    operation.version = version();
    operation.precondition = precondition(state);
    return operation;
  }
  if (drawn < 57) {
    operation.kind = Kind::remove;
    operation.precondition = precondition(state);
    if (operation.precondition.must_be_absent) operation.precondition = {};
    return operation;
  }
  if (drawn < 63) return version_operation(operation.object);
  if (drawn < 70) {
    operation.kind = Kind::restore;
    if (!state.trash.empty() && rng_.chance(1, 2)) {
      operation.old_version =
          record::VersionId(state.trash[rng_.below(state.trash.size())].version.id);
    }
    return operation;
  }
  if (drawn < 78) {
    if (!state.current || state.current->id == 0) return std::nullopt;
    operation.kind = Kind::revise;
    operation.version = *state.current;
    operation.version.sequence = 0;
    operation.version.attributes = attributes();
    operation.precondition.version = record::VersionId(state.current->id);
    return operation;
  }
  return upload_operation(operation.object);
}

// On the current version, one that is kept or in the trash, or on none.
std::optional<Operation> Generator::version_operation(const record::ObjectKey& object) {
  const State& state = store_.last(object);
  Operation operation{.kind = Kind::remove_version, .object = object};
  const std::uint64_t drawn = rng_.below(state.trash.size() + 2);
  std::uint64_t id = 1 + rng_.below(60);
  // Which version is the newest is known by its number, and that of a marker only when it was seen.
  const auto is_unknown = [](const Trashed& one) { return one.version.id == 0; };
  const bool is_current_unknown = state.current && state.current->id == 0;
  if (is_current_unknown || std::ranges::any_of(state.trash, is_unknown)) return std::nullopt;
  if (drawn < state.trash.size()) {
    id = state.trash[drawn].version.id;
    const bool is_revision =
        state.trash[drawn].is_kept && !state.trash[drawn].version.is_marker && rng_.chance(1, 3);
    if (is_revision) {
      operation.kind = Kind::revise;
      operation.version = state.trash[drawn].version;
      operation.version.sequence = 0;
      operation.version.attributes = attributes();
      operation.precondition.version = record::VersionId(id);
      return operation;
    }
  } else if (drawn == state.trash.size() && state.current) {
    id = state.current->id;
  }
  operation.old_version = record::VersionId(id);
  return operation;
}

std::optional<Operation> Generator::upload_operation(const record::ObjectKey& object) {
  Operation operation{.kind = Kind::begin_upload, .object = object};
  const State& state = store_.last(object);
  if (state.uploads.empty() || rng_.chance(1, 6)) {
    operation.upload = record::UploadId(++uploads_);
    operation.attributes = attributes();
    return operation;
  }
  const auto upload = std::next(state.uploads.begin(),
                                static_cast<std::ptrdiff_t>(rng_.below(state.uploads.size())));
  operation.upload = record::UploadId(rng_.chance(1, 15) ? 9999 : upload->first);
  const std::uint64_t drawn = rng_.below(10);
  if (drawn == 0) {
    operation.kind = Kind::abort;
    return operation;
  }
  operation.version = version();
  operation.version.attributes.clear();
  if (drawn < 6) {
    operation.kind = Kind::put_part;
    operation.part = static_cast<std::uint32_t>(1 + rng_.below(4));
    return operation;
  }
  operation.kind = Kind::complete;
  operation.version.data = nullptr;
  for (const auto& [number, part] : upload->second.parts) {
    if (rng_.chance(1, 4)) continue;
    operation.choices.push_back({.number = number, .etag = rng_.chance(1, 2) ? part.etag : ""});
  }
  if (rng_.chance(1, 20)) operation.choices.push_back({.number = 9, .etag = ""});
  operation.precondition = precondition(state);
  return operation;
}

index::ListRequest Generator::list_request() {
  index::ListRequest request{.bucket = key().bucket};
  constexpr std::array<std::string_view, 5> kDelimiters = {"", "", "/", "a", "a/"};
  request.delimiter = pick(kDelimiters, rng_);
  const std::string some = key().key;
  if (rng_.chance(1, 3)) request.prefix = some.substr(0, rng_.below(some.size() + 1));
  const std::string other = key().key;
  if (rng_.chance(1, 3)) request.after = other.substr(0, rng_.below(other.size() + 1));
  if (rng_.chance(1, 6)) request.after += request.delimiter;
  request.max = rng_.chance(1, 2) ? 1 + rng_.below(4) : 1000;
  return request;
}

sim::CrashOptions Generator::crash() {
  return {.mode = static_cast<sim::CrashMode>(rng_.below(4)),
          .tear_bytes = rng_.chance(1, 2) ? 512U : 4096U,
          .garbage = rng_.chance(1, 2)};
}

}  // namespace leat::model
