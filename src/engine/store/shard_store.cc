#include "store/shard_store.h"

#include <fmt/format.h>

#include <algorithm>

namespace leat::store {

ShardStore::ShardStore(Store& store, volume::ShardKit kit, io::Clock& clock)
    : store_(store),
      kit_(kit),
      clock_(clock),
      buckets_(std::make_shared<const BucketTable>(std::vector<record::Bucket>{})) {
  for (const Disk& disk : store_.disks())
    readers_.push_back(std::make_unique<volume::VolumeReader>(*disk.volume, kit_));
}

std::int64_t ShardStore::now_ms() const {
  const auto since = clock_.wall_now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

Status ShardStore::check_key(const record::ObjectKey& object) const {
  if (object.key.empty() || object.key.size() > record::kKeyMaxBytes) {
    return fail(Errc::bad_request, fmt::format("a key has 1 to {} bytes, not {}",
                                               record::kKeyMaxBytes, object.key.size()));
  }
  if (buckets_->find(object.bucket) == nullptr) return fail(Errc::not_found, "no such bucket");
  return {};
}

rt::Task<Found> ShardStore::find(record::ObjectKey object) {
  LEAT_CO_DO(check_key(object));
  const std::vector<std::size_t> order = store_.rank(object);
  for (const std::size_t disk : order) {
    volume::VolumeReader& reader = *readers_[disk];
    LEAT_CO_TRY(auto version, co_await reader.find(object));
    if (version) {
      co_return Found{.object = std::move(object), .version = std::move(*version), .disk = disk};
    }
  }
  co_return fail(Errc::not_found, "no such object");
}

rt::Task<Body> ShardStore::read(const Found& found, volume::ByteRange range) {
  volume::VolumeReader& reader = *readers_[found.disk];
  if (volume::is_small(found.version)) {
    LEAT_CO_TRY(auto content, co_await reader.read_small(found.version, range));
    co_return Body(std::move(content));
  }
  LEAT_CO_TRY(auto source, co_await reader.open_files(found.version, range));
  co_return Body(std::move(source));
}

rt::Task<std::size_t> ShardStore::disk_for(record::ObjectKey object) {
  // Where else: the volume looks the key up itself before it changes anything.
  if (store_.disks().size() == 1) co_return std::size_t{0};
  const auto found = co_await find(object);
  if (found) co_return found->disk;
  if (found.error().code() != Errc::not_found) co_return fail(found.error());
  const std::vector<std::size_t> order = store_.rank(object);
  for (const std::size_t disk : order) {
    if (store_.disks()[disk].volume->takes_data()) co_return disk;
  }
  // None has room: the one that placement likes best says so in its own words.
  co_return order.front();
}

rt::Task<std::unique_ptr<Put>> ShardStore::begin_put(record::ObjectKey object,
                                                     std::optional<std::uint64_t> expected_bytes) {
  LEAT_CO_DO(check_key(object));
  for (const auto& reader : readers_)
    reader->let_go_of_removed();
  LEAT_CO_TRY(const std::size_t disk, co_await disk_for(object));
  const std::uint64_t small_max = store_.disks()[disk].volume->options().small_max_bytes;
  Put::Target target{.object = std::move(object),
                     .disk = disk,
                     .is_large = expected_bytes.value_or(0) > small_max};
  co_return std::make_unique<Put>(*this, std::move(target));
}

rt::Task<void> ShardStore::remove(record::ObjectKey object, volume::Precondition precondition) {
  LEAT_CO_DO(check_key(object));
  LEAT_CO_TRY(const std::size_t disk, co_await disk_for(object));
  auto removed = at_home<void>(disk, [&object, &precondition](volume::Volume& volume) {
    return volume.remove(object, precondition);
  });
  co_return co_await std::move(removed);
}

rt::Task<record::Version> ShardStore::restore(record::ObjectKey object,
                                              std::optional<record::VersionId> version) {
  LEAT_CO_DO(check_key(object));
  // It is where it was; a disk that never had it says so quickly.
  for (const std::size_t disk : store_.rank(object)) {
    auto asked = at_home<record::Version>(disk, [&object, version](volume::Volume& volume) {
      return volume.restore(object, version);
    });
    auto restored = co_await std::move(asked);
    if (restored || restored.error().code() != Errc::not_found) co_return restored;
  }
  co_return fail(Errc::not_found, "nothing to bring back");
}

rt::Task<record::Version> ShardStore::copy(const Found& from, record::ObjectKey to,
                                           PutDetails details) {
  LEAT_CO_TRY(auto put, co_await begin_put(std::move(to), from.version.size_bytes));
  const volume::ByteRange all{.offset = 0, .length = from.version.size_bytes};
  LEAT_CO_TRY(Body body, co_await read(from, all));
  Bytes piece;
  if (const auto* content = std::get_if<volume::Content>(&body)) piece = as_bytes(**content);
  auto* source = std::get_if<std::unique_ptr<volume::FilesSource>>(&body);
  MutableBytes room;
  std::size_t filled = 0;
  for (;;) {
    if (piece.empty() && source != nullptr) {
      LEAT_CO_TRY(piece, co_await (*source)->next());
    }
    if (piece.empty()) break;
    if (room.empty()) {
      LEAT_CO_TRY(room, co_await put->next_buffer());
    }
    const Bytes step = piece.first(std::min(piece.size(), room.size() - filled));
    std::ranges::copy(step, room.begin() + static_cast<std::ptrdiff_t>(filled));
    piece = piece.subspan(step.size());
    filled += step.size();
    if (filled < room.size()) continue;
    put->commit(filled);
    room = {};
    filled = 0;
  }
  if (filled > 0) put->commit(filled);
  co_return co_await put->finish(std::move(details));
}

rt::Task<record::Version> ShardStore::set_attributes(const Found& found,
                                                     std::vector<record::Attribute> attributes) {
  volume::NewVersion fresh{.object = found.object, .version = found.version};
  fresh.version.attributes = std::move(attributes);
  volume::Content content;
  if (volume::is_small(found.version)) {
    const volume::ByteRange all{.offset = 0, .length = found.version.size_bytes};
    volume::VolumeReader& reader = *readers_[found.disk];
    LEAT_CO_TRY(content, co_await reader.read_small(found.version, all));
    fresh.data = record::sum_blocks({as_bytes(*content)});
  }
  auto revised = at_home<record::Version>(
      found.disk, [&fresh](volume::Volume& volume) { return volume.revise(fresh); });
  co_return co_await std::move(revised);
}

rt::Task<index::ListPage> ShardStore::list(index::ListRequest request) {
  using Page = index::ListPage;
  Page merged;
  for (const Disk& disk : store_.disks()) {
    const index::Index& index = disk.volume->index();
    auto listed = kit_.pool.run<Page>([&index, &request] { return index.list(request); });
    LEAT_CO_TRY(Page page, co_await std::move(listed));
    merged.is_truncated = merged.is_truncated || page.is_truncated;
    if (merged.items.empty()) {
      merged.items = std::move(page.items);
      continue;
    }
    std::ranges::move(page.items, std::back_inserter(merged.items));
  }
  if (store_.disks().size() == 1) co_return merged;
  std::ranges::sort(merged.items, {}, &index::ListItem::name);
  // A group of names may have members on several disks.
  const auto same = std::ranges::unique(merged.items, {}, &index::ListItem::name);
  merged.items.erase(same.begin(), same.end());
  if (merged.items.size() > request.max) {
    merged.items.resize(request.max);
    merged.is_truncated = true;
  }
  co_return merged;
}

namespace {

rt::Task<index::Counts> counts_of(const volume::Volume& volume, record::BucketId bucket) {
  co_return volume.index().counts(bucket);
}

}  // namespace

rt::Task<index::Counts> ShardStore::counts(record::BucketId bucket) {
  index::Counts sum;
  for (std::size_t i = 0; i < store_.disks().size(); ++i) {
    auto asked = at_home<index::Counts>(
        i, [bucket](volume::Volume& volume) { return counts_of(volume, bucket); });
    LEAT_CO_TRY(const index::Counts some, co_await std::move(asked));
    sum.objects += some.objects;
    sum.bytes += some.bytes;
    sum.trashed_objects += some.trashed_objects;
    sum.trashed_bytes += some.trashed_bytes;
  }
  co_return sum;
}

}  // namespace leat::store
