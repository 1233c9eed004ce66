#include "store/shard_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "store/shards.h"

namespace leat::store {

ShardStore::ShardStore(Store& store, volume::ShardKit kit, io::Clock& clock)
    : store_(store),
      kit_(kit),
      clock_(clock),
      buckets_(std::make_shared<const BucketTable>(std::vector<record::Bucket>{})) {
  for (const Disk& disk : store_.first_disks())
    add_door(disk);
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

std::vector<DoorPtr> ShardStore::ranked(const record::ObjectKey& object) const {
  if (doors_.size() == 1) return doors_;
  std::vector<DoorPtr> order;
  const std::uint64_t hash = placement::hash_key(object.bucket.value(), object.key);
  for (const std::size_t i : placement::rank(hash, candidates_))
    order.push_back(doors_[i]);
  return order;
}

DoorPtr ShardStore::find_door(const record::DiskId& disk) const {
  const auto found =
      std::ranges::find_if(doors_, [&disk](const DoorPtr& door) { return door->id() == disk; });
  return found != doors_.end() ? *found : nullptr;
}

Result<DoorPtr> ShardStore::open_door_to(const record::DiskId& disk) const {
  DoorPtr door = find_door(disk);
  if (door) return door;
  return fail(Errc::unavailable,
              fmt::format("disk {} was taken out of service", record::to_hex(disk)));
}

void ShardStore::add_door(const Disk& disk) {
  doors_.push_back(std::make_shared<Door>(disk, kit_));
  candidates_.push_back(candidate_of(disk));
}

rt::Task<void> ShardStore::take(BucketTablePtr table) {
  buckets_ = std::move(table);
  co_return Status{};
}

rt::Task<void> ShardStore::open_door(Disk disk) {
  add_door(disk);
  co_return Status{};
}

rt::Task<void> ShardStore::give_up_door(record::DiskId disk) {
  for (std::size_t i = 0; i < doors_.size(); ++i) {
    if (doors_[i]->id() != disk) continue;
    leaving_.push_back(std::move(doors_[i]));
    doors_.erase(doors_.begin() + static_cast<std::ptrdiff_t>(i));
    candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  co_return Status{};
}

rt::Task<void> ShardStore::close_door(record::DiskId disk, Instant end) {
  const auto door =
      std::ranges::find_if(leaving_, [&disk](const DoorPtr& one) { return one->id() == disk; });
  LEAT_CHECK(door != leaving_.end());
  // The list may change while it closes.
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const DoorPtr closing = *door;
  LEAT_CO_DO(co_await closing->close(clock_, end));
  std::erase(leaving_, closing);
  if (kit_.pins != nullptr) kit_.pins->clear();
  co_return Status{};
}

rt::Task<Found> ShardStore::find(record::ObjectKey object) {
  LEAT_CO_DO(check_key(object));
  const std::vector<DoorPtr> order = ranked(object);
  for (const DoorPtr& door : order) {
    LEAT_CO_TRY(const auto inside, door->enter());
    std::optional<record::Version> version = door->reader().recall(object);
    if (!version) {
      auto looked = co_await door->reader().find(object);
      if (!looked) {
        door->note_unread(object, {}, looked.error());
        co_return fail(looked.error());
      }
      version = std::move(*looked);
    }
    if (version) {
      co_return Found{
          .object = std::move(object), .version = std::move(*version), .disk = door->id()};
    }
  }
  co_return fail(Errc::not_found, "no such object");
}

namespace {

// The error of reading what was found, which its disk is told of. Ensures: an error.
// Requires: the caller is inside the door. Lifetime: the arguments outlive the task.
template <class T>
rt::Task<T> unread(Door& door, const Found& found, const Error& error) {
  const Status why = co_await door.reader().explain(found.object, found.version, error);
  door.note_unread(found.object, found.version.id, why.error());
  co_return fail(why.error());
}

// What stands in a snapshot or a recipe was written by somebody: it may lead anywhere.
Status check_inside(const record::Version& version, volume::ByteRange range) {
  const std::uint64_t all = version.size_bytes + record::appendix_bytes(version);
  if (range.offset <= all && range.length <= all - range.offset) return {};
  return fail(Errc::corrupt, fmt::format("{} bytes from {} on are outside of an object of {}",
                                         range.length, range.offset, version.size_bytes));
}

}  // namespace

rt::Task<Body> ShardStore::read(const Found& found, volume::ByteRange range) {
  LEAT_CO_DO(check_inside(found.version, range));
  LEAT_CO_TRY(const DoorPtr door, open_door_to(found.disk));
  LEAT_CO_TRY(auto inside, door->enter());
  volume::VolumeReader& reader = door->reader();
  if (volume::is_small(found.version)) {
    auto content = reader.try_read_small(found.version, range);
    if (!content && content.error().code() == Errc::would_block) {
      content = co_await reader.read_small(found.version, range);
    }
    if (!content) co_return co_await unread<Body>(*door, found, content.error());
    co_return Body(std::move(*content));
  }
  auto source = co_await reader.open_files(found.version, range);
  if (!source) co_return co_await unread<Body>(*door, found, source.error());
  ObjectStream::Name name{.object = found.object, .version = found.version.id};
  auto stream =
      std::make_unique<ObjectStream>(door, std::move(inside), std::move(name), std::move(*source));
  LEAT_CO_DO(co_await stream->begin());
  co_return Body(std::move(stream));
}

rt::Task<std::vector<volume::ObjectFilePtr>> ShardStore::open_apart(const Found& found) {
  if (volume::is_small(found.version)) {
    co_return fail(Errc::not_implemented, "a small object has no files of its own");
  }
  LEAT_CO_TRY(const DoorPtr door, open_door_to(found.disk));
  LEAT_CO_TRY(const auto inside, door->enter());
  auto files = co_await door->reader().open_apart(found.version);
  if (!files)
    co_return co_await unread<std::vector<volume::ObjectFilePtr>>(*door, found, files.error());
  co_return files;
}

namespace {

Result<std::string> make_room(std::uint64_t size_bytes) {
  std::string room;
  try {
    room.reserve(size_bytes);
  } catch (const std::exception&) {
    return fail(Errc::busy, fmt::format("there is no memory for {} bytes", size_bytes));
  }
  return room;
}

}  // namespace

rt::Task<std::string> ShardStore::read_text(const Found& found, volume::ByteRange range) {
  LEAT_CO_TRY(Body body, co_await read(found, range));
  if (const auto* content = std::get_if<volume::Content>(&body)) {
    co_return std::string(as_text(content->bytes));
  }
  auto& stream = *std::get<std::unique_ptr<ObjectStream>>(body);
  LEAT_CO_TRY(std::string text, make_room(range.length));
  for (;;) {
    LEAT_CO_TRY(const Bytes piece, co_await stream.next());
    if (piece.empty()) break;
    text += as_text(piece);
  }
  co_return text;
}

rt::Task<record::Version> ShardStore::put_text(record::ObjectKey object, std::string_view bytes,
                                               PutDetails details) {
  LEAT_CO_TRY(auto put, co_await begin_put(std::move(object), bytes.size()));
  while (!bytes.empty()) {
    LEAT_CO_TRY(const MutableBytes room, co_await put->next_buffer());
    const std::size_t step = std::min(room.size(), bytes.size());
    std::ranges::copy(as_bytes(bytes.substr(0, step)), room.begin());
    put->commit(step);
    bytes.remove_prefix(step);
  }
  co_return co_await put->finish(std::move(details));
}

rt::Task<void> ShardStore::scan_shard(const Found& found, shard::ShardScanner& scanner) {
  LEAT_CO_TRY(const DoorPtr door, open_door_to(found.disk));
  LEAT_CO_TRY(const auto inside, door->enter());
  if (!volume::is_small(found.version)) {
    const Status scanned = co_await scan_files(door->reader(), found.version, scanner);
    if (!scanned) co_return co_await unread<void>(*door, found, scanned.error());
    co_return Status{};
  }
  const volume::ByteRange all{.offset = 0, .length = found.version.size_bytes};
  const auto content = co_await door->reader().read_small(found.version, all);
  if (!content) co_return co_await unread<void>(*door, found, content.error());
  scanner.feed(content->bytes);
  co_return Status{};
}

std::string ShardStore::latch_name(const record::ObjectKey& object) {
  return fmt::format("{:08x}{}", object.bucket.value(), object.key);
}

rt::Task<void> ShardStore::check_elsewhere(const record::ObjectKey& object,
                                           const record::DiskId& disk, bool* is_elsewhere) {
  const auto found = co_await find(object);
  if (!found && found.error().code() != Errc::not_found) co_return fail(found.error());
  const bool is_other = found && found->disk != disk;
  if (is_elsewhere != nullptr) {
    *is_elsewhere = is_other;
  } else if (is_other) {
    co_return fail(Errc::busy, "the object has come to another disk meanwhile; send it again");
  }
  co_return Status{};
}

rt::Task<DoorPtr> ShardStore::door_for(record::ObjectKey object) {
  // Where else: the volume looks the key up itself before it changes anything.
  if (doors_.size() == 1) co_return doors_.front();
  const auto found = co_await find(object);
  if (found) co_return open_door_to(found->disk);
  if (found.error().code() != Errc::not_found) co_return fail(found.error());
  const std::vector<DoorPtr> order = ranked(object);
  if (keeps_versions(object.bucket)) {
    // The history of a key stays together.
    for (const DoorPtr& door : order) {
      LEAT_CO_TRY(const auto inside, door->enter());
      LEAT_CO_TRY(const auto kept, co_await find_newest_kept(*door, object));
      if (kept) co_return door;
    }
  }
  for (const DoorPtr& door : order) {
    const auto inside = door->enter();
    if (inside && door->volume().takes_data()) co_return door;
  }
  // None has room: the one that placement likes best says so in its own words.
  co_return order.front();
}

rt::Task<std::unique_ptr<Put>> ShardStore::open_put(Put::Target target) {
  LEAT_CO_TRY(auto inside, target.door->enter());
  co_return std::make_unique<Put>(*this, std::move(target), std::move(inside));
}

rt::Task<std::unique_ptr<Put>> ShardStore::begin_put(record::ObjectKey object,
                                                     std::optional<std::uint64_t> expected_bytes) {
  LEAT_CO_DO(check_key(object));
  for (const DoorPtr& door : doors_)
    door->reader().let_go_of_removed();
  LEAT_CO_TRY(const DoorPtr door, co_await door_for(object));
  LEAT_CO_TRY(const auto inside, door->enter());
  const std::uint64_t small_max = door->volume().options().small_max_bytes;
  Put::Target target{.object = std::move(object),
                     .door = door,
                     .is_large = expected_bytes.value_or(0) > small_max};
  co_return co_await open_put(std::move(target));
}

rt::Task<std::optional<record::Version>> ShardStore::remove(record::ObjectKey object,
                                                            volume::Precondition precondition) {
  using Marker = std::optional<record::Version>;
  LEAT_CO_DO(check_key(object));
  LEAT_CO_TRY(const DoorPtr door, co_await door_for(object));
  LEAT_CO_TRY(const auto inside, door->enter());
  auto removed = change<Marker>(object, door, [&object, &precondition](volume::Volume& volume) {
    return volume.remove(object, precondition);
  });
  co_return co_await std::move(removed);
}

rt::Task<record::Version> ShardStore::restore(record::ObjectKey object,
                                              std::optional<record::VersionId> version) {
  LEAT_CO_DO(check_key(object));
  // It is where it was; a disk that never had it says so quickly. What is there now stays where it
  // is.
  const auto current = co_await find(object);
  if (!current && current.error().code() != Errc::not_found) co_return fail(current.error());
  std::vector<DoorPtr> order = ranked(object);
  if (current) {
    std::erase_if(order, [&current](const DoorPtr& door) { return door->id() != current->disk; });
  }
  for (const DoorPtr& door : order) {
    LEAT_CO_TRY(const auto inside, door->enter());
    auto asked = change<record::Version>(object, door, [&object, version](volume::Volume& volume) {
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
  LEAT_CO_DO(co_await pour(from, all, *put, nullptr));
  co_return co_await put->finish(std::move(details));
}

rt::Task<void> ShardStore::pour(const Found& from, volume::ByteRange range, Put& into,
                                std::function<void(Bytes)> watch) {
  if (range.length == 0) co_return Status{};
  LEAT_CO_TRY(Body body, co_await read(from, range));
  Bytes piece;
  if (const auto* content = std::get_if<volume::Content>(&body)) piece = content->bytes;
  auto* source = std::get_if<std::unique_ptr<ObjectStream>>(&body);
  MutableBytes room;
  std::size_t filled = 0;
  for (;;) {
    if (piece.empty() && source != nullptr) {
      LEAT_CO_TRY(piece, co_await (*source)->next());
    }
    if (piece.empty()) break;
    if (room.empty()) {
      LEAT_CO_TRY(room, co_await into.next_buffer());
    }
    const Bytes step = piece.first(std::min(piece.size(), room.size() - filled));
    std::ranges::copy(step, room.begin() + static_cast<std::ptrdiff_t>(filled));
    if (watch) watch(step);
    piece = piece.subspan(step.size());
    filled += step.size();
    if (filled < room.size()) continue;
    into.commit(filled);
    room = {};
    filled = 0;
    // Disks that never make us wait must not keep the shard from others.
    LEAT_CO_DO(co_await rt::yield());
  }
  if (filled > 0) into.commit(filled);
  co_return Status{};
}

rt::Task<record::Version> ShardStore::set_attributes(const Found& found,
                                                     std::vector<record::Attribute> attributes) {
  volume::NewVersion fresh{.object = found.object, .version = found.version};
  fresh.version.attributes = std::move(attributes);
  LEAT_CO_TRY(const DoorPtr door, open_door_to(found.disk));
  LEAT_CO_TRY(const auto inside, door->enter());
  volume::Content content;
  if (volume::is_small(found.version)) {
    const volume::ByteRange all{.offset = 0, .length = found.version.size_bytes};
    auto read = co_await door->reader().read_small(found.version, all);
    if (!read) co_return co_await unread<record::Version>(*door, found, read.error());
    content = std::move(*read);
    fresh.data = record::sum_blocks({content.bytes});
  }
  auto revised = change<record::Version>(
      found.object, door, [&fresh](volume::Volume& volume) { return volume.revise(fresh); });
  co_return co_await std::move(revised);
}

rt::Task<index::ListPage> ShardStore::list(index::ListRequest request) {
  using Page = index::ListPage;
  Page merged;
  const std::vector<DoorPtr> doors = doors_;
  for (const DoorPtr& door : doors) {
    LEAT_CO_TRY(const auto inside, door->enter());
    const index::Index& index = door->volume().index();
    auto listed = kit_.pool.run<Page>([&index, &request] { return index.list(request); });
    LEAT_CO_TRY(Page page, co_await std::move(listed));
    merged.is_truncated = merged.is_truncated || page.is_truncated;
    if (merged.items.empty()) {
      merged.items = std::move(page.items);
      continue;
    }
    std::ranges::move(page.items, std::back_inserter(merged.items));
  }
  if (doors.size() == 1) co_return merged;
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
  const std::vector<DoorPtr> doors = doors_;
  for (const DoorPtr& door : doors) {
    LEAT_CO_TRY(const auto inside, door->enter());
    auto asked = at_home<index::Counts>(
        door, [bucket](volume::Volume& volume) { return counts_of(volume, bucket); });
    LEAT_CO_TRY(const index::Counts some, co_await std::move(asked));
    sum.objects += some.objects;
    sum.bytes += some.bytes;
    sum.trashed_objects += some.trashed_objects;
    sum.trashed_bytes += some.trashed_bytes;
    sum.kept_versions += some.kept_versions;
    sum.kept_bytes += some.kept_bytes;
  }
  co_return sum;
}

}  // namespace leat::store
