// Sender: puts one answer on the wire — the head that is ready, and the body in the way that suits
// it.
//
// Memory goes out with the head in one call. File bytes that are in the page cache are sent by the
// kernel (sendfile); cold ones are read ahead and written, so that a disk never stalls the shard.
// The other clients of the shard get their turn in between (http/turn.h).
#pragma once

#include <optional>
#include <string_view>

#include "http/pace.h"
#include "http/response.h"
#include "http/server_context.h"
#include "http/turn.h"
#include "io/read_ahead.h"

namespace leat::http {

class Sender {
 public:
  // How much is given to the kernel in one call.
  static constexpr std::size_t kCallBytes = 8 * kMiB;
  // Pieces of a stream from this size on are sent by the kernel, if they can be.
  static constexpr std::size_t kSendFileMin = 32 * kKiB;
  // From this size on it pays to let the kernel send full frames only: two calls more, but a
  // quarter less of its time for a large file.
  static constexpr std::uint64_t kCorkMin = 256 * kKiB;
  // How far one look at the page cache reaches.
  static constexpr std::uint64_t kWindowBytes = 8 * kMiB;
  // How long a cold read goes on before the page cache is looked at again.
  static constexpr std::uint64_t kColdRunBytes = 64 * kMiB;

  Sender(ServerContext& context, io::Stream& stream, Pace& pace, Turn& turn)
      : context_(context), stream_(stream), pace_(pace), turn_(turn) {}

  // Most answers are small and fit the socket's buffer: true if the head and a body from memory are
  // sent. Otherwise send() goes on from where this stopped.
  bool try_send_now(std::string_view head, const Response& response);

  // True if the body begins with bytes that are not in the page cache.
  bool begins_cold(const Response& response);

  // Reads the first of them, so that a failure can still be answered as one.
  // Requires: begins_cold(). Errors: busy, io, corrupt.
  rt::Task<void> prepare(const Response& response);

  // Sends head and body; the head alone when `head_only`.
  // Errors: closed, timeout (the client); io, corrupt (the body: the connection must be broken
  // off).
  rt::Task<void> send(std::string_view head, Response& response, bool head_only);

 private:
  rt::Task<void> write(std::span<Bytes> pieces, io::Flush flush);
  rt::Task<void> send_file(const FileBody& body);
  rt::Task<std::uint64_t> send_cached(const FileBody& body, std::uint64_t done,
                                      std::uint64_t window);
  void start_cold(const FileBody& body, std::uint64_t done);
  rt::Task<std::uint64_t> send_cold();
  rt::Task<void> send_stream(StreamBody& body);
  rt::Task<void> send_piece(Bytes bytes, const BodySource& source);
  void count(std::size_t sent);
  rt::Task<void> wait_for_room();

  ServerContext& context_;
  io::Stream& stream_;
  Pace& pace_;
  Turn& turn_;
  std::size_t sent_of_memory_ = 0;       // by try_send_now()
  std::uint64_t warm_bytes_ = 0;         // from the beginning, seen by begins_cold()
  std::optional<io::ReadAhead> reader_;  // of the cold run that is being sent
  Bytes read_;                           // by prepare(), not yet sent
  std::uint64_t run_bytes_ = 0;
};

}  // namespace leat::http
