// Response: the answer to a request: its head at once, its body as it is read.
//
// Nothing is read from the server before it is asked for, so a slow reader holds the server back
// and no memory grows. The connection goes back to the pool as soon as the body has ended; a
// Response that is dropped before closes it.
//
// Shard: the client's. Lifetime: the client outlives its responses.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "http1/chunked.h"
#include "httpclient/answer.h"
#include "httpclient/connection.h"

namespace leat::httpclient {

class Response {
 public:
  // `reusable` says whether the whole request was sent.
  Response(std::unique_ptr<Connection> connection, std::unique_ptr<Answer> answer, bool reusable,
           Instant deadline);
  Response(Response&&) noexcept = default;
  Response& operator=(Response&&) noexcept = default;
  ~Response();

  int status() const { return answer_->head.status; }
  const http1::HeaderBlock& headers() const { return answer_->head.headers; }
  // As sent; of a HEAD what the body would have had.
  std::optional<std::uint64_t> content_length() const { return answer_->head.content_length; }

  // Reads at least one byte; 0 at the end of the body.
  // Lifetime: the response stays where it is until the task ends.
  // Errors: closed (cut), io (broken framing), timeout. After an error there is no more to read.
  rt::Task<std::size_t> read(MutableBytes target);

  // The rest of the body. Errors: too_large, if it is more than `max_bytes`; as read().
  rt::Task<std::string> read_all(std::size_t max_bytes);

  bool is_finished() const { return finished_; }

  // The fields after a chunked body; null before its end and without any.
  const http1::HeaderBlock* trailers() const;

 private:
  rt::Task<std::size_t> read_some(MutableBytes target);
  rt::Task<std::size_t> read_plain(MutableBytes target);
  rt::Task<std::size_t> read_chunked(MutableBytes target);
  void finish();

  std::unique_ptr<Connection> connection_;  // null once finished or broken
  std::unique_ptr<Answer> answer_;
  std::unique_ptr<http1::ChunkedDecoder> decoder_;  // of a chunked body
  std::uint64_t left_ = 0;                          // of a body with a length
  Bytes payload_;                                   // decoded, in the connection's input
  Instant deadline_;
  bool reusable_;
  bool finished_ = false;
};

}  // namespace leat::httpclient
