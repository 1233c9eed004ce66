// UringIo: file I/O by io_uring, one ring for one shard.
//
// Requests made in one turn of the loop are submitted together; completions wake the loop through
// an eventfd. At most `depth` requests are in the kernel; further ones wait their turn in order.
//
// Shard: belongs to the shard it was opened for. Files without a descriptor are not for it.
#pragma once

#include <cstdint>
#include <memory>

#include "io/file_io.h"
#include "rt/shard.h"

namespace leat::io {

// What the kernel answers to a write and the sync linked to it: a result, or an errno below zero.
struct LinkedAnswers {
  int write = 0;
  int sync = 0;  // -ECANCELED when it was not begun
  std::size_t wanted_bytes = 0;
  bool was_split = false;  // the link may be lost: the sync may have run beside the write
};

struct LinkedOutcome {
  Status written{};
  Status synced{};          // an error only if a sync was made and failed, also when the write did
  bool is_through = false;  // else the rest has to be written, and all of it synced again
};

LinkedOutcome judge_linked(const LinkedAnswers& answers);

class UringIo final : public FileIo {
 public:
  static constexpr std::uint32_t kDepth = 256;

  // Errors: not_implemented, when the kernel or a container policy forbids io_uring.
  // Lifetime: the shard outlives it; every request has ended before it is destroyed.
  static Result<std::unique_ptr<UringIo>> open(rt::Shard& shard, std::uint32_t depth = kDepth);
  ~UringIo() override;

  rt::Task<std::size_t> read_at(const File& file, std::uint64_t offset,
                                MutableBytes target) override;
  rt::Task<void> write_at(File& file, std::uint64_t offset, Bytes source) override;
  rt::Task<void> sync_data(File& file) override;
  rt::Task<void> write_and_sync(File& file, std::uint64_t offset, Bytes source,
                                Status& synced) override;

 private:
  class Ring;
  explicit UringIo(std::unique_ptr<Ring> ring);

  std::unique_ptr<Ring> ring_;
};

}  // namespace leat::io
