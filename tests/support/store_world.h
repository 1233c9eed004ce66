// StoreWorld: a store of several simulated disks, called like a plain object.
//
// Calls run the world until they are through. crash() cuts the power of all disks at the instant it
// is called and opens what that leaves.
//
// Lifetime: the world and the logger outlive it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/buffer_pool.h"
#include "log/logger.h"
#include "rt/blocking_pool.h"
#include "sim/world.h"
#include "store/shard_store.h"

namespace leat::test {

class StoreWorld final : public store::DiskKeeper {
 public:
  // Small limits, as those of VolumeWorld.
  static volume::VolumeOptions small_options();

  StoreWorld(sim::SimWorld& world, log::Logger& logger, std::size_t disks,
             volume::VolumeOptions options = small_options());
  ~StoreWorld() override;

  // Opens all disks. Errors: those of recovery; not_found, when one is missing and refused.
  Status open(store::Store::Missing missing = store::Store::Missing::refused);
  // What the last open() found.
  const store::Arrival& arrival() const { return arrival_; }
  // Ends the process in good order.
  Status close();
  // Cuts the power now and starts again. Errors: those of recovery.
  Status crash(sim::CrashOptions options = {});

  // Disk "dN" of the next open(), or of an add_disk(), is not there, as if it were unplugged.
  void unplug(std::size_t disk) { disks_[disk].is_plugged = false; }
  void plug(std::size_t disk) { disks_[disk].is_plugged = true; }
  // A new, empty disk: gives its number.
  std::size_t buy_disk();

  // Of a store that runs; `path` is "dN".
  rt::Task<store::Arrival> add_disk(std::string path, rt::Shard& from) override;
  rt::Task<void> remove_disk(std::string name, Duration patience, rt::Shard& from) override;

  store::ShardStore& store() { return *shard_store_; }
  std::size_t number_of(const record::DiskId& id) const;
  bool is_open(std::size_t disk) const { return disks_[disk].volume != nullptr; }
  volume::Volume& volume(std::size_t disk) { return *disks_[disk].volume; }
  sim::SimDisk& disk(std::size_t disk) { return *disks_[disk].disk; }
  std::size_t disk_count() const { return disks_.size(); }
  io::BufferPool& buffers() { return buffers_; }

  template <class T>
  Result<T> run(rt::Task<T> task) {
    return world_.run(std::move(task));
  }

  record::BucketId make_bucket(const std::string& name, store::BucketOptions options = {});
  // `expected_bytes` as begin_put() takes it; nothing: its length is not known before.
  Result<record::Version> put(const record::ObjectKey& object, std::string_view data,
                              store::PutDetails details = {},
                              std::optional<std::uint64_t> expected_bytes = {});
  Result<store::Found> find(const record::ObjectKey& object);
  // The whole content, or "error: …".
  std::string get(const record::ObjectKey& object);
  Result<std::string> read(const store::Found& found, volume::ByteRange range);
  Result<record::Version> put_part(const record::ObjectKey& object, record::UploadId upload,
                                   std::uint32_t number, std::string_view data);

 private:
  struct OneDisk {
    std::unique_ptr<sim::SimDisk> disk{};
    std::unique_ptr<volume::Volume> volume{};
    bool is_plugged = true;
  };

  Status open_disk(std::size_t number);
  rt::Task<record::Version> put_task(record::ObjectKey object, std::string_view data,
                                     store::PutDetails details,
                                     std::optional<std::uint64_t> expected_bytes);
  rt::Task<record::Version> fill(std::unique_ptr<store::Put> put, std::string_view data,
                                 store::PutDetails details);
  rt::Task<record::Version> put_part_task(record::ObjectKey object, record::UploadId upload,
                                          std::uint32_t number, std::string_view data);
  rt::Task<std::string> read_task(store::Found found, volume::ByteRange range);
  volume::ShardKit kit();

  sim::SimWorld& world_;
  log::Logger& logger_;
  volume::VolumeOptions options_;
  io::SeededRng rng_{1};
  std::vector<OneDisk> disks_;
  std::optional<record::DiskId> node_;
  store::Arrival arrival_;
  std::unique_ptr<sim::SimFileIo> file_io_;
  rt::BlockingPool pool_{"sim", 0, 16};
  io::BufferPool buffers_{64 * kKiB, 64};
  volume::LookupCache lookups_{64 * kKiB};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<store::ShardStore> shard_store_;
};

}  // namespace leat::test
