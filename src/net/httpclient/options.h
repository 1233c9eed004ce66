// The limits of the HTTP client, and what it counts: all for one client, so for one shard.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "http1/request_head.h"

namespace leat::httpclient {

// A host is an address and the way it is trusted.
struct Options {
  std::size_t connections_max_per_host = 32;
  std::size_t waiting_max_per_host = 1024;  // requests that wait for one of these
  std::size_t idle_max_per_host = 16;
  std::size_t idle_max_total = 256;
  Duration idle_timeout = std::chrono::seconds(30);

  Duration acquire_timeout = std::chrono::seconds(30);   // for a connection, made or freed
  Duration handshake_timeout = std::chrono::seconds(5);  // of TLS
  Duration silence_timeout = std::chrono::seconds(30);   // while the server moves no byte
  Duration continue_timeout = std::chrono::seconds(1);   // for "100 Continue"

  // How often run() looks for what is over: timeouts are late by at most this and the watchdog's.
  Duration period = std::chrono::milliseconds(250);

  http1::Limits head{};
};

struct Stats {
  std::size_t connections = 0;  // now: idle, in use and being made
  std::size_t idle = 0;         // now
  std::size_t waiting = 0;      // now: requests without a connection
  std::uint64_t opened = 0;     // ever
  std::uint64_t reused = 0;     // requests sent on a connection that had served another
  std::uint64_t retried = 0;    // requests sent again because an old connection was dead
};

}  // namespace leat::httpclient
