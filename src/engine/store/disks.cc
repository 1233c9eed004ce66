// Disks that come and go: all of it at the desk, one at a time.
//
// Changes stand still while the set of disks differs between the shards, so that a key never gets
// two homes; reading goes on.
#include <fmt/format.h>

#include <algorithm>

#include "store/shard_store.h"

namespace leat::store {
namespace {

// How many keys are compared at a time.
constexpr std::size_t kPage = 1000;

// How long changes that are under way may hold up one of the set of disks, and all new ones with
// it.
constexpr Duration kStopPatience = std::chrono::seconds(10);

// A version that another disk has a newer one of, or is newer than.
struct Double {
  record::ObjectKey object{};
  record::VersionId version{};  // that has to go …
  std::size_t disk = 0;         // … from this one of the disks that were compared
};

struct DoublesPage {
  std::vector<Double> doubles{};
  std::string last{};  // the last key of the page; empty at the end
};

// Compares a page of keys of the first disk with what the others have. Blocks.
Result<DoublesPage> find_doubles(const std::vector<const index::Index*>& disks,
                                 const index::ListRequest& request) {
  DoublesPage page;
  LEAT_TRY(const index::ListPage listed, disks.front()->list(request));
  for (const index::ListItem& item : listed.items) {
    const record::ObjectKey object{.bucket = request.bucket, .key = item.name};
    for (std::size_t i = 1; i < disks.size(); ++i) {
      LEAT_TRY(const auto other, disks[i]->find(object));
      if (!other) continue;
      const bool is_newer = item.version->modified_ms > other->modified_ms;
      page.doubles.push_back({.object = object,
                              .version = is_newer ? other->id : item.version->id,
                              .disk = is_newer ? i : 0});
      if (!is_newer) break;  // it goes, once
    }
  }
  if (listed.is_truncated) page.last = listed.items.back().name;
  return page;
}

bool is_same_set(const record::Members& members, const std::vector<DoorPtr>& doors) {
  return members.disks.size() == doors.size() &&
         std::ranges::all_of(
             doors, [&members](const DoorPtr& door) { return members.contains(door->id()); });
}

bool is_same_set(const record::Members& a, const record::Members& b) {
  return a.generation == b.generation && a.disks.size() == b.disks.size() &&
         std::ranges::all_of(
             a.disks, [&b](const record::Member& member) { return b.contains(member.disk); });
}

Status check_none_missing(const record::Members& members, const ShardStore& desk) {
  for (const record::Member& member : members.disks) {
    if (desk.find_door(member.disk) != nullptr) continue;
    return fail(Errc::not_found,
                fmt::format("a disk of this node is missing: {}, last seen at '{}'. Its objects "
                            "would be gone; name its directory, too, or start with "
                            "--allow-missing if it is lost",
                            record::to_hex(member.disk), member.path));
  }
  return {};
}

}  // namespace

rt::Task<void> Store::on_each_shard(std::function<rt::Task<void>(ShardStore&)> make) {
  for (ShardStore* one : shard_stores_) {
    for (;;) {
      auto asked = rt::ask<void>(desk().shard(), one->shard(), [one, &make] { return make(*one); });
      const Status done = co_await std::move(asked);
      if (done) break;
      // A full mailbox: all shards must be told, or none would know where it stands.
      if (done.error().code() != Errc::busy) co_return fail(done.error());
      LEAT_CO_DO(co_await rt::yield());
    }
  }
  co_return Status{};
}

rt::Task<void> Store::stop_changes() {
  auto stopped = on_each_shard([](ShardStore& one) { return one.stop_changes(kStopPatience); });
  const Status done = co_await std::move(stopped);
  if (done) co_return Status{};
  LEAT_CO_DO(co_await let_changes_go_on());
  co_return fail(done.error());
}

rt::Task<void> Store::let_changes_go_on() {
  auto opened = on_each_shard([](ShardStore& one) { return one.let_changes_go_on(); });
  co_return co_await std::move(opened);
}

rt::Task<record::Members> Store::read_members_of(const Door& door) {
  using Maybe = std::optional<record::Members>;
  volume::Volume& volume = door.volume();
  auto read = desk().kit().pool.run<Maybe>(
      [&volume] { return volume::read_members(volume.disk(), volume.folders()); });
  LEAT_CO_TRY(Maybe members, co_await std::move(read));
  co_return members ? std::move(*members) : record::Members{};
}

rt::Task<std::vector<record::Members>> Store::read_members() {
  std::vector<record::Members> all;
  for (const DoorPtr& door : desk().doors()) {
    LEAT_CO_TRY(record::Members members, co_await read_members_of(*door));
    all.push_back(std::move(members));
  }
  co_return all;
}

rt::Task<void> Store::write_members(std::vector<DoorPtr> doors) {
  record::Members members{.generation = ++generation_};
  for (const DoorPtr& door : doors)
    members.disks.push_back({.disk = door->id(), .path = door->volume().folders().root()});
  for (const DoorPtr& door : doors) {
    volume::Volume& volume = door->volume();
    auto asked = desk().kit().pool.run<void>([&volume, &members] {
      return volume::write_members(volume.disk(), volume.folders(), members);
    });
    const Status written = co_await std::move(asked);
    // One that takes no more changes will be seen as one that was away.
    if (!written && volume.takes_data()) co_return fail(written.error());
  }
  co_return Status{};
}

rt::Task<Arrival> Store::open(Missing missing) {
  const std::vector<DoorPtr> doors = desk().doors();
  LEAT_CO_TRY(const std::vector<record::Members> known, co_await read_members());
  const auto latest = std::ranges::max_element(known, {}, &record::Members::generation);
  if (missing == Missing::refused) LEAT_CO_DO(check_none_missing(*latest, desk()));
  generation_ = latest->generation;
  // Those that were never away first: they say what a bucket is.
  std::vector<DoorPtr> order;
  std::vector<DoorPtr> strangers;
  for (std::size_t i = 0; i < doors.size(); ++i) {
    // Two that were each started without the other have the same generation, but not the same list.
    const bool was_away = generation_ == 0 || !is_same_set(known[i], *latest);
    (was_away ? strangers : order).push_back(doors[i]);
  }
  order.insert(order.end(), strangers.begin(), strangers.end());
  Arrival arrival;
  LEAT_CO_TRY(arrival.hidden_buckets, co_await agree_on_buckets(std::move(order)));
  for (const DoorPtr& door : strangers) {
    LEAT_CO_TRY(const Doubles older, co_await settle(door));
    LEAT_CO_DO(co_await remove_doubles(older.elsewhere));
    arrival.doubles += older.count;
  }
  if (strangers.empty() && is_same_set(*latest, doors)) co_return arrival;
  LEAT_CO_DO(co_await write_members(doors));
  co_return arrival;
}

rt::Task<Store::Doubles> Store::settle(DoorPtr stranger) {
  Doubles doubles;
  const BucketTablePtr buckets = desk().buckets();
  for (const record::Bucket& bucket : buckets->all())
    LEAT_CO_DO(co_await settle_bucket(stranger, bucket.id, doubles));
  co_return doubles;
}

rt::Task<void> Store::settle_bucket(const DoorPtr& stranger, record::BucketId bucket,
                                    Doubles& doubles) {
  std::vector<DoorPtr> doors = {stranger};
  for (const DoorPtr& door : desk().doors()) {
    if (door != stranger) doors.push_back(door);
  }
  std::vector<const index::Index*> disks;
  for (const DoorPtr& door : doors)
    disks.push_back(&door->volume().index());
  index::ListRequest request{.bucket = bucket, .max = kPage};
  do {
    auto compared = desk().kit().pool.run<DoublesPage>(
        [&disks, &request] { return find_doubles(disks, request); });
    LEAT_CO_TRY(DoublesPage page, co_await std::move(compared));
    std::vector<Older> own;
    for (Double& one : page.doubles) {
      auto& list = one.disk == 0 ? own : doubles.elsewhere;
      list.push_back({.door = doors[one.disk], .object = one.object, .version = one.version});
    }
    LEAT_CO_DO(co_await remove_doubles(own));
    doubles.count += page.doubles.size();
    request.after = std::move(page.last);
  } while (!request.after.empty());
  co_return Status{};
}

rt::Task<void> Store::remove_doubles(const std::vector<Older>& older) {
  for (const Older& one : older) {
    auto removed = desk().at_home<void>(one.door, [&one](volume::Volume& volume) {
      volume::Precondition precondition{.version = one.version};
      return volume.give_up(one.object, std::move(precondition));
    });
    const Status done = co_await std::move(removed);
    if (done) continue;
    // It is gone by other means: a key that three disks had.
    const Errc code = done.error().code();
    if (code != Errc::not_found && code != Errc::precondition_failed) co_return fail(done.error());
  }
  co_return Status{};
}

rt::Task<Arrival> Store::bring_in(Disk disk) {
  LEAT_CO_TRY(const auto held, co_await desk_latch_.acquire(std::string(kLatch)));
  if (desk().find_door(disk.volume->identity().disk) != nullptr) {
    co_return fail(Errc::conflict, "the disk is in service already");
  }
  LEAT_CO_DO(co_await stop_changes());
  auto arrival = co_await bring_in_stopped(disk);
  LEAT_CO_DO(co_await let_changes_go_on());
  co_return arrival;
}

// What the stranger has of older versions goes before it is in service, what others have after
// that: so a key never has none. When a step fails everything is as it was, but for what the
// stranger lost to newer versions.
rt::Task<Arrival> Store::bring_in_stopped(Disk disk) {
  const auto stranger = std::make_shared<Door>(disk, desk().kit());
  const std::vector<DoorPtr> before = desk().doors();
  std::vector<DoorPtr> doors = before;
  doors.push_back(stranger);
  Arrival arrival;
  LEAT_CO_TRY(const auto known, co_await read_members_of(*stranger));
  generation_ = std::max(generation_, known.generation);
  LEAT_CO_TRY(arrival.hidden_buckets, co_await agree_on_buckets(doors));
  LEAT_CO_TRY(const Doubles older, co_await settle(stranger));
  arrival.doubles = older.count;
  auto opened = on_each_shard([&disk](ShardStore& one) { return one.open_door(disk); });
  LEAT_CO_DO(co_await std::move(opened));
  Status settled = co_await remove_doubles(older.elsewhere);
  if (settled) settled = co_await write_members(doors);
  if (settled) co_return arrival;
  const record::DiskId id = stranger->id();
  LEAT_CO_DO(co_await shut_out(id));
  // Those that were told already hear that it is not so.
  static_cast<void>(co_await write_members(before));
  co_return fail(settled.error());
}

rt::Task<void> Store::shut_out(record::DiskId disk) {
  auto given_up = on_each_shard([&disk](ShardStore& one) { return one.give_up_door(disk); });
  LEAT_CO_DO(co_await std::move(given_up));
  co_return co_await close_doors(disk, desk().clock().now());
}

rt::Task<void> Store::close_doors(record::DiskId disk, Instant end) {
  auto closed = on_each_shard([&disk, end](ShardStore& one) { return one.close_door(disk, end); });
  co_return co_await std::move(closed);
}

rt::Task<void> Store::take_out(record::DiskId disk, Duration patience) {
  {
    LEAT_CO_TRY(const auto held, co_await desk_latch_.acquire(std::string(kLatch)));
    if (desk().find_door(disk) == nullptr) co_return fail(Errc::not_found, "no such disk");
    const std::vector<DoorPtr> all = desk().doors();
    if (all.size() == 1) {
      co_return fail(Errc::conflict, "the last disk of a node cannot be taken out; stop the node");
    }
    LEAT_CO_DO(co_await stop_changes());
    std::vector<DoorPtr> staying = all;
    std::erase_if(staying, [&disk](const DoorPtr& door) { return door->id() == disk; });
    const Status written = co_await write_members(std::move(staying));
    if (!written) {
      static_cast<void>(co_await write_members(all));
      LEAT_CO_DO(co_await let_changes_go_on());
      co_return fail(written.error());
    }
    auto given_up = on_each_shard([&disk](ShardStore& one) { return one.give_up_door(disk); });
    LEAT_CO_DO(co_await std::move(given_up));
    LEAT_CO_DO(co_await let_changes_go_on());
  }
  co_return co_await close_doors(disk, desk().clock().now() + patience);
}

}  // namespace leat::store
