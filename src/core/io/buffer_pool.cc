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

BufferPool::BufferPool(std::size_t buffer_bytes, std::size_t count_max, Duration wait_max)
    : buffer_bytes_(buffer_bytes), count_max_(count_max), wait_max_(wait_max) {
  LEAT_CHECK(buffer_bytes % kAlignment == 0 && count_max > 0);
}

BufferPool::~BufferPool() {
  LEAT_CHECK(in_use_ == 0);
  for (std::byte* data : free_)
    release(data);
}

rt::Task<BufferPool::Buffer> BufferPool::acquire() {
  if (in_use_ < count_max_) co_return Buffer(this, take());
  auto given = rt::suspend<Buffer>(
      [this](rt::Resume<Buffer> r) { waiting_.push_back({std::move(r), std::nullopt}); });
  co_return co_await std::move(given);
}

void BufferPool::look(Instant now) {
  looked_ = now;
  for (Waiter& waiter : waiting_) {
    if (!waiter.since) waiter.since = now;
  }
  while (!waiting_.empty() && now - *waiting_.front().since >= wait_max_) {
    rt::Resume<Buffer> late = std::move(waiting_.front().resume);
    waiting_.pop_front();
    late(fail(Errc::busy, "too many bodies wait for a buffer"));
  }
}

Duration BufferPool::longest_wait() const {
  if (waiting_.empty()) return Duration(0);
  return looked_ - waiting_.front().since.value_or(looked_);
}

BufferPool::Buffer BufferPool::try_acquire() {
  if (in_use_ >= count_max_) return {};
  return Buffer(this, take());
}

BufferPool::Buffer BufferPool::try_acquire_extra() {
  if (in_use_ * 2 >= count_max_) return {};
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
  if (!waiting_.empty()) {
    // Handed over, not freed: nobody who comes now can be quicker.
    rt::Resume<Buffer> next = std::move(waiting_.front().resume);
    waiting_.pop_front();
    next(Buffer(this, data));
    return;
  }
  --in_use_;
  if (free_.size() < kIdleMax) {
    free_.push_back(data);
  } else {
    release(data);
  }
  if (in_use_ == 0) {
    for (rt::Resume<void>& resume : std::exchange(draining_, {})) {
      resume(Status{});
    }
  }
}

}  // namespace leat::io
