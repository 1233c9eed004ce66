#include "http/relief.h"

namespace leat::http {

void relieve(ServerContext& context, Instant now) {
  io::BufferPool& buffers = context.body_buffers;
  buffers.look(now);
  if (buffers.longest_wait() >= kShortAfter && context.watchdog.cut_longest_holder(kHeldMin)) {
    context.metrics.clients_cut.add();
  }
  // The gauges are shared by all shards: each adds what changed.
  const auto report = [](metrics::Gauge& gauge, std::size_t& last, std::size_t value) {
    gauge.add(static_cast<double>(value) - static_cast<double>(last));
    last = value;
  };
  report(context.metrics.body_buffers, context.reported_buffers, buffers.in_use());
  report(context.metrics.body_buffers_wanted, context.reported_waiting, buffers.waiting());
}

}  // namespace leat::http
