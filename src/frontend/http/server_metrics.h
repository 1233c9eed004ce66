// What the HTTP server counts. Shared by all shards of the process; safe from any of them.
#pragma once

#include <array>

#include "base/time.h"
#include "http/operation.h"
#include "metrics/registry.h"

namespace leat::http {

class ServerMetrics {
 public:
  explicit ServerMetrics(metrics::Registry& registry);

  // A request that was answered. `operation` is empty when none was recognised.
  void answered(const Operation* operation, int status, Duration took);

  metrics::Gauge& connections;
  metrics::Counter& connections_accepted;
  metrics::Counter& connections_refused;  // over connections_max, or no descriptor left
  metrics::Counter& malformed_requests;
  metrics::Counter& client_timeouts;
  metrics::Counter& clients_cut;        // slow ones whose buffers others waited for
  metrics::Gauge& body_buffers;         // in use
  metrics::Gauge& body_buffers_wanted;  // bodies that wait for one
  metrics::Counter& broken_responses;   // the body failed after the head was sent
  metrics::Counter& received_bytes;
  metrics::Counter& sent_bytes;
  metrics::Counter& cold_read_bytes;

 private:
  static constexpr std::size_t kStatusClasses = 6;  // index 2 = 2xx; 0 and 1 are unused
  struct PerOperation {
    std::array<metrics::Counter*, kStatusClasses> by_status{};
    metrics::Histogram* duration = nullptr;
  };

  // The last one is for requests without an operation.
  std::array<PerOperation, kOperationCount + 1> operations_;
};

}  // namespace leat::http
