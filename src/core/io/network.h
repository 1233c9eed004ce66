// Network: makes streams. TcpNetwork is the kernel's; sim::SimNetwork lives in memory and can
// delay, cut and partition.
//
// Shard: a Network belongs to one shard, and so do the listeners and streams it makes. Several
// shards may listen on the same address: the kernel spreads connections over them.
#pragma once

#include <memory>

#include "io/stream.h"

namespace leat::io {

class Listener {
 public:
  virtual ~Listener() = default;

  // Errors: closed (after close()), busy (out of descriptors: wait, then go on), io.
  virtual rt::Task<std::unique_ptr<Stream>> accept() = 0;
  virtual void close() = 0;

  // With the port that was chosen, when 0 was asked for.
  virtual const Address& address() const = 0;
};

class Network {
 public:
  virtual ~Network() = default;

  // Errors: conflict (address in use), denied, bad_request.
  virtual Result<std::unique_ptr<Listener>> listen(const Address& address) = 0;

  // Errors: unavailable (refused, unreachable), not_found (no such host), timeout.
  virtual rt::Task<std::unique_ptr<Stream>> connect(Address address) = 0;
};

}  // namespace leat::io
