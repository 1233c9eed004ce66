// Pace: how patient we are with one client while a body moves.
//
// Only time spent waiting for the client counts. It begins with a grace; waiting uses it up, and
// bytes earn back what they would take at the slowest rate accepted, never more than the whole
// grace. So a client that drips a byte now and then is cut, and so is one that stops after a fast
// gigabyte; a slow but honest one is not, and neither is one that waits for our disk.
#pragma once

#include "http/server_options.h"
#include "io/stream.h"
#include "io/watchdog.h"

namespace leat::http {

class Pace {
 public:
  // About one buffer.
  static constexpr std::uint64_t kRenewBytes = 512 * kKiB;

  Pace(const ServerOptions& options, io::Watchdog::Watch& watch)
      : options_(options), watch_(watch), patience_(options.body_grace) {}

  ~Pace() { let_go(); }
  Pace(const Pace&) = delete;
  Pace& operator=(const Pace&) = delete;

  void moved(std::uint64_t bytes);

  // Between these the connection holds a buffer of the shard's pool. When others wait for one, it
  // is judged by the time its last kRenewBytes took (http/relief.h).
  void hold();
  void let_go();

  // Waits for the stream within what is left of the patience.
  rt::Task<void> wait(io::Stream& stream, io::Interest interest);

 private:
  const ServerOptions& options_;
  io::Watchdog::Watch& watch_;
  Duration patience_;
  bool holds_ = false;
  std::uint64_t renewed_bytes_ = 0;
};

}  // namespace leat::http
