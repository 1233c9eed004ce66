// SimFileIo: awaited reads, writes and syncs of a SimDisk, each taking time on the virtual clock.
//
// The call reaches the disk at the end of its latency, so that calls running side by side may
// overtake each other, and a crash in between finds the write not yet done. Delays of the disk's
// fault plan come on top. Lifetime: the disk and the timeline outlive it.
#pragma once

#include "io/file_io.h"
#include "sim/sim_disk.h"

namespace leat::sim {

struct FileIoOptions {
  Duration read{std::chrono::microseconds(80)};
  Duration write{std::chrono::microseconds(20)};
  Duration sync{std::chrono::milliseconds(1)};
  // Up to this much more for each call, by chance.
  Duration jitter{std::chrono::microseconds(50)};
};

class SimFileIo final : public io::FileIo {
 public:
  SimFileIo(Timeline& timeline, SimDisk& disk, std::uint64_t seed, FileIoOptions options);

  rt::Task<std::size_t> read_at(const io::File& file, std::uint64_t offset,
                                MutableBytes target) override;
  rt::Task<void> write_at(io::File& file, std::uint64_t offset, Bytes source) override;
  rt::Task<void> sync_data(io::File& file) override;

  // The next calls answer busy and never reach the disk, as when a pool is full.
  void refuse_writes(std::size_t count) { refused_writes_ = count; }
  void refuse_syncs(std::size_t count) { refused_syncs_ = count; }

 private:
  static Status refuse(std::size_t& left);
  // Waits for what the call takes.
  rt::Task<void> take(Duration base);
  // Waits for what the disk's faults added to it.
  rt::Task<void> take_delay();

  Timeline& timeline_;
  SimDisk& disk_;
  io::SeededRng rng_;
  FileIoOptions options_;
  std::size_t refused_writes_ = 0;
  std::size_t refused_syncs_ = 0;
};

}  // namespace leat::sim
