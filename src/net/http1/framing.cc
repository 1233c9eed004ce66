#include "http1/framing.h"

#include "http1/grammar.h"

namespace leat::http1 {

Result<Framing> framing_of(const HeaderBlock& headers, Version version) {
  const std::size_t lengths = headers.count(Header::content_length);
  const std::size_t encodings = headers.count(Header::transfer_encoding);
  Framing framing;
  if (lengths != 0 && encodings != 0) {
    return fail(Errc::bad_request, "both Content-Length and Transfer-Encoding");
  }
  if (lengths > 1) return fail(Errc::bad_request, "more than one Content-Length");
  if (lengths == 1) {
    framing.content_length = parse_decimal(*headers.find(Header::content_length));
    if (!framing.content_length) {
      return fail(Errc::bad_request, "Content-Length is not a decimal number of 64 bits");
    }
  }
  if (encodings > 1) return fail(Errc::bad_request, "more than one Transfer-Encoding");
  if (encodings == 1) {
    if (version == Version::http10) {
      return fail(Errc::bad_request, "Transfer-Encoding with HTTP/1.0");
    }
    if (!equals_ignore_case(*headers.find(Header::transfer_encoding), "chunked")) {
      return fail(Errc::bad_request, "Transfer-Encoding is not exactly \"chunked\"");
    }
    framing.chunked = true;
  }
  return framing;
}

bool keeps_alive(const HeaderBlock& headers, Version version) {
  bool close = false;
  bool keep_alive = version == Version::http11;
  headers.for_each(Header::connection, [&](std::string_view options) {
    for_each_element(options, [&](std::string_view option) {
      if (equals_ignore_case(option, "close")) close = true;
      if (equals_ignore_case(option, "keep-alive")) keep_alive = true;
    });
  });
  return keep_alive && !close;
}

}  // namespace leat::http1
