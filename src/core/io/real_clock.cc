#include <time.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "io/clock.h"

namespace leat::io {
namespace {

Duration read_clock(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

}  // namespace

Instant RealClock::now() const {
  return Instant(read_clock(CLOCK_MONOTONIC));
}

WallTime RealClock::wall_now() const {
  return WallTime(read_clock(CLOCK_REALTIME));
}

rt::Task<void> RealClock::sleep_until(Instant when) {
  const rt::Executor executor = co_await boost::asio::this_coro::executor;
  // steady_clock and CLOCK_MONOTONIC are the same clock on Linux.
  boost::asio::basic_waitable_timer<
      std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, rt::Executor>
      timer(executor, std::chrono::steady_clock::time_point(when.time_since_epoch()));
  boost::system::error_code error;
  co_await timer.async_wait(rt::await_into(error));
  if (error) co_return fail(Errc::cancelled);
  co_return Status{};
}

}  // namespace leat::io
