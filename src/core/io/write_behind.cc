#include "io/write_behind.h"

#include "base/check.h"

namespace leat::io {

// Shared with the writing tasks, so that file and buffers outlive an abandoned WriteBehind.
struct WriteBehind::State {
  std::shared_ptr<File> file;
  std::size_t in_flight = 0;
  Status outcome;
  rt::Resume<void> waiter;

  static rt::Task<void> write(std::shared_ptr<State> state, FileIo& file_io,
                              BufferPool::Buffer buffer, std::uint64_t offset, std::size_t size) {
    Bytes bytes = Bytes(buffer.bytes()).first(size);
    Status written = co_await file_io.write_at(*state->file, offset, bytes);
    --state->in_flight;
    if (!written && state->outcome) state->outcome = fail(written.error().clone());
    if (state->waiter) state->waiter(Status{});
    co_return written;
  }
};

WriteBehind::WriteBehind(rt::Shard& shard, FileIo& file_io, BufferPool& pool,
                         std::shared_ptr<File> file)
    : shard_(shard), file_io_(file_io), pool_(pool), state_(std::make_shared<State>()) {
  state_->file = std::move(file);
}

WriteBehind::~WriteBehind() = default;

rt::Task<MutableBytes> WriteBehind::next_buffer() {
  LEAT_CO_DO(co_await wait_until_at_most(kDepthMax - 1));
  if (!state_->outcome) co_return fail(state_->outcome.error().clone());
  if (!filling_) {
    if (state_->in_flight > 0) filling_ = pool_.try_acquire_extra();
    if (!filling_) {
      LEAT_CO_DO(co_await wait_until_at_most(0));
      LEAT_CO_TRY(filling_, co_await pool_.acquire());
    }
  }
  co_return filling_.bytes();
}

void WriteBehind::commit(std::size_t size) {
  LEAT_CHECK(filling_ && size <= filling_.bytes().size());
  if (size == 0) return;
  ++state_->in_flight;
  const std::uint64_t offset = next_offset_;
  next_offset_ += size;
  // Errors are kept in the state, where next_buffer() and finish() find them.
  shard_.spawn(State::write(state_, file_io_, std::move(filling_), offset, size),
               [](const Status&) {});
}

rt::Task<void> WriteBehind::finish() {
  LEAT_CO_DO(co_await wait_until_at_most(0));
  if (!state_->outcome) co_return fail(state_->outcome.error().clone());
  co_return Status{};
}

rt::Task<void> WriteBehind::wait_until_at_most(std::size_t in_flight) {
  while (state_->in_flight > in_flight) {
    auto ended = rt::suspend<void>([this](rt::Resume<void> r) { state_->waiter = std::move(r); });
    LEAT_CO_DO(co_await std::move(ended));
  }
  co_return Status{};
}

}  // namespace leat::io
