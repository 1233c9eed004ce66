// BufferPool: page-aligned buffers of one size, a bounded number of them, reused.
//
// Reading around the page cache needs aligned memory, and fresh large allocations cost page faults.
// The bound is what keeps the memory of a shard independent of how many clients stream how large
// objects. Who waits for a buffer is served in the order of coming, and not for ever: somebody
// calls look() now and then, and waits that took too long end in `busy`.
//
// Shard: belongs to one shard, as do its buffers.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/time.h"
#include "rt/task.h"

namespace leat::io {

class BufferPool {
 public:
  static constexpr Duration kWaitMax = std::chrono::seconds(10);

  // Requires: buffer_bytes is a multiple of 4096.
  BufferPool(std::size_t buffer_bytes, std::size_t count_max, Duration wait_max = kWaitMax);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // Goes back to its pool when destroyed. Lifetime: the pool outlives its buffers.
  class Buffer {
   public:
    Buffer() = default;
    Buffer(BufferPool* pool, std::byte* data) : pool_(pool), data_(data) {}
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
      swap(other);
      return *this;
    }
    ~Buffer() {
      if (pool_ != nullptr) pool_->give_back(data_);
    }

    explicit operator bool() const { return data_ != nullptr; }
    MutableBytes bytes() const { return {data_, pool_->buffer_bytes_}; }

   private:
    void swap(Buffer& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(data_, other.data_);
    }

    BufferPool* pool_ = nullptr;
    std::byte* data_ = nullptr;
  };

  // Waits for its turn and a free one. Errors: busy, after wait_max.
  rt::Task<Buffer> acquire();

  // One that is free now; empty when all are in use.
  Buffer try_acquire();

  // An extra buffer for going faster, only while at least half of the pool is free: a few greedy or
  // slow streams must not keep the others from their first buffer. Empty otherwise.
  Buffer try_acquire_extra();

  // Returns when every buffer is back: no read or write started with one is still running.
  rt::Task<void> drained();

  // Ends waits that have lasted wait_max since the first look() that saw them.
  void look(Instant now);

  // How long the first in line had waited at the last look().
  Duration longest_wait() const;

  std::size_t in_use() const { return in_use_; }
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t buffer_bytes() const { return buffer_bytes_; }

 private:
  struct Waiter {
    rt::Resume<Buffer> resume;
    std::optional<Instant> since;  // the first look that saw it
  };

  std::byte* take();
  void give_back(std::byte* data);

  std::size_t buffer_bytes_;
  std::size_t count_max_;
  Duration wait_max_;
  Instant looked_{};
  std::size_t in_use_ = 0;
  std::vector<std::byte*> free_;
  std::deque<Waiter> waiting_;  // empty unless all buffers are in use
  std::vector<rt::Resume<void>> draining_;
};

}  // namespace leat::io
