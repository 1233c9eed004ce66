#include "http/pace.h"

#include <algorithm>

namespace leat::http {

void Pace::moved(std::uint64_t bytes) {
  using Seconds = std::chrono::duration<double>;
  const Seconds full = options_.body_grace;
  const Seconds earned(static_cast<double>(bytes) /
                       static_cast<double>(options_.body_rate_min_bytes));
  patience_ += std::chrono::duration_cast<Duration>(std::min(earned, full));
  patience_ = std::min(patience_, options_.body_grace);
  renewed_bytes_ += bytes;
  if (holds_ && renewed_bytes_ >= kRenewBytes) {
    renewed_bytes_ = 0;
    watch_.hold();
  }
}

void Pace::hold() {
  if (holds_) return;
  holds_ = true;
  renewed_bytes_ = 0;
  watch_.hold();
}

void Pace::let_go() {
  holds_ = false;
  watch_.let_go();
}

rt::Task<void> Pace::wait(io::Stream& stream, io::Interest interest) {
  const Instant before = watch_.dog().now();
  watch_.allow(std::max(patience_, Duration(0)));
  Status status = co_await stream.wait(interest);
  watch_.pause();
  patience_ -= watch_.dog().now() - before;
  co_return status;
}

}  // namespace leat::http
