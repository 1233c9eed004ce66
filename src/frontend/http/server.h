// Server: accepts connections on one shard and serves them until it is told to drain.
//
// drain() stops accepting, lets idle connections go, waits until the requests in flight are
// answered, and after `limit` cuts what is left. Shard: one.
#pragma once

#include <memory>
#include <vector>

#include "http/server_context.h"
#include "io/network.h"
#include "rt/gate.h"

namespace leat::http {

// Turns an accepted connection into another kind of stream: TLS.
class StreamUpgrade {
 public:
  virtual ~StreamUpgrade() = default;

  // Lifetime: the result owns `stream`. Errors: bad_request (no handshake), closed, timeout.
  virtual rt::Task<std::unique_ptr<io::Stream>> upgrade(std::unique_ptr<io::Stream> stream) = 0;
};

class Server {
 public:
  // `upgrade` may be null: plain connections. Lifetime: context and upgrade outlive the server.
  // Requires: the context's buffers are as large as ServerContext says.
  Server(ServerContext& context, StreamUpgrade* upgrade);

  // Serves connections of this listener from now on.
  void serve(std::unique_ptr<io::Listener> listener);

  rt::Task<void> drain(Duration limit);

  // Where it listens. Requires: serve() was called.
  const io::Address& address() const { return listeners_.front()->address(); }

  std::size_t connections() const { return context_.watchdog.watched(); }

 private:
  rt::Task<void> accept_loop(io::Listener& listener, rt::Gate::Pass pass);
  rt::Task<void> serve_connection(std::unique_ptr<io::Stream> stream, rt::Gate::Pass pass);
  rt::Task<void> cut_at(Instant when, std::shared_ptr<const bool> drained);

  ServerContext& context_;
  StreamUpgrade* upgrade_;
  std::vector<std::unique_ptr<io::Listener>> listeners_;
  rt::Gate gate_;
  std::shared_ptr<bool> drained_ = std::make_shared<bool>(false);
};

}  // namespace leat::http
