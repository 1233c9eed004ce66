// BodyReader: the body of one request, from the bytes that came with its head and then the stream.
//
// Bodies with a length are read straight into the caller's memory. Chunked ones pass through the
// connection's buffer and are decoded from there.
#pragma once

#include <optional>

#include "http/exchange.h"
#include "http/pace.h"
#include "http1/chunked.h"

namespace leat::http {

// Bytes of a connection that were received and not yet used: [begin, end) of the buffer.
struct InputBuffer {
  MutableBytes bytes;
  std::size_t begin = 0;
  std::size_t end = 0;

  Bytes unread() const { return Bytes(bytes).subspan(begin, end - begin); }
  std::size_t size() const { return end - begin; }
};

class BodyReader final : public RequestBody {
 public:
  // Lifetime: stream, input and pace outlive it.
  BodyReader(io::Stream& stream, InputBuffer& input, Pace& pace, const http1::RequestHead& head);

  rt::Task<std::size_t> read(MutableBytes target) override;
  const http1::HeaderBlock& trailers() const override;

  bool finished() const { return finished_; }

  // Bytes of the body that were handed out.
  std::uint64_t received_bytes() const { return received_bytes_; }

  // True after a read that failed: where the body ends is not known any more.
  bool is_broken() const { return broken_; }

  // True when the client waits for a `100 Continue` it has not been given, so will not send the
  // body.
  bool continue_is_owed() const { return continue_owed_; }

  // What is known to be left; nothing for a chunked body.
  std::optional<std::uint64_t> left_bytes() const;

 private:
  rt::Task<std::size_t> read_some(MutableBytes target);
  rt::Task<void> give_continue();
  rt::Task<std::size_t> receive(MutableBytes target);
  rt::Task<std::size_t> read_plain(MutableBytes target);
  rt::Task<std::size_t> read_chunked(MutableBytes target);
  std::size_t take_input(MutableBytes target);

  io::Stream& stream_;
  InputBuffer& input_;
  Pace& pace_;
  const std::size_t head_end_;                    // in the buffer; the head is still in use
  std::optional<http1::ChunkedDecoder> decoder_;  // of a chunked body
  std::uint64_t left_ = 0;                        // of a body with a length
  Bytes payload_;                                 // decoded, not yet handed out
  std::uint64_t received_bytes_ = 0;
  bool finished_ = false;
  bool broken_ = false;
  bool continue_owed_ = false;
};

}  // namespace leat::http
