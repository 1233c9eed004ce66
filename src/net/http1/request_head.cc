#include "http1/request_head.h"

#include <algorithm>

#include "base/check.h"
#include "http1/framing.h"
#include "http1/grammar.h"

namespace leat::http1 {
namespace {

std::string_view slice(std::string_view text, Line line) {
  return text.substr(line.begin, line.end - line.begin);
}

// A first byte that cannot start a request is refused at once: a client that speaks TLS to a plain
// port, for one, would otherwise wait for us while we wait for a line end.
Status check_first_byte(std::string_view text) {
  if (!text.empty() && !is_token_char(text.front()) && text.front() != '\r') {
    return fail(Errc::bad_request, "the first byte cannot start a request");
  }
  return {};
}

Result<Version> parse_version(std::string_view text) {
  if (text == "HTTP/1.1") return Version::http11;
  if (text == "HTTP/1.0") return Version::http10;
  const bool well_formed = text.size() == 8 && text.starts_with("HTTP/") && is_digit(text[5]) &&
                           text[6] == '.' && is_digit(text[7]);
  if (well_formed) return fail(Errc::version_not_supported, "HTTP version is not 1.0 or 1.1");
  return fail(Errc::bad_request, "request line does not end in an HTTP version");
}

// The part of an absolute-form target after "http://" or "https://"; empty for every other target.
std::string_view after_scheme(std::string_view target) {
  for (const std::string_view scheme :
       {std::string_view("http://"), std::string_view("https://")}) {
    if (equals_ignore_case(target.substr(0, scheme.size()), scheme)) {
      return target.substr(scheme.size());
    }
  }
  return {};
}

void split_path(std::string_view path_and_query, RequestHead& head) {
  const std::size_t mark = path_and_query.find('?');
  head.path = path_and_query.substr(0, mark);
  head.query =
      mark == std::string_view::npos ? std::string_view{} : path_and_query.substr(mark + 1);
  if (head.path.empty()) head.path = "/";
}

// Sets path, query and, for the absolute form, host.
Status split_target(RequestHead& head) {
  head.host = {};
  if (head.target.front() == '/') {
    split_path(head.target, head);
    return {};
  }
  if (head.target == "*") {
    if (head.method != Method::options) return fail(Errc::bad_request, "target * without OPTIONS");
    head.path = head.target;
    head.query = {};
    return {};
  }
  const std::string_view rest = after_scheme(head.target);
  const std::size_t host_end = std::min(rest.find_first_of("/?"), rest.size());
  head.host = rest.substr(0, host_end);
  if (!is_host(head.host)) return fail(Errc::bad_request, "request target of an unknown form");
  split_path(rest.substr(host_end), head);
  return {};
}

Status settle_host(RequestHead& head) {
  const std::size_t hosts = head.headers.count(Header::host);
  if (hosts > 1) return fail(Errc::bad_request, "more than one Host");
  if (hosts == 0) {
    if (head.version == Version::http10) return {};
    return fail(Errc::bad_request, "HTTP/1.1 request without Host");
  }
  const std::string_view host = *head.headers.find(Header::host);
  if (!is_host(host)) return fail(Errc::bad_request, "Host is not a host name");
  if (!head.host.empty() && !equals_ignore_case(host, head.host)) {
    return fail(Errc::bad_request, "Host differs from the host of the request target");
  }
  head.host = host;
  return {};
}

bool expects_continue(const HeaderBlock& headers, Version version) {
  bool found = false;
  headers.for_each(Header::expect, [&](std::string_view expectations) {
    for_each_element(expectations, [&](std::string_view expectation) {
      if (equals_ignore_case(expectation, "100-continue")) found = true;
    });
  });
  return found && version == Version::http11;  // HTTP/1.0 clients do not know interim answers
}

}  // namespace

RequestParser::RequestParser(Limits limits) : limits_(limits) {
  LEAT_CHECK(limits.head_max_bytes <= HeaderBlock::kTextMax);
  LEAT_CHECK(limits.target_max_bytes <= limits.head_max_bytes);
  LEAT_CHECK(limits.fields_max <= HeaderBlock::kCapacity);
}

Result<std::size_t> RequestParser::parse(std::string_view buffer, RequestHead& head) {
  const std::string_view text = buffer.substr(0, limits_.head_max_bytes);
  if (phase_ == Phase::fresh && !text.empty()) {
    LEAT_DO(check_first_byte(text));
    head.headers.clear();
    phase_ = Phase::request_line;
  }
  for (;;) {
    LEAT_TRY(const std::optional<Line> line, lines_.next(text));
    if (!line) break;
    if (phase_ == Phase::request_line) {
      LEAT_DO(take_request_line(text, *line, head));
    } else if (line->begin != line->end) {
      LEAT_DO(head.headers.add_line(text, *line, limits_.fields_max));
    } else {
      LEAT_DO(finish(text, head));
      const std::size_t size = lines_.line_begin();
      lines_.reset();
      phase_ = Phase::fresh;
      skipped_empty_line_ = false;
      return size;
    }
  }
  if (buffer.size() < limits_.head_max_bytes) return 0;
  if (phase_ == Phase::fields) return fail(Errc::head_too_large, "request head is too large");
  return fail(Errc::uri_too_long, "request line is too long");
}

Status RequestParser::take_request_line(std::string_view text, Line line, RequestHead& head) {
  if (line.begin == line.end) {
    if (skipped_empty_line_) return fail(Errc::bad_request, "empty lines before the request line");
    skipped_empty_line_ = true;
    return {};
  }
  std::size_t method_end = line.begin;
  while (method_end < line.end && is_token_char(text[method_end]))
    ++method_end;
  if (method_end == line.begin || method_end == line.end || text[method_end] != ' ') {
    return fail(Errc::bad_request, "request line does not start with a method and one space");
  }
  const std::size_t last_space = text.rfind(' ', line.end - 1);
  if (last_space == method_end) return fail(Errc::bad_request, "request line without a version");
  LEAT_TRY(head.version, parse_version(slice(text, {last_space + 1, line.end})));

  method_ = {line.begin, method_end};
  target_ = {method_end + 1, last_space};
  const std::string_view target = slice(text, target_);
  if (target.size() > limits_.target_max_bytes) {
    return fail(Errc::uri_too_long, "request target is too long");
  }
  if (target.empty() || !all_of_class(target, char_class::kTarget)) {
    return fail(Errc::bad_request, "byte that is not allowed in a request target");
  }
  phase_ = Phase::fields;
  return {};
}

Status RequestParser::finish(std::string_view text, RequestHead& head) const {
  head.headers.bind(text);
  head.method_text = slice(text, method_);
  head.method = method_from(head.method_text);
  head.target = slice(text, target_);
  LEAT_DO(split_target(head));
  LEAT_DO(settle_host(head));
  LEAT_TRY(const Framing framing, framing_of(head.headers, head.version));
  head.content_length = framing.content_length;
  head.chunked = framing.chunked;
  head.keep_alive = keeps_alive(head.headers, head.version);
  head.expects_continue = expects_continue(head.headers, head.version);
  return {};
}

}  // namespace leat::http1
