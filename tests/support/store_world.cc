#include "support/store_world.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/check.h"
#include "support/volume_world.h"

namespace leat::test {

volume::VolumeOptions StoreWorld::small_options() {
  return VolumeWorld::small_options();
}

StoreWorld::StoreWorld(sim::SimWorld& world, log::Logger& logger, std::size_t disks,
                       volume::VolumeOptions options)
    : world_(world), logger_(logger), options_(options) {
  for (std::size_t i = 0; i < disks; ++i)
    disks_.push_back({.disk = std::make_unique<sim::SimDisk>(world_.clock("node"), i + 1)});
}

StoreWorld::~StoreWorld() {
  // What it still says has no listener any more.
  if (shard_store_) static_cast<void>(close());
}

std::size_t StoreWorld::number_of(const record::DiskId& id) const {
  const auto found = std::ranges::find_if(disks_, [&id](const OneDisk& one) {
    return one.volume && one.volume->identity().disk == id;
  });
  LEAT_CHECK(found != disks_.end());
  return static_cast<std::size_t>(found - disks_.begin());
}

std::size_t StoreWorld::buy_disk() {
  disks_.push_back(
      {.disk = std::make_unique<sim::SimDisk>(world_.clock("node"), disks_.size() + 1)});
  return disks_.size() - 1;
}

Status StoreWorld::open_disk(std::size_t number) {
  OneDisk& one = disks_[number];
  const volume::RecoveryTools tools{.disk = *one.disk, .clock = world_.clock("node"), .rng = rng_};
  const volume::Folders folders("d" + std::to_string(number));
  LEAT_TRY(const auto identity, volume::identify(tools, folders, node_));
  node_ = identity.node;
  LEAT_TRY(auto recovered, volume::recover(tools, folders, identity, options_));
  const volume::VolumeTools volume_tools{.shard = world_.shard(),
                                         .disk = *one.disk,
                                         .file_io = *file_io_,
                                         .pool = pool_,
                                         .clock = world_.clock("node"),
                                         .rng = rng_,
                                         .logger = logger_};
  LEAT_TRY(one.volume, volume::Volume::make(volume_tools, folders, std::move(recovered), options_));
  return {};
}

Status StoreWorld::open(store::Store::Missing missing) {
  file_io_ = std::make_unique<sim::SimFileIo>(world_.timeline(), *disks_.front().disk, rng_.next(),
                                              sim::FileIoOptions{});
  store_ = std::make_unique<store::Store>();
  for (std::size_t i = 0; i < disks_.size(); ++i) {
    if (!disks_[i].is_plugged) continue;
    LEAT_DO(open_disk(i));
    store_->add(store::Disk{.home = &world_.shard(), .volume = disks_[i].volume.get()});
  }
  shard_store_ = std::make_unique<store::ShardStore>(*store_, kit(), world_.clock("node"));
  store_->add(*shard_store_);
  LEAT_TRY(arrival_, world_.run(store_->open(missing)));
  return {};
}

rt::Task<store::Arrival> StoreWorld::add_disk(std::string path, rt::Shard& /*from*/) {
  const std::size_t number = std::stoul(path.substr(path.find('d') + 1));
  LEAT_CO_DO(open_disk(number));
  disks_[number].is_plugged = true;
  const store::Disk disk{.home = &world_.shard(), .volume = disks_[number].volume.get()};
  co_return co_await store_->bring_in(disk);
}

rt::Task<void> StoreWorld::remove_disk(std::string name, Duration patience, rt::Shard& /*from*/) {
  for (OneDisk& one : disks_) {
    if (!one.volume) continue;
    const record::DiskId id = one.volume->identity().disk;
    if (record::to_hex(id) != name && one.volume->folders().root() != name) continue;
    LEAT_CO_DO(co_await store_->take_out(id, patience));
    Status closed = co_await one.volume->close();
    one.volume.reset();
    one.is_plugged = false;
    co_return closed;
  }
  co_return fail(Errc::not_found, "no such disk");
}

Status StoreWorld::close() {
  Status first;
  for (OneDisk& one : disks_) {
    if (!one.volume) continue;
    const Status closed = world_.run(one.volume->close());
    if (!closed && first) first = fail(closed.error());
  }
  // Nothing of the store may run when its parts go; an HTTP world around it may.
  world_.run_for(std::chrono::seconds(1));
  shard_store_.reset();
  store_.reset();
  for (OneDisk& one : disks_)
    one.volume.reset();
  return first;
}

Status StoreWorld::crash(sim::CrashOptions options) {
  std::vector<std::unique_ptr<sim::SimDisk>> left;
  for (const OneDisk& one : disks_)
    left.push_back(one.disk->fork());
  // The old process ends on a copy that nobody looks at again.
  static_cast<void>(close());
  for (std::size_t i = 0; i < disks_.size(); ++i) {
    disks_[i].disk = std::move(left[i]);
    disks_[i].disk->crash(options);
  }
  return open();
}

volume::ShardKit StoreWorld::kit() {
  return {.shard = world_.shard(),
          .file_io = *file_io_,
          .buffers = buffers_,
          .pool = pool_,
          .rng = rng_,
          .lookups = &lookups_};
}

record::BucketId StoreWorld::make_bucket(const std::string& name, store::BucketOptions options) {
  auto made = run(shard_store_->create_bucket(name, std::move(options)));
  EXPECT_TRUE(made) << made.error().message();
  return made ? made->id : record::BucketId{};
}

Result<record::Version> StoreWorld::put(const record::ObjectKey& object, std::string_view data,
                                        store::PutDetails details,
                                        std::optional<std::uint64_t> expected_bytes) {
  return run(put_task(object, data, std::move(details), expected_bytes));
}

rt::Task<record::Version> StoreWorld::put_task(record::ObjectKey object, std::string_view data,
                                               store::PutDetails details,
                                               std::optional<std::uint64_t> expected_bytes) {
  LEAT_CO_TRY(auto put, co_await shard_store_->begin_put(std::move(object), expected_bytes));
  co_return co_await fill(std::move(put), data, std::move(details));
}

Result<record::Version> StoreWorld::put_part(const record::ObjectKey& object,
                                             record::UploadId upload, std::uint32_t number,
                                             std::string_view data) {
  return run(put_part_task(object, upload, number, data));
}

rt::Task<record::Version> StoreWorld::put_part_task(record::ObjectKey object,
                                                    record::UploadId upload, std::uint32_t number,
                                                    std::string_view data) {
  LEAT_CO_TRY(auto put, co_await shard_store_->begin_part(std::move(object), upload, number));
  store::PutDetails details;
  co_return co_await fill(std::move(put), data, std::move(details));
}

rt::Task<record::Version> StoreWorld::fill(std::unique_ptr<store::Put> put, std::string_view data,
                                           store::PutDetails details) {
  for (Bytes rest = as_bytes(data); !rest.empty();) {
    LEAT_CO_TRY(const MutableBytes room, co_await put->next_buffer());
    const Bytes step = rest.first(std::min(rest.size(), room.size()));
    std::ranges::copy(step, room.begin());
    put->commit(step.size());
    rest = rest.subspan(step.size());
  }
  co_return co_await put->finish(std::move(details));
}

Result<store::Found> StoreWorld::find(const record::ObjectKey& object) {
  return run(shard_store_->find(object));
}

Result<std::string> StoreWorld::read(const store::Found& found, volume::ByteRange range) {
  return run(read_task(found, range));
}

std::string StoreWorld::get(const record::ObjectKey& object) {
  const auto found = find(object);
  if (!found) return "error: " + found.error().message();
  auto content = read(*found, {.offset = 0, .length = found->version.size_bytes});
  return content ? *content : "error: " + content.error().message();
}

rt::Task<std::string> StoreWorld::read_task(store::Found found, volume::ByteRange range) {
  LEAT_CO_TRY(store::Body body, co_await shard_store_->read(found, range));
  if (const auto* content = std::get_if<volume::Content>(&body))
    co_return std::string(as_text(content->bytes));
  const auto& source = std::get<std::unique_ptr<store::ObjectStream>>(body);
  std::string all;
  for (;;) {
    LEAT_CO_TRY(const Bytes piece, co_await source->next());
    if (piece.empty()) co_return all;
    all += as_text(piece);
  }
}

}  // namespace leat::test
