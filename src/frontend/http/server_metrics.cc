#include "http/server_metrics.h"

#include <fmt/format.h>

#include <chrono>

namespace leat::http {

ServerMetrics::ServerMetrics(metrics::Registry& registry)
    : connections(registry.gauge("leat_http_connections", "Open HTTP connections.")),
      connections_accepted(registry.counter("leat_http_connections_accepted_total",
                                            "HTTP connections that were accepted.")),
      connections_refused(registry.counter("leat_http_connections_refused_total",
                                           "HTTP connections closed at once: too many are open.")),
      malformed_requests(registry.counter("leat_http_malformed_requests_total",
                                          "Requests that were not HTTP as Leat accepts it.")),
      client_timeouts(registry.counter("leat_http_client_timeouts_total",
                                       "Connections ended because the client was too slow.")),
      clients_cut(registry.counter(
          "leat_http_clients_cut_total",
          "Slow clients cut because other bodies waited for the buffers they held.")),
      body_buffers(registry.gauge("leat_http_body_buffers", "Body buffers in use.")),
      body_buffers_wanted(
          registry.gauge("leat_http_body_buffers_wanted", "Bodies that wait for a buffer.")),
      broken_responses(registry.counter("leat_http_broken_responses_total",
                                        "Answers broken off after their head was sent.")),
      received_bytes(registry.counter("leat_http_received_bytes_total",
                                      "Bytes of request bodies that were received.")),
      sent_bytes(registry.counter("leat_http_sent_bytes_total",
                                  "Bytes of answers that were sent, heads included.")),
      cold_read_bytes(registry.counter("leat_http_cold_read_bytes_total",
                                       "Bytes sent that were not in the page cache.")) {
  for (std::size_t i = 0; i <= kOperationCount; ++i) {
    const std::string name(i < kOperationCount ? name_of(static_cast<Operation>(i)) : "none");
    for (std::size_t status = 2; status < kStatusClasses; ++status) {
      operations_[i].by_status[status] =
          &registry.counter("leat_http_requests_total", "HTTP requests that were answered.",
                            {{"operation", name}, {"status", fmt::format("{}xx", status)}});
    }
    operations_[i].duration = &registry.histogram(
        "leat_http_request_duration_seconds",
        "Time from the end of a request's head to the end of its answer.", {{"operation", name}});
  }
}

void ServerMetrics::answered(const Operation* operation, int status, Duration took) {
  const std::size_t row =
      operation != nullptr ? static_cast<std::size_t>(*operation) : kOperationCount;
  operations_[row].by_status[static_cast<std::size_t>(status / 100)]->add();
  operations_[row].duration->observe(std::chrono::duration<double>(took).count());
}

}  // namespace leat::http
