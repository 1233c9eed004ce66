// When a request is sent once more, and after how long. Pure: time and chance are arguments.
//
// Waits double and have a random part, so that many clients that were refused together do not come
// back together. The budget keeps a client from burdening a service that fails at everything:
// retries cost, answers earn, and when nothing is left failures are final.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "io/rng.h"

namespace leat::s3client {

struct RetryOptions {
  std::uint32_t attempts_max = 7;
  Duration first_wait = std::chrono::milliseconds(50);
  Duration wait_max = std::chrono::seconds(5);
  std::uint32_t budget_max = 500;
  std::uint32_t retry_cost = 5;
  // No attempt begins later than this after the first one. Attempts alone are no bound of time:
  // one that meets silence takes as long as silence is borne.
  std::optional<Duration> patience{};
};

class RetryBudget {
 public:
  explicit RetryBudget(const RetryOptions& options)
      : options_(options), left_(options.budget_max) {}

  // True if the attempt with this number, from 1, may be followed by another; takes its cost.
  bool may_follow(std::uint32_t attempt) {
    if (attempt >= options_.attempts_max || left_ < options_.retry_cost) return false;
    left_ -= options_.retry_cost;
    return true;
  }

  // A request was answered.
  void earn() { left_ = std::min(left_ + 1, options_.budget_max); }

  // Between half of and the whole of the doubled wait.
  Duration wait_after(std::uint32_t attempt, io::Rng& rng) const {
    const std::uint32_t doublings = std::min(attempt - 1, 16U);
    const Duration whole = std::min(options_.first_wait * (1 << doublings), options_.wait_max);
    const auto half = static_cast<std::uint64_t>(whole.count() / 2);
    return Duration(static_cast<std::int64_t>(half + rng.below(half + 1)));
  }

  std::uint32_t left() const { return left_; }

 private:
  RetryOptions options_;
  std::uint32_t left_;
};

}  // namespace leat::s3client
