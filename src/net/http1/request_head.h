// RequestParser turns the bytes before a request's body into a RequestHead, as they arrive.
//
// It works line by line and looks at each byte once, however small the pieces are; a request that
// is wrong is refused at its first wrong line. It is stricter than RFC 9112 wherever two readings
// of the same bytes could differ (abuse case 28), and every size has a limit (abuse case 30).
//
// Request targets: "/path?query"; "*" for OPTIONS only; "http://host/path", whose host must then
// equal the Host field (HTTP/1.0 may leave that out). Targets are printable ASCII without '#';
// nothing is decoded here (uri.h does).
//
// Lifetime: the views of a RequestHead point into the buffer of the call that completed it.
// Shard: a parser belongs to one connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "http1/line_scanner.h"
#include "http1/message.h"

namespace leat::http1 {

struct Limits {
  std::size_t head_max_bytes = 32 * 1024;    // at most HeaderBlock::kTextMax
  std::size_t target_max_bytes = 16 * 1024;  // at most head_max_bytes
  std::size_t fields_max = 100;              // at most HeaderBlock::kCapacity
};

struct RequestHead {
  Method method = Method::other;
  Version version = Version::http11;
  bool chunked = false;
  bool keep_alive = false;
  bool expects_continue = false;  // "Expect: 100-continue"; other expectations are ignored
  std::optional<std::uint64_t> content_length;  // no body without it and without `chunked`
  std::string_view method_text;
  std::string_view target;  // as sent
  std::string_view path;    // of the target, before '?', not decoded; "*" for OPTIONS *
  std::string_view query;   // after the first '?', not decoded; empty without one
  std::string_view host;    // empty only for HTTP/1.0 without a Host field
  HeaderBlock headers;
};

class RequestParser {
 public:
  explicit RequestParser(Limits limits = {});

  // Goes on with the head at the start of `buffer`. Returns its size once it is complete (the body
  // or the next request starts there, and the parser is ready for another head), or 0 if more
  // bytes are needed. One empty line before the head is tolerated and counted in its size.
  // Requires: until then `buffer` starts with the bytes of the call before (it may have moved) and
  // `head` is the same object. After an error the connection is of no more use.
  // Errors: bad_request, head_too_large, uri_too_long, version_not_supported.
  Result<std::size_t> parse(std::string_view buffer, RequestHead& head);

  // True between the first byte of a head and its end: a slow head, not an idle connection.
  bool started() const { return phase_ != Phase::fresh; }

 private:
  enum class Phase : std::uint8_t { fresh, request_line, fields };

  Status take_request_line(std::string_view text, Line line, RequestHead& head);
  Status finish(std::string_view text, RequestHead& head) const;

  Limits limits_;
  LineScanner lines_;
  Line method_;
  Line target_;
  Phase phase_ = Phase::fresh;
  bool skipped_empty_line_ = false;
};

}  // namespace leat::http1
