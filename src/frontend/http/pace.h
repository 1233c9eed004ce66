// Pace: how patient we are with one client while a body moves.
//
// Only time spent waiting for the client counts: it has a grace, plus what its bytes would take at
// the slowest rate accepted. A client that drips a byte now and then is cut; a slow but honest one
// is not, and neither is one that waits for our disk.
#pragma once

#include "http/server_options.h"
#include "io/stream.h"
#include "io/watchdog.h"

namespace leat::http {

class Pace {
 public:
  Pace(const ServerOptions& options, io::Watchdog::Watch& watch)
      : options_(options), watch_(watch) {}

  void moved(std::uint64_t bytes) { moved_bytes_ += bytes; }

  // Waits for the stream within what is left of the patience.
  rt::Task<void> wait(io::Stream& stream, io::Interest interest);

 private:
  const ServerOptions& options_;
  io::Watchdog::Watch& watch_;
  std::uint64_t moved_bytes_ = 0;
  Duration waited_{0};
};

}  // namespace leat::http
