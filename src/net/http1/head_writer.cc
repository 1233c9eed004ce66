#include "http1/head_writer.h"

#include <array>
#include <charconv>

#include "base/check.h"
#include "http1/grammar.h"

namespace leat::http1 {
namespace {

constexpr std::string_view kVersion = "HTTP/1.1 ";

// The answers of every day, ready to copy.
constexpr std::string_view status_line(int status) {
  switch (status) {
    case 100: return "HTTP/1.1 100 Continue\r\n";
    case 200: return "HTTP/1.1 200 OK\r\n";
    case 201: return "HTTP/1.1 201 Created\r\n";
    case 202: return "HTTP/1.1 202 Accepted\r\n";
    case 204: return "HTTP/1.1 204 No Content\r\n";
    case 206: return "HTTP/1.1 206 Partial Content\r\n";
    case 301: return "HTTP/1.1 301 Moved Permanently\r\n";
    case 302: return "HTTP/1.1 302 Found\r\n";
    case 303: return "HTTP/1.1 303 See Other\r\n";
    case 304: return "HTTP/1.1 304 Not Modified\r\n";
    case 307: return "HTTP/1.1 307 Temporary Redirect\r\n";
    case 308: return "HTTP/1.1 308 Permanent Redirect\r\n";
    case 400: return "HTTP/1.1 400 Bad Request\r\n";
    case 401: return "HTTP/1.1 401 Unauthorized\r\n";
    case 403: return "HTTP/1.1 403 Forbidden\r\n";
    case 404: return "HTTP/1.1 404 Not Found\r\n";
    case 405: return "HTTP/1.1 405 Method Not Allowed\r\n";
    case 408: return "HTTP/1.1 408 Request Timeout\r\n";
    case 409: return "HTTP/1.1 409 Conflict\r\n";
    case 410: return "HTTP/1.1 410 Gone\r\n";
    case 411: return "HTTP/1.1 411 Length Required\r\n";
    case 412: return "HTTP/1.1 412 Precondition Failed\r\n";
    case 413: return "HTTP/1.1 413 Content Too Large\r\n";
    case 414: return "HTTP/1.1 414 URI Too Long\r\n";
    case 416: return "HTTP/1.1 416 Range Not Satisfiable\r\n";
    case 417: return "HTTP/1.1 417 Expectation Failed\r\n";
    case 429: return "HTTP/1.1 429 Too Many Requests\r\n";
    case 431: return "HTTP/1.1 431 Request Header Fields Too Large\r\n";
    case 499: return "HTTP/1.1 499 Client Closed Request\r\n";
    case 500: return "HTTP/1.1 500 Internal Server Error\r\n";
    case 501: return "HTTP/1.1 501 Not Implemented\r\n";
    case 502: return "HTTP/1.1 502 Bad Gateway\r\n";
    case 503: return "HTTP/1.1 503 Service Unavailable\r\n";
    case 504: return "HTTP/1.1 504 Gateway Timeout\r\n";
    case 505: return "HTTP/1.1 505 HTTP Version Not Supported\r\n";
    case 507: return "HTTP/1.1 507 Insufficient Storage\r\n";
    default: return {};
  }
}

}  // namespace

std::string_view reason_of(int status) {
  std::string_view line = status_line(status);
  if (line.empty()) return {};
  line.remove_prefix(kVersion.size() + 4);
  line.remove_suffix(2);
  return line;
}

void append_decimal(std::string& out, std::uint64_t value) {
  std::array<char, 20> digits;  // as many as 2^64 - 1 has
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

Status append_field(std::string& out, std::string_view name, std::string_view value) {
  if (!is_token(name)) return fail(Errc::bad_request, "header name is not a token");
  if (find_control(value, 0) != value.size()) {
    return fail(Errc::bad_request, "header value has a control byte");
  }
  out.append(name).append(": ").append(value).append("\r\n");
  return {};
}

void HeadWriter::field(std::string_view name, std::uint64_t value) {
  LEAT_CHECK(is_token(name));
  out_.append(name).append(": ");
  append_decimal(out_, value);
  out_.append("\r\n");
}

ResponseHeadWriter::ResponseHeadWriter(std::string& out, int status) : HeadWriter(out) {
  LEAT_CHECK(status >= 100 && status <= 599);
  const std::string_view line = status_line(status);
  if (!line.empty()) {
    out.append(line);
    return;
  }
  out.append(kVersion);
  append_decimal(out, static_cast<std::uint64_t>(status));
  out.append(" \r\n");
}

Status RequestHeadWriter::start(std::string_view method, std::string_view target) {
  if (!is_token(method)) return fail(Errc::bad_request, "method is not a token");
  if (target.empty() || !all_of_class(target, char_class::kTarget)) {
    return fail(Errc::bad_request, "byte that is not allowed in a request target");
  }
  out_.append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
  return {};
}

}  // namespace leat::http1
