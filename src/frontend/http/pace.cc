#include "http/pace.h"

namespace leat::http {

rt::Task<void> Pace::wait(io::Stream& stream, io::Interest interest) {
  const std::uint64_t earned_ms = moved_bytes_ * 1000 / options_.body_rate_min_bytes;
  const Duration budget = options_.body_grace + std::chrono::milliseconds(earned_ms);
  const Instant before = watch_.dog().now();
  watch_.allow(std::max(budget - waited_, Duration(0)));
  Status status = co_await stream.wait(interest);
  watch_.pause();
  waited_ += watch_.dog().now() - before;
  co_return status;
}

}  // namespace leat::http
