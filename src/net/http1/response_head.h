// ResponseParser reads what a server answered before the body: the client's half of
// request_head.h, with the same strictness. A server whose answer cannot be understood is an
// Errc::io, so that it is never mistaken for a bad request of our own caller.
//
// Lifetime: the views of a ResponseHead point into the buffer of the call that completed it.
// Shard: a parser belongs to one connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "http1/line_scanner.h"
#include "http1/message.h"
#include "http1/request_head.h"

namespace leat::http1 {

// Where the body ends.
enum class BodyEnd : std::uint8_t {
  none,        // no body: HEAD, 1xx, 204, 304
  length,      // after `content_length` bytes
  chunked,     // with the last chunk
  connection,  // when the server closes: a cut cannot be told from the end
};

struct ResponseHead {
  int status = 0;  // 100–599
  Version version = Version::http11;
  BodyEnd body_end = BodyEnd::none;
  bool keep_alive = false;  // never with BodyEnd::connection
  // As sent. After HEAD or with 304 it is what a GET would have had.
  std::optional<std::uint64_t> content_length;
  std::string_view reason;
  HeaderBlock headers;

  // 1xx except 101: the real answer follows.
  bool interim() const { return status < 200 && status != 101; }
};

class ResponseParser {
 public:
  explicit ResponseParser(Limits limits = {});

  // As RequestParser::parse; `asked` is the method of the request that is answered.
  // Errors: io (not HTTP as we accept it, or larger than the limits).
  Result<std::size_t> parse(std::string_view buffer, Method asked, ResponseHead& head);

 private:
  Result<std::size_t> advance(std::string_view buffer, Method asked, ResponseHead& head);
  Status take_status_line(std::string_view text, Line line, ResponseHead& head);
  Status finish(std::string_view text, Method asked, ResponseHead& head) const;

  Limits limits_;
  LineScanner lines_;
  Line reason_;
  bool has_status_line_ = false;
};

}  // namespace leat::http1
