#include "http1/response_head.h"

#include <string>

#include "base/check.h"
#include "http1/framing.h"
#include "http1/grammar.h"

namespace leat::http1 {
namespace {

bool never_has_body(int status, Method asked) {
  return asked == Method::head || status < 200 || status == 204 || status == 304;
}

}  // namespace

ResponseParser::ResponseParser(Limits limits) : limits_(limits) {
  LEAT_CHECK(limits.head_max_bytes <= HeaderBlock::kTextMax);
  LEAT_CHECK(limits.fields_max <= HeaderBlock::kCapacity);
}

Result<std::size_t> ResponseParser::parse(std::string_view buffer, Method asked,
                                          ResponseHead& head) {
  auto size = advance(buffer, asked, head);
  if (!size) return fail(Errc::io, std::string(size.error().detail()));
  return size;
}

Result<std::size_t> ResponseParser::advance(std::string_view buffer, Method asked,
                                            ResponseHead& head) {
  const std::string_view text = buffer.substr(0, limits_.head_max_bytes);
  for (;;) {
    LEAT_TRY(const std::optional<Line> line, lines_.next(text));
    if (!line) break;
    if (!has_status_line_) {
      LEAT_DO(take_status_line(text, *line, head));
    } else if (line->begin != line->end) {
      LEAT_DO(head.headers.add_line(text, *line, limits_.fields_max));
    } else {
      LEAT_DO(finish(text, asked, head));
      const std::size_t size = lines_.line_begin();
      lines_.reset();
      has_status_line_ = false;
      return size;
    }
  }
  if (buffer.size() < limits_.head_max_bytes) return 0;
  return fail(Errc::head_too_large, "response head is too large");
}

// "HTTP/1.1 200 OK"; the reason and the space before it may be missing.
Status ResponseParser::take_status_line(std::string_view text, Line line, ResponseHead& head) {
  const std::string_view whole = text.substr(line.begin, line.end - line.begin);
  const std::string_view version = whole.substr(0, 9);
  if (version != "HTTP/1.1 " && version != "HTTP/1.0 ") {
    return fail(Errc::bad_request, "answer does not start with HTTP/1.0 or HTTP/1.1");
  }
  const std::string_view code = whole.substr(9, 3);
  const bool ends_well = whole.size() == 12 || (whole.size() > 12 && whole[12] == ' ');
  const auto status = parse_decimal(code);
  if (code.size() != 3 || !ends_well || !status || *status < 100 || *status > 599) {
    return fail(Errc::bad_request, "answer without a status of three digits");
  }
  head.headers.clear();
  head.version = version[7] == '1' ? Version::http11 : Version::http10;
  head.status = static_cast<int>(*status);
  reason_ = {whole.size() > 12 ? line.begin + 13 : line.end, line.end};
  has_status_line_ = true;
  return {};
}

Status ResponseParser::finish(std::string_view text, Method asked, ResponseHead& head) const {
  head.headers.bind(text);
  head.reason = text.substr(reason_.begin, reason_.end - reason_.begin);
  LEAT_TRY(const Framing framing, framing_of(head.headers, head.version));
  if (framing.chunked && (head.status < 200 || head.status == 204)) {
    return fail(Errc::bad_request, "Transfer-Encoding in an answer that has no body");
  }
  head.content_length = framing.content_length;
  head.keep_alive = keeps_alive(head.headers, head.version);
  if (never_has_body(head.status, asked)) {
    head.body_end = BodyEnd::none;
  } else if (framing.chunked) {
    head.body_end = BodyEnd::chunked;
  } else if (framing.content_length) {
    head.body_end = BodyEnd::length;
  } else {
    head.body_end = BodyEnd::connection;
    head.keep_alive = false;
  }
  return {};
}

}  // namespace leat::http1
