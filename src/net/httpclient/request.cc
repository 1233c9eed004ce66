#include "httpclient/request.h"

#include "http1/grammar.h"
#include "http1/head_writer.h"
#include "http1/message.h"

namespace leat::httpclient {
namespace {

bool is_the_clients(std::string_view name) {
  switch (http1::header_from(name)) {
    case http1::Header::connection:
    case http1::Header::content_length:
    case http1::Header::expect:
    case http1::Header::transfer_encoding: return true;
    default: return http1::equals_ignore_case(name, "Upgrade");
  }
}

// A body without length and chunks would end the request. No body is said aloud where one is usual.
void write_framing(const Request& request, std::string& out, http1::HeadWriter& head) {
  if (const auto* bytes = std::get_if<Bytes>(&request.body)) {
    head.field("Content-Length", std::uint64_t{bytes->size()});
  } else if (const auto* streamed = std::get_if<StreamedBody>(&request.body)) {
    if (streamed->length) {
      head.field("Content-Length", *streamed->length);
    } else {
      out.append("Transfer-Encoding: chunked\r\n");
    }
  } else if (request.method == "PUT" || request.method == "POST") {
    head.field("Content-Length", std::uint64_t{0});
  }
}

}  // namespace

Result<std::string> write_head(const Request& request) {
  std::string out;
  http1::RequestHeadWriter head(out);
  LEAT_DO(head.start(request.method, request.target));
  bool has_host = false;
  for (const Field& field : request.fields) {
    if (is_the_clients(field.name)) {
      return fail(Errc::bad_request, "the client writes this field itself: " + field.name);
    }
    has_host = has_host || http1::header_from(field.name) == http1::Header::host;
    LEAT_DO(head.field(field.name, field.value));
  }
  if (!has_host) LEAT_DO(head.field("Host", request.address.to_string()));
  write_framing(request, out, head);
  const bool has_body = !std::holds_alternative<std::monostate>(request.body);
  if (request.expect_continue && has_body) out.append("Expect: 100-continue\r\n");
  head.finish();
  return out;
}

bool is_replayable(const Request& request) {
  if (std::holds_alternative<StreamedBody>(request.body)) return false;
  switch (http1::method_from(request.method)) {
    case http1::Method::get:
    case http1::Method::head:
    case http1::Method::put:
    case http1::Method::delete_:
    case http1::Method::options: return true;
    case http1::Method::post:
    case http1::Method::other: break;
  }
  return false;
}

}  // namespace leat::httpclient
