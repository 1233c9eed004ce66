#include "httpclient/connection.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "httpclient/pool.h"

namespace leat::httpclient {

Connection::Connection(Pool& pool, Host& host, rt::Gate::Pass pass,
                       std::shared_ptr<io::Stream> stream)
    : pool_(pool),
      host_(host),
      context_(pool.context()),
      pass_(std::move(pass)),
      stream_(std::move(stream)),
      watch_(context_.watchdog, *stream_) {}

Connection::~Connection() {
  // A wait that readable_before() left behind ends with this and lets the stream go.
  stream_->interrupt(Errc::cancelled);
  pool_.forget(host_);
}

rt::Task<void> Connection::wait(io::Interest interest, Instant deadline) {
  const Instant now = context_.clock.now();
  if (deadline <= now) co_return fail(Errc::timeout, "the request's deadline has passed");
  // Counted from the watchdog's last look, as it does.
  const Instant until = std::min(deadline, now + context_.options.silence_timeout);
  watch_.allow(until - watch_.dog().now());
  Status status = co_await stream_->wait(interest);
  watch_.pause();
  co_return status;
}

rt::Task<std::size_t> Connection::receive(MutableBytes target, Instant deadline) {
  while (true) {
    auto got = stream_->try_read(target);
    if (got || got.error().code() != Errc::would_block) co_return got;
    LEAT_CO_DO(co_await wait(io::Interest::read, deadline));
  }
}

// Requires: a head that fills the whole buffer has been refused before.
MutableBytes Connection::free_input() {
  if (input_.empty()) input_.resize(context_.options.head.head_max_bytes);
  if (begin_ > 0) {
    const Bytes left = unread();
    std::memmove(input_.data(), left.data(), left.size());
    begin_ = 0;
    end_ = left.size();
  }
  const MutableBytes room = MutableBytes(input_).subspan(end_);
  LEAT_CHECK(!room.empty());
  return room;
}

rt::Task<void> Connection::fill(Instant deadline) {
  LEAT_CO_TRY(const std::size_t got, co_await receive(free_input(), deadline));
  if (got == 0) co_return fail(Errc::closed, "the server closed the connection");
  end_ += got;
  co_return Status{};
}

Result<bool> Connection::try_fill() {
  auto got = stream_->try_read(free_input());
  if (!got && got.error().code() == Errc::would_block) return false;
  if (!got) return fail(std::move(got).error());
  if (*got == 0) return fail(Errc::closed, "the server closed the connection");
  end_ += *got;
  return true;
}

bool Connection::is_quiet() {
  std::array<std::byte, 1> byte;
  const auto got = stream_->try_read(byte);
  return !got && got.error().code() == Errc::would_block;
}

void Connection::rest(Instant now) {
  LEAT_CHECK(unread().empty());
  input_ = {};
  begin_ = end_ = 0;
  resting_since_ = now;
  is_used_ = true;
}

}  // namespace leat::httpclient
