#include "sigv4/request.h"

#include "http1/grammar.h"

namespace leat::sigv4 {

S3Result<std::optional<std::string_view>> Request::header(std::string_view name) const {
  std::optional<std::string_view> found;
  for (const http1::HeaderField& field : headers) {
    if (!http1::equals_ignore_case(field.name, name)) continue;
    if (found) return refuse(S3Code::invalid_request, "Several headers " + std::string(name));
    found = field.value;
  }
  return found;
}

S3Result<Request> request_of(const http1::RequestHead& head) {
  auto path = http1::percent_decode(head.path);
  if (!path) return refuse(S3Code::invalid_uri, "Couldn't parse the specified URI.");
  auto query = http1::parse_query(head.query);
  if (!query) return refuse(S3Code::invalid_uri, std::string(query.error().detail()));
  Request request{.method = head.method_text, .path = *std::move(path), .query = *std::move(query)};
  request.headers.reserve(head.headers.size());
  for (const http1::HeaderField field : head.headers)
    request.headers.push_back(field);
  return request;
}

}  // namespace leat::sigv4
