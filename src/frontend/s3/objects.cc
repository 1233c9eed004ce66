// Reading and deleting objects.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "http/representation.h"
#include "http1/grammar.h"
#include "s3/acl.h"
#include "s3/attributes.h"
#include "s3/configuration.h"
#include "s3/parts.h"
#include "s3/permission.h"
#include "s3/versions.h"
#include "store/shards.h"
#include "stored/body.h"
#include "xml/document.h"
#include "xml/writer.h"

namespace leat::s3 {
namespace {

using http::Response;

// How often an object may be replaced between finding and opening it before we give up.
constexpr int kRaces = 10;
constexpr std::size_t kDeletesMax = 1000;
constexpr std::size_t kNoteMaxBytes = 512;
constexpr VersionActions kDeletions{.of_object = access::Action::delete_object,
                                    .of_version = access::Action::delete_object_version};
constexpr std::size_t kDeletesMaxBytes = 2 * kMiB;  // a thousand of the longest keys

struct Override {
  std::string_view parameter;
  std::string_view field;
};
constexpr std::array kOverrides = {
    Override{"response-content-type", "content-type"},
    Override{"response-content-language", "content-language"},
    Override{"response-expires", "expires"},
    Override{"response-cache-control", "cache-control"},
    Override{"response-content-disposition", "content-disposition"},
    Override{"response-content-encoding", "content-encoding"},
};

// What the query says the answer's fields shall be, in the place of those stored.
S3Result<Attributes> with_overrides(const Call& call, Attributes attributes) {
  for (const Override& one : kOverrides) {
    const auto value = call.query(one.parameter);
    if (!value) continue;
    if (http1::find_control(*value, 0) != value->size()) {
      return refuse(S3Code::invalid_argument,
                    fmt::format("The value of {} is not valid.", one.parameter));
    }
    std::erase_if(attributes, [&one](const auto& stored) { return stored.name == one.field; });
    attributes.push_back({.name = std::string(one.field), .value = std::string(*value)});
  }
  return attributes;
}

// The answer for one part of an object that was uploaded in parts.
S3Result<http::ReadAnswer> answer_part(const Call& call, http::ReadAnswer whole,
                                       const record::Version& version) {
  if (call.exchange.head.headers.find(http1::Header::range)) {
    return refuse(S3Code::invalid_request,
                  "Cannot specify both Range header and partNumber query parameter");
  }
  const auto number = http1::parse_decimal(*call.query("partNumber"));
  if (!number || *number < 1 || *number > kPartNumberMax) {
    return refuse(S3Code::invalid_argument,
                  "Part number must be an integer between 1 and 10000, inclusive");
  }
  const auto sizes = find_attribute(version.attributes, kParts);
  const std::uint64_t count = sizes ? part_count(*sizes) : 1;
  if (*number > count) {
    return refuse(S3Code::invalid_part_number, "The requested partnumber is not satisfiable");
  }
  if (whole.response.status() != 200 || version.size_bytes == 0) return whole;
  PartPlace place{.offset = 0, .length = version.size_bytes};
  if (sizes) place = part_place(*sizes, *number);
  if (place.length == 0) {
    // The last part may be empty, and no Content-Range can say so.
    http::ReadAnswer empty{.response = Response(206)};
    empty.response.add_checked(whole.response.fields());
    empty.response.add_checked(fmt::format("x-amz-mp-parts-count: {}\r\n", count));
    return empty;
  }
  http::ReadAnswer part{.response = Response(206)};
  part.response.add_checked(whole.response.fields());
  if (sizes) part.response.add_checked(fmt::format("x-amz-mp-parts-count: {}\r\n", count));
  part.response.add_checked(fmt::format("Content-Range: bytes {}-{}/{}\r\n", place.offset,
                                        place.offset + place.length - 1, version.size_bytes));
  if (call.exchange.head.method == http1::Method::head) {
    part.response.declared_length = place.length;
  } else {
    part.range = http::ReadAnswer::Range{.offset = place.offset, .length = place.length};
  }
  return part;
}

S3Result<http::ReadAnswer> answer_found(const Call& call, const record::Version& version) {
  LEAT_TRY(const Attributes attributes, with_overrides(call, version.attributes));
  const std::string etag = fmt::format("\"{}\"", version.etag);
  const http::Representation selected{
      .etag = etag,
      .modified = WallTime(std::chrono::milliseconds(version.modified_ms)),
      .size_bytes = version.size_bytes,
      .content_type = find_attribute(attributes, "content-type").value_or("binary/octet-stream")};
  LEAT_TRY(http::ReadAnswer answer, told(http::answer_read(call.exchange.head, selected)));
  if (answer.response.status() == 416) {
    auto refusal = refuse(S3Code::invalid_range);
    refusal.error().details = {
        {"RangeRequested",
         std::string(call.exchange.head.headers.find(http1::Header::range).value_or(""))},
        {"ActualObjectSize", std::to_string(version.size_bytes)}};
    return refusal;
  }
  if (call.query("partNumber")) {
    LEAT_TRY(answer, answer_part(call, std::move(answer), version));
  }
  LEAT_DO(add_metadata(call, answer.response, attributes));
  const bool wants_checksum =
      http1::equals_ignore_case(call.field("x-amz-checksum-mode").value_or(""), "enabled");
  const auto part = call.query("partNumber");
  // Another range of the bytes has another checksum than the whole.
  if (wants_checksum && part) {
    LEAT_DO(
        add_part_checksum(answer.response, attributes, http1::parse_decimal(*part).value_or(0)));
  } else if (wants_checksum && answer.response.status() == 200) {
    LEAT_DO(add_checksum(answer.response, attributes));
  }
  return answer;
}

// What came in is told as it was seen then. Text that no header field can hold is left out: a note
// keeps nobody from the object.
void add_shard_note(Response& response, const record::Version& version) {
  const auto note = store::shard_note(version);
  if (!note) return;
  if (note->is_indexed) {
    response.add_checked(fmt::format("x-leat-shard-samples: {}\r\nx-leat-shard-members: {}\r\n",
                                     note->samples, note->members));
  }
  if (!note->problem.empty()) {
    const std::string_view text = std::string_view(note->problem).substr(0, kNoteMaxBytes);
    static_cast<void>(response.add("x-leat-shard-problem", text));
  }
}

struct Deletion {
  std::string key{};
  std::optional<store::VersionName> version{};
  std::optional<std::string> etag{};
};

struct Deletions {
  std::vector<Deletion> objects{};
  bool is_quiet = false;
};

S3Result<Deletion> deletion_in(xml::Element object) {
  Deletion deletion;
  const auto children = object.children();
  for (const xml::Element child : children) {
    if (child.name() == "Key" && deletion.key.empty()) {
      deletion.key = child.text();
    } else if (child.name() == "ETag") {
      deletion.etag = without_quotes(child.text());
    } else if (child.name() == "VersionId") {
      LEAT_TRY(deletion.version, version_name(child.text()));
    } else {
      return refuse(S3Code::malformed_xml);
    }
  }
  if (deletion.key.empty()) return refuse(S3Code::malformed_xml);
  return deletion;
}

S3Result<Deletions> deletions_in(const std::string& text) {
  const auto document = xml::Document::parse(as_bytes(text), {.size_max_bytes = kDeletesMaxBytes});
  if (!document || document->root().name() != "Delete") return refuse(S3Code::malformed_xml);
  Deletions deletions;
  const auto children = document->root().children();
  for (const xml::Element child : children) {
    if (child.name() == "Quiet") {
      deletions.is_quiet = child.text() == "true";
    } else if (child.name() == "Object" && deletions.objects.size() < kDeletesMax) {
      LEAT_TRY(Deletion one, deletion_in(child));
      deletions.objects.push_back(std::move(one));
    } else {
      return refuse(S3Code::malformed_xml);
    }
  }
  if (deletions.objects.empty()) return refuse(S3Code::malformed_xml);
  return deletions;
}

S3Task<Deleted> remove(Call& call, Deletion one) {
  if (one.key.size() > record::kKeyMaxBytes) co_return refuse(S3Code::key_too_long);
  record::ObjectKey object{.bucket = call.bucket.id, .key = std::move(one.key)};
  co_return co_await delete_version(call, std::move(object), one.version, std::move(one.etag));
}

void write_deleted(xml::Writer& xml, const Deletion& one, const Deleted& deleted) {
  xml.open("Deleted");
  xml.element("Key", one.key);
  if (one.version) xml.element("VersionId", store::to_text(*one.version));
  if (deleted.is_marker) {
    xml.element("DeleteMarker", true);
    xml.element("DeleteMarkerVersionId", *deleted.version);
  }
  xml.close();
}

void write_refused(xml::Writer& xml, const Deletion& one, const S3Error& error) {
  xml.open("Error");
  xml.element("Key", one.key);
  if (one.version) xml.element("VersionId", store::to_text(*one.version));
  xml.element("Code", s3error::text_of(error.code));
  xml.element("Message", error.message);
  xml.close();
}

}  // namespace

Answer read_object(Call& call) {
  for (int race = 0;; ++race) {
    LEAT_CO_TRY(const store::Found found, co_await find_object(call));
    if (call.only_if_public && !is_public(found.version)) co_return refuse(S3Code::access_denied);
    LEAT_CO_TRY(http::ReadAnswer answer, answer_found(call, found.version));
    add_version_id(answer.response, call.bucket, found.version);
    add_expiration(call, found.version, answer.response);
    add_shard_note(answer.response, found.version);
    if (answer.range) {
      const volume::ByteRange range{.offset = answer.range->offset, .length = answer.range->length};
      auto body = co_await call.store().read(found, range);
      // Replaced and cleaned away since it was found: there is a newer answer.
      if (!body && body.error().code() == Errc::not_found && race < kRaces) continue;
      if (!body) co_return std::unexpected(told(body.error(), S3Code::no_such_key));
      stored::set_body(answer.response, std::move(*body), range.length);
    }
    co_return std::move(answer.response);
  }
}

Answer delete_object(Call& call) {
  LEAT_CO_TRY(auto precondition, precondition_of(call));
  if (precondition.must_be_absent) {
    co_return refuse(S3Code::not_implemented, "If-None-Match of a deletion; use If-Match.");
  }
  LEAT_CO_TRY(const auto version, version_in(call));
  Deletion deletion{
      .key = call.target.key, .version = version, .etag = std::move(precondition.etag)};
  LEAT_CO_TRY(const Deleted deleted, co_await remove(call, std::move(deletion)));
  Response response(204);
  if (deleted.is_marker) response.add_checked("x-amz-delete-marker: true\r\n");
  if (deleted.version) {
    response.add_checked(fmt::format("x-amz-version-id: {}\r\n", *deleted.version));
  }
  co_return response;
}

Answer delete_objects(Call& call) {
  const DocumentForm form{.max_bytes = kDeletesMaxBytes};
  LEAT_CO_TRY(const std::string text, co_await read_document(call, form));
  LEAT_CO_TRY(const Deletions deletions, deletions_in(text));
  std::string body;
  xml::Writer xml(body);
  xml.open("DeleteResult", kNamespace);
  for (const Deletion& one : deletions.objects) {
    S3Result<Deleted> deleted = refuse(S3Code::access_denied);
    const Target target{.bucket = call.target.bucket, .key = one.key};
    if (grant_of(call, kDeletions, one.version.has_value(), target) == Grant::allowed) {
      deleted = co_await remove(call, one);
    }
    if (!deleted) {
      write_refused(xml, one, deleted.error());
    } else if (!deletions.is_quiet) {
      write_deleted(xml, one, *deleted);
    }
  }
  xml.close();
  co_return xml_answer(200, std::move(body));
}

}  // namespace leat::s3
