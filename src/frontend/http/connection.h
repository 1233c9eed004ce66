// Connection: one client, request after request.
//
// wait → read a head → decide → handle → answer, until the client leaves, is too slow, sends
// something malformed, or the server drains. Between requests it holds no buffer.
//
// Shard: one. Lifetime: the context outlives it.
#pragma once

#include <memory>
#include <string>

#include "http/body_reader.h"
#include "http/server_context.h"
#include "http/turn.h"
#include "http1/request_head.h"
#include "io/stream.h"
#include "io/watchdog.h"

namespace leat::http {

class Connection {
 public:
  Connection(ServerContext& context, io::Stream& stream, io::Watchdog::Watch& watch)
      : context_(context), stream_(stream), watch_(watch), parser_(context.options.head) {}

  // Ends when the connection does. Errors: why it ended, if not by agreement.
  rt::Task<void> serve();

 private:
  // False when the client has left between requests, or the server drains.
  rt::Task<bool> read_head();
  rt::Task<bool> answer();
  rt::Task<void> refuse(Error error);
  Response refusal_of(const Error& error);
  rt::Task<void> linger();
  rt::Task<bool> discard(BodyReader& body);
  void write_head(const Response& response, bool keep_alive);
  void prepare_buffer();
  void report(const Operation* operation, const Response& response, Instant began,
              const Status& sent);

  ServerContext& context_;
  io::Stream& stream_;
  io::Watchdog::Watch& watch_;
  io::BufferPool::Buffer buffer_;
  InputBuffer input_;
  http1::RequestParser parser_;
  http1::RequestHead head_;
  std::uint64_t request_id_ = 0;
  Turn turn_;
  std::string out_;
};

}  // namespace leat::http
