// Writers of request and response heads.
//
// They append to the caller's string: a connection that keeps one string allocates nothing after
// its first answers. A value with CR, LF, NUL or any other control byte is refused and nothing of
// it is written, so no echoed value can split a header (abuse case 34).
//
//   ResponseHeadWriter head(out, 200);
//   head.field("Content-Length", size);
//   LEAT_DO(head.field("ETag", etag));
//   head.finish();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http1/message.h"

namespace leat::http1 {

// "OK" for 200. Empty for a status without a name.
std::string_view reason_of(int status);

// Appends `value` in decimal.
void append_decimal(std::string& out, std::uint64_t value);

// Appends "name: value\r\n".
// Errors: bad_request if `name` is no token or `value` has a control byte other than HTAB; `out` is
// then as before.
Status append_field(std::string& out, std::string_view name, std::string_view value);

class HeadWriter {
 public:
  Status field(std::string_view name, std::string_view value) {
    return append_field(out_, name, value);
  }
  // Requires: `name` is a token (a constant of the program).
  void field(std::string_view name, std::uint64_t value);
  // The empty line after the fields.
  void finish() { out_.append("\r\n"); }

 protected:
  // Lifetime: `out` outlives the writer.
  explicit HeadWriter(std::string& out) : out_(out) {}
  ~HeadWriter() = default;

  std::string& out_;
};

class ResponseHeadWriter : public HeadWriter {
 public:
  // Writes "HTTP/1.1 200 OK\r\n".
  // Requires: 100 ≤ status ≤ 599.
  ResponseHeadWriter(std::string& out, int status);
};

class RequestHeadWriter : public HeadWriter {
 public:
  explicit RequestHeadWriter(std::string& out) : HeadWriter(out) {}

  // Writes "GET /path HTTP/1.1\r\n". Comes first.
  // Errors: bad_request if `method` is no token or `target` could not be parsed back.
  Status start(std::string_view method, std::string_view target);
};

}  // namespace leat::http1
