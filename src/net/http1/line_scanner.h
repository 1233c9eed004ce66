// LineScanner cuts a growing buffer into lines that end in CRLF, each byte looked at once.
//
// It is the only place that sees line ends and control bytes: a bare CR, a bare LF, NUL or any
// other control byte but HTAB is refused here, so what comes later need not ask again (abuse case
// 28).
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "http1/message.h"

namespace leat::http1 {

class LineScanner {
 public:
  // The next line of `text`, or nothing until more bytes are there.
  // Requires: `text` starts with the bytes of the call before; it may have moved.
  // Errors: bad_request.
  Result<std::optional<Line>> next(std::string_view text);

  // Where the first byte stands that belongs to no line yet.
  std::size_t line_begin() const { return line_begin_; }

  void reset() { line_begin_ = scanned_ = 0; }

 private:
  std::size_t line_begin_ = 0;
  std::size_t scanned_ = 0;  // no control byte stands in [line_begin_, scanned_)
};

}  // namespace leat::http1
