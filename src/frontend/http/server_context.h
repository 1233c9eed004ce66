// ServerContext: what every connection of one shard works with. Made by the program, owned by it.
//
// Shard: one. Lifetime: everything referred to outlives the server's connections.
#pragma once

#include <cstdint>
#include <string_view>

#include "http/dispatcher.h"
#include "http/server_metrics.h"
#include "http/server_options.h"
#include "http1/date.h"
#include "io/buffer_pool.h"
#include "io/clock.h"
#include "io/file_io.h"
#include "io/watchdog.h"
#include "log/logger.h"
#include "rt/shard.h"

namespace leat::http {

// The Date field, formatted once a second.
class DateCache {
 public:
  std::string_view at(WallTime now) {
    const auto second = std::chrono::floor<std::chrono::seconds>(now);
    if (second != second_) {
      second_ = second;
      text_ = http1::DateText(now);
    }
    return text_.text();
  }

 private:
  std::chrono::sys_seconds second_{};
  http1::DateText text_{WallTime{}};
};

// A chunked body passes through the buffer of its request, behind the head: room is kept for it.
constexpr std::size_t kBodyRoomBytes = 4096;

struct ServerContext {
  rt::Shard& shard;
  const ServerOptions& options;
  const Dispatcher& dispatcher;
  io::Clock& clock;
  io::Watchdog& watchdog;
  io::FileIo& file_io;
  io::BufferPool& head_buffers;  // one a request; holds head_max_bytes and kBodyRoomBytes
  io::BufferPool& body_buffers;  // for bytes that must pass through the process
  ServerMetrics& metrics;
  log::Logger& logger;
  std::uint64_t next_request_id;  // starts at random, so that ids differ between runs and shards
  DateCache date = {};
  bool draining = false;
  std::size_t reported_buffers = 0;  // what the metrics know of body_buffers
  std::size_t reported_waiting = 0;
};

}  // namespace leat::http
