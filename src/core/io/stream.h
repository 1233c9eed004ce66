// Stream: a connection to one peer, as non-blocking attempts plus one wait.
//
// The attempts (try_*) never block and never allocate: they move what can be moved now, or answer
// Errc::would_block. The caller then awaits wait() and tries again. This keeps an idle connection
// free of buffers, and lets TCP, TLS and simulated networks share the code above them.
//
// Shard: a stream belongs to the shard that made it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "io/disk.h"
#include "rt/task.h"

namespace leat::io {

enum class Interest : std::uint8_t { read, write };

// Whether more bytes follow at once, so that the kernel may wait and fill a packet.
enum class Flush : std::uint8_t { now, more_follows };

// A port on a host, as text: "127.0.0.1", "::1", "localhost", or a name in a simulated network.
struct Address {
  std::string host;
  std::uint16_t port = 0;

  // "127.0.0.1:9000", "[::1]:9000"
  std::string to_string() const;

  // Errors: bad_request with what is wrong.
  static Result<Address> parse(std::string_view text);

  // True for 127.0.0.0/8, ::1 and their v4-mapped form. Names are not resolved.
  bool is_loopback() const;

  friend bool operator==(const Address&, const Address&) = default;
};

class Stream {
 public:
  virtual ~Stream() = default;

  // Bytes read; 0 when the peer has ended its side.  Errors: would_block, closed, io.
  virtual Result<std::size_t> try_read(MutableBytes target) = 0;

  // Bytes written from the front of the pieces, at least one.  Errors: would_block, closed, io.
  virtual Result<std::size_t> try_write(std::span<const Bytes> pieces, Flush flush) = 0;

  // Sends file bytes without copying them through the process.
  // Requires: can_send_file().  Errors: would_block, closed, io, corrupt (the file ends too early).
  virtual Result<std::size_t> try_send_file(const File& file, std::uint64_t offset,
                                            std::size_t length) = 0;
  virtual bool can_send_file() const = 0;

  // While it is set, the kernel sends full frames only: for bytes that come by the megabyte. What
  // is left goes out when it is taken off. A hint: errors show in what is sent.
  virtual void set_corked(bool /*corked*/) {}

  // Returns when the last attempt that would have blocked may go on.
  // Errors: the code given to interrupt(); closed.
  virtual rt::Task<void> wait(Interest interest) = 0;

  // Ends a running wait() with `reason`, and every later one.
  virtual void interrupt(Errc reason) = 0;

  // Tells the peer that nothing more will be written; reading goes on.
  virtual void finish_writing() = 0;

  virtual const Address& peer() const = 0;
  virtual bool is_encrypted() const = 0;
};

// Corks a stream for a while. Lifetime: the stream outlives it.
class Corked {
 public:
  explicit Corked(Stream& stream) : stream_(stream) { stream_.set_corked(true); }
  ~Corked() { stream_.set_corked(false); }
  Corked(const Corked&) = delete;
  Corked& operator=(const Corked&) = delete;

 private:
  Stream& stream_;
};

// Takes `count` bytes off the front of the pieces and returns what is left, without empty pieces at
// its front.
std::span<Bytes> drop_front(std::span<Bytes> pieces, std::size_t count);

// Reads at least one byte, or 0 at the peer's end.
rt::Task<std::size_t> read_some(Stream& stream, MutableBytes target);

// Writes all pieces in order. Lifetime: the bytes outlive the task; `pieces` is consumed.
rt::Task<void> write_all(Stream& stream, std::span<Bytes> pieces, Flush flush = Flush::now);

}  // namespace leat::io
