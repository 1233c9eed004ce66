#include "io/buffer_pool.h"

#include <new>
#include <utility>

#include "base/check.h"

namespace leat::io {
namespace {

constexpr std::size_t kAlignment = 4096;
// Buffers kept for reuse; beyond it memory goes back to the system.
constexpr std::size_t kIdleMax = 32;

std::byte* allocate(std::size_t size) {
  return static_cast<std::byte*>(::operator new(size, std::align_val_t(kAlignment)));
}

void release(std::byte* data) {
  ::operator delete(data, std::align_val_t(kAlignment));
}

}  // namespace

BufferPool::BufferPool(std::size_t buffer_bytes, std::size_t count_max)
    : buffer_bytes_(buffer_bytes), count_max_(count_max) {
  LEAT_CHECK(buffer_bytes % kAlignment == 0 && count_max > 0);
}

BufferPool::~BufferPool() {
  LEAT_CHECK(in_use_ == 0);
  for (std::byte* data : free_)
    release(data);
}

rt::Task<BufferPool::Buffer> BufferPool::acquire() {
  while (in_use_ >= count_max_) {
    auto freed =
        rt::suspend<void>([this](rt::Resume<void> r) { waiting_.push_back(std::move(r)); });
    LEAT_CO_DO(co_await std::move(freed));
  }
  co_return Buffer(this, take());
}

BufferPool::Buffer BufferPool::try_acquire() {
  if (in_use_ >= count_max_) return {};
  return Buffer(this, take());
}

BufferPool::Buffer BufferPool::try_acquire_extra() {
  if (in_use_ * 2 >= count_max_ || !waiting_.empty()) return {};
  return Buffer(this, take());
}

rt::Task<void> BufferPool::drained() {
  while (in_use_ > 0) {
    auto emptied =
        rt::suspend<void>([this](rt::Resume<void> r) { draining_.push_back(std::move(r)); });
    LEAT_CO_DO(co_await std::move(emptied));
  }
  co_return Status{};
}

std::byte* BufferPool::take() {
  ++in_use_;
  if (free_.empty()) return allocate(buffer_bytes_);
  std::byte* data = free_.back();
  free_.pop_back();
  return data;
}

void BufferPool::give_back(std::byte* data) {
  --in_use_;
  if (free_.size() < kIdleMax) {
    free_.push_back(data);
  } else {
    release(data);
  }
  if (!waiting_.empty()) {
    rt::Resume<void> next = std::move(waiting_.front());
    waiting_.pop_front();
    next(Status{});
  } else if (in_use_ == 0) {
    for (rt::Resume<void>& resume : std::exchange(draining_, {})) {
      resume(Status{});
    }
  }
}

}  // namespace leat::io
