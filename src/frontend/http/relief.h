// Relief: what a shard does when bodies wait for its buffers.
//
// A slow client may hold a buffer for a long time, and a few hundred of them hold all there are.
// While nobody waits, that is fine. When somebody has waited for a moment, the client that has held
// on for longest is cut, one at each look of the watchdog, until nobody waits.
#pragma once

#include "http/server_context.h"

namespace leat::http {

// Somebody waited this long: buffers are short.
constexpr Duration kShortAfter = std::chrono::seconds(1);
// Who took less for its last piece is not slow.
constexpr Duration kHeldMin = std::chrono::seconds(2);

// One look: ends waits that took too long, cuts at most one client, and reports to the metrics.
void relieve(ServerContext& context, Instant now);

}  // namespace leat::http
