#include "http1/line_scanner.h"

#include "http1/grammar.h"

namespace leat::http1 {

Result<std::optional<Line>> LineScanner::next(std::string_view text) {
  scanned_ = find_control(text, scanned_);
  if (scanned_ == text.size()) return std::nullopt;
  if (text[scanned_] == '\n') return fail(Errc::bad_request, "line feed without carriage return");
  if (text[scanned_] != '\r') return fail(Errc::bad_request, "control byte in the head");
  if (scanned_ + 1 == text.size()) return std::nullopt;
  if (text[scanned_ + 1] != '\n') {
    return fail(Errc::bad_request, "carriage return without line feed");
  }
  const Line line{.begin = line_begin_, .end = scanned_};
  line_begin_ = scanned_ += 2;
  return line;
}

}  // namespace leat::http1
