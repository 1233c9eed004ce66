// Connection: one keep-alive connection with at most one request under way, driven by
// edge-triggered events: a receive that returns less than was asked for has emptied the socket; new
// bytes raise an event.
//
// Bodies of a stated length are dropped in the kernel. Those in chunks are received, because their
// framing must be seen, and then dropped.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "load/chunked_body.h"
#include "load/figures.h"

namespace leat::benchmarks {

// Ends the process when nobody listens there.
int connect_to(const std::string& host, std::uint16_t port);

// One request. `body` is repeated up to `body_bytes`. Lifetime: the body outlives the request.
struct Outgoing {
  std::string_view head;
  std::string_view body;
  std::uint64_t body_bytes = 0;
};

class Connection {
 public:
  enum class Step { waiting, completed, failed };

  explicit Connection(int fd) : fd_(fd) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return fd_; }
  bool idle() const { return idle_; }
  Nanos started() const { return started_; }
  std::uint64_t body_bytes() const { return body_to_send_; }

  // Starts a request whose latency counts from `started`.
  Step start(const Outgoing& request, Nanos started);

  // Goes on as far as the socket allows; adds what it received of the body to `received`.
  Step advance(std::uint64_t expected, std::uint64_t& received);

 private:
  // Longer heads are an error. A small object's head and body fit, so it takes one receive.
  static constexpr std::size_t kHeadBytesMax = 8192;

  Step fail(std::string_view why);
  Step complete();
  bool send_rest();
  Step receive_head(std::uint64_t expected, std::uint64_t& received);
  Step receive_body(std::uint64_t& received);
  Step receive_chunks(std::uint64_t expected, std::uint64_t& received);
  Step take_chunks(std::string_view bytes, std::uint64_t expected, std::uint64_t& received);

  int fd_;
  std::string request_head_;
  std::string_view body_source_;
  std::size_t head_sent_ = 0;
  std::uint64_t body_to_send_ = 0;
  std::uint64_t body_sent_ = 0;
  std::array<char, kHeadBytesMax> head_;
  std::size_t head_used_ = 0;
  std::uint64_t body_left_ = 0;
  ChunkedBody chunks_;
  bool in_body_ = false;
  bool is_chunked_ = false;
  bool idle_ = true;
  Nanos started_ = 0;
};

}  // namespace leat::benchmarks
