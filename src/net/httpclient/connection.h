// Connection: one stream to a host, with what was read too far and a limit on every wait.
//
// Shard: the client's. Lifetime: the pool and its entry for the host outlive it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "httpclient/context.h"
#include "rt/gate.h"

namespace leat::httpclient {

class Pool;
struct Host;

class Connection {
 public:
  Connection(Pool& pool, Host& host, rt::Gate::Pass pass, std::shared_ptr<io::Stream> stream);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  Context& context() const { return context_; }
  Pool& pool() const { return pool_; }
  Host& host() const { return host_; }
  io::Stream& stream() const { return *stream_; }
  const std::shared_ptr<io::Stream>& shared_stream() const { return stream_; }

  // Received and not yet used.
  Bytes unread() const { return Bytes(input_).subspan(begin_, end_ - begin_); }
  void consume(std::size_t count) { begin_ += count; }

  // Waits until the stream may go on.
  // Errors: timeout (the deadline, or too long a silence), closed.
  rt::Task<void> wait(io::Interest interest, Instant deadline);

  // At least one byte into `target`; 0 at the server's end.
  rt::Task<std::size_t> receive(MutableBytes target, Instant deadline);

  // At least one more byte behind unread(). Errors: closed (also at the server's end), timeout, io.
  rt::Task<void> fill(Instant deadline);

  // The same without waiting; false if nothing has arrived.
  Result<bool> try_fill();

  // Nothing has arrived since the last answer: no end, no error, no stray byte.
  bool is_quiet();

  // Between two requests no memory is kept but the stream's own. Requires: unread() is empty.
  void rest(Instant now);
  Instant resting_since() const { return resting_since_; }
  // True once it has rested: the server may have given it up meanwhile.
  bool is_used() const { return is_used_; }

 private:
  MutableBytes free_input();

  Pool& pool_;
  Host& host_;
  Context& context_;
  rt::Gate::Pass pass_;
  std::shared_ptr<io::Stream> stream_;
  io::Watchdog::Watch watch_;
  std::vector<std::byte> input_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  Instant resting_since_{};
  bool is_used_ = false;
};

}  // namespace leat::httpclient
