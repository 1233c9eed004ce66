#include "http/representation.h"

#include "http1/conditional.h"
#include "http1/date.h"
#include "http1/head_writer.h"
#include "http1/range.h"

namespace leat::http {
namespace {

// Everything about the version that is served; the caller's values are known to be clean.
void add_identity(Response& response, const Representation& selected) {
  std::string fields;
  fields.reserve(192);
  fields.append("ETag: ").append(selected.etag).append("\r\nLast-Modified: ");
  fields.append(http1::DateText(selected.modified).text());
  fields.append("\r\nAccept-Ranges: bytes\r\nContent-Type: ").append(selected.content_type);
  fields.append("\r\n");
  response.add_checked(fields);
}

// The Range field, unless If-Range says that it was meant for another version: then the client has
// the beginning of that one and must get all of this. Only an entity tag names a version exactly.
std::string_view range_of(const http1::RequestHead& head, const Representation& selected) {
  const auto meant_for = head.headers.find("if-range");
  if (meant_for && *meant_for != selected.etag) return "";
  return head.headers.find(http1::Header::range).value_or("");
}

}  // namespace

Result<ReadAnswer> answer_read(const http1::RequestHead& head, const Representation& selected) {
  LEAT_TRY(const auto conditions, http1::conditions_of(head.headers));
  const http1::Selected version{
      .exists = true, .etag = selected.etag, .last_modified = selected.modified};
  switch (http1::evaluate(conditions, version, head.method)) {
    case http1::Verdict::proceed: break;
    case http1::Verdict::precondition_failed: return fail(Errc::precondition_failed);
    case http1::Verdict::not_modified: {
      ReadAnswer unchanged{.response = Response(304)};
      add_identity(unchanged.response, selected);
      return unchanged;
    }
  }
  const std::uint64_t size = selected.size_bytes;
  if (head.method == http1::Method::head) {
    // Range means nothing to HEAD (RFC 9110, 14.2), and nothing of the object is read.
    ReadAnswer answer{.response = Response(200)};
    add_identity(answer.response, selected);
    answer.response.declared_length = size;
    return answer;
  }
  const auto range = http1::parse_range(range_of(head, selected), size);
  std::string content_range;
  if (range.kind != http1::RangeChoice::Kind::whole) {
    content_range = "Content-Range: ";
    http1::append_content_range(content_range, range, size);
    content_range += "\r\n";
  }
  if (range.kind == http1::RangeChoice::Kind::unsatisfiable) {
    ReadAnswer outside{.response = Response::of_error(Error(Errc::range_not_satisfiable))};
    outside.response.add_checked(content_range);
    return outside;
  }
  const bool whole = range.kind == http1::RangeChoice::Kind::whole;
  ReadAnswer answer{.response = Response(whole ? 200 : 206)};
  add_identity(answer.response, selected);
  answer.response.add_checked(content_range);
  const std::uint64_t length = whole ? size : range.last - range.first + 1;
  if (length > 0) answer.range = ReadAnswer::Range{.offset = range.first, .length = length};
  return answer;
}

}  // namespace leat::http
