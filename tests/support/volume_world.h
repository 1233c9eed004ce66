// VolumeWorld: one volume on a simulated disk, called like a plain object.
//
// Calls run the world until they are through. start() leaves them running instead, so that a crash
// can come in their middle: crash() takes the disk as it is at that instant, lets the old process
// end on a copy that nobody looks at again, and opens what a power cut would have left.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "io/buffer_pool.h"
#include "log/logger.h"
#include "rt/blocking_pool.h"
#include "sim/world.h"
#include "volume/reader.h"
#include "volume/volume.h"

namespace leat::test {

class VolumeWorld {
 public:
  // Small limits, so that a few changes fill a segment and a few blocks fill a file.
  static volume::VolumeOptions small_options();

  VolumeWorld(std::uint64_t seed, log::Logger& logger,
              volume::VolumeOptions options = small_options());
  ~VolumeWorld();

  // Opens the volume; a new disk gets an identity. Errors: those of recovery.
  Status open();
  // Opens it with an index made anew from the segments.
  Status rebuild();
  // Ends the process in good order.
  Status close();
  // Cuts the power now and starts again. Errors: those of recovery.
  Status crash(sim::CrashOptions options);
  // The same up to the crash; the volume stays closed.
  void cut_power(sim::CrashOptions options);
  // Ends the process as kill -9 does: the kernel still has what was written but not synced.
  void kill();
  // Ends the process without a word, and goes on with another disk. The volume stays closed.
  void take_disk(std::unique_ptr<sim::SimDisk> disk);

  bool is_open() const { return volume_ != nullptr; }
  volume::Volume& volume() { return *volume_; }
  volume::VolumeReader& reader() { return *reader_; }
  volume::ShardKit kit();
  const volume::VolumeOptions& options() const { return options_; }
  sim::SimDisk& disk() { return *disk_; }
  sim::SimFileIo& file_io() { return *file_io_; }
  sim::SimWorld& world() { return world_; }

  Result<record::Version> put(const record::ObjectKey& object, std::string data,
                              volume::Precondition precondition = {});
  Result<std::optional<std::string>> get(const record::ObjectKey& object);
  // As a shard does it: what is remembered first, then the index.
  Result<std::optional<record::Version>> find(const record::ObjectKey& object);
  Result<std::string> read(const record::Version& version, volume::ByteRange range);

  // The bytes of a large object or a part, in files that are finished.
  Result<std::vector<record::FileExtent>> write_files(const record::ObjectKey& object,
                                                      std::string_view data);

  template <class T>
  Result<T> run(rt::Task<T> task) {
    return world_.run(std::move(task));
  }

  // As put(), but in the background: `done` is called when it is answered, which may be never.
  rt::Task<record::Version> put_task(record::ObjectKey object, std::string data,
                                     volume::Precondition precondition);
  rt::Task<std::string> read_task(record::Version version, volume::ByteRange range);
  // Lifetime: `data` outlives the task.
  rt::Task<std::vector<record::FileExtent>> write_files_task(record::ObjectKey object,
                                                             std::string_view data);

 private:
  rt::Task<std::optional<std::string>> get_task(record::ObjectKey object);
  Status start(Result<volume::Recovered> recovered);
  void end_process();
  volume::RecoveryTools recovery_tools();

  log::Logger& logger_;
  volume::VolumeOptions options_;
  sim::SimWorld world_;
  io::SeededRng rng_;
  std::unique_ptr<sim::SimDisk> disk_;
  std::unique_ptr<sim::SimFileIo> file_io_;
  rt::BlockingPool pool_{"sim", 0, 16};
  io::BufferPool buffers_{64 * kKiB, 16};
  volume::LookupCache lookups_{64 * kKiB};
  volume::Folders folders_{"d"};
  std::unique_ptr<volume::Volume> volume_;
  std::unique_ptr<volume::VolumeReader> reader_;
};

}  // namespace leat::test
