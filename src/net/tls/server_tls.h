// ServerTls: makes TLS connections out of accepted ones.
//
// Safe to share between shards: it does not change once made. Each stream belongs to its own shard.
#pragma once

#include <memory>

#include "io/stream.h"
#include "tls/openssl_handle.h"
#include "tls/server_identity.h"

namespace leat::tls {

class ServerTls {
 public:
  explicit ServerTls(const ServerIdentity& identity);

  // The handshake. Bound its time by a Watchdog::Watch on `stream`, which stays where it is in
  // memory; on failure it is destroyed. HTTP/1.1 is the one protocol offered by ALPN.
  // Lifetime: the ServerTls outlives the task.
  // Errors: bad_request (what came is no TLS we accept), closed, io, the reason of an interrupt.
  rt::Task<std::unique_ptr<io::Stream>> accept(std::unique_ptr<io::Stream> stream) const;

 private:
  ContextPtr context_;
};

}  // namespace leat::tls
