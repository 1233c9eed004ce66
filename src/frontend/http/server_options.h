// The limits of the HTTP server. Every one has a default that suits a laptop and a rack.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "http1/request_head.h"

namespace leat::http {

struct ServerOptions {
  http1::Limits head;
  std::size_t connections_max = 20'000;  // of one shard

  Duration idle_timeout = std::chrono::seconds(75);  // between requests
  Duration head_timeout = std::chrono::seconds(10);  // from a head's first byte to its last

  // While a body moves, a client may keep us waiting this long; bytes that move earn back the time
  // they would take at the slowest rate we accept, up to the whole grace.
  Duration body_grace = std::chrono::seconds(30);
  std::uint64_t body_rate_min_bytes = 16 * 1024;

  // A refused request's body up to this size is read and dropped so that the connection can go on.
  std::uint64_t discard_max_bytes = 64 * 1024;
};

}  // namespace leat::http
