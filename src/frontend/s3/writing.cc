// PutObject and CopyObject.
#include <fmt/format.h>

#include "s3/acl.h"
#include "s3/attributes.h"
#include "s3/configuration.h"
#include "s3/etag.h"
#include "s3/transfer.h"
#include "s3/versions.h"
#include "xml/writer.h"

namespace leat::s3 {
namespace {

using http::Response;

enum class Directive : std::uint8_t { copy, replace };

S3Result<Directive> directive_in(const Call& call, std::string_view field) {
  const std::string_view word = call.field(field).value_or("COPY");
  if (word == "COPY") return Directive::copy;
  if (word == "REPLACE") return Directive::replace;
  return refuse(S3Code::invalid_argument, fmt::format("Unknown {}.", field));
}

// The attributes of a copy, but for its checksum.
S3Result<Attributes> attributes_of_copy(const Call& call, const Attributes& source,
                                        Directive metadata) {
  LEAT_TRY(const Directive tagging, directive_in(call, "x-amz-tagging-directive"));
  Attributes attributes;
  if (metadata == Directive::replace) {
    LEAT_TRY(attributes, metadata_in(call));
  } else {
    for (const record::Attribute& one : source) {
      if (is_metadata(one.name)) attributes.push_back(one);
    }
  }
  std::optional<std::string> tags;
  if (tagging == Directive::replace) {
    LEAT_TRY(tags, tagging_in(call));
  } else if (const auto stored = find_attribute(source, kTagging)) {
    tags = *stored;
  }
  if (tags) attributes.push_back({.name = std::string(kTagging), .value = *std::move(tags)});
  return attributes;
}

// Tags that a copy takes along are read there and written here.
S3Status check_tags_of_copy(const Call& call, const CopySource& source,
                            const Attributes& attributes) {
  if (!find_attribute(attributes, kTagging)) return {};
  const access::Action reading = source.is_version ? access::Action::get_object_version_tagging
                                                   : access::Action::get_object_tagging;
  const bool may_read = call.field("x-amz-tagging-directive") == "REPLACE" ||
                        call.may(reading, source.target.bucket, source.target.key);
  const Target& target = call.target;
  if (may_read && call.may(access::Action::put_object_tagging, target.bucket, target.key)) {
    return {};
  }
  return refuse(S3Code::access_denied);
}

}  // namespace

Answer put_object(Call& call) {
  const http1::RequestHead& head = call.exchange.head;
  if (head.headers.find("content-range")) {
    co_return refuse(S3Code::not_implemented, "A part of an object cannot be written.");
  }
  const s3body::HttpFraming framing{.content_length = head.content_length, .chunked = head.chunked};
  LEAT_CO_TRY(auto plan, s3body::plan_upload(call.caller.request, call.caller.payload, framing));
  const std::optional<std::uint64_t> size = plan.size;
  if (size.value_or(0) > kPutMaxBytes) co_return refuse(S3Code::entity_too_large);
  store::PutDetails details;
  LEAT_CO_TRY(details.attributes, metadata_in(call));
  LEAT_CO_TRY(auto tags, tagging_in(call));
  if (tags)
    details.attributes.push_back({.name = std::string(kTagging), .value = *std::move(tags)});
  LEAT_CO_DO(note_acl(call, details.attributes));
  LEAT_CO_TRY(details.precondition, precondition_of(call));
  const volume::Precondition precondition = details.precondition;
  plan.makes_md5 = !has_fast_etags(call.bucket);
  LEAT_CO_TRY(auto reader, s3body::BodyReader::create(std::move(plan), call.caller.chain));

  auto beginning = call.store().begin_put(call.object(), size);
  LEAT_CO_TRY(auto put, told(co_await std::move(beginning), S3Code::no_such_bucket));
  LEAT_CO_TRY(const auto digests, co_await receive(call, *put, reader));
  details.etag = etag_of(digests);
  set_checksum(details.attributes, digests.checksum);
  const auto version = co_await put->finish(std::move(details));
  if (!version) {
    LEAT_CO_TRY(S3Error refusal, co_await refusal_of_change(call, version.error(), precondition));
    co_return std::unexpected(std::move(refusal));
  }
  Response response(200);
  response.add_checked(fmt::format("ETag: \"{}\"\r\n", version->etag));
  LEAT_CO_DO(add_checksum(response, version->attributes));
  add_version_id(response, call.bucket, *version);
  add_expiration(call, *version, response);
  co_return response;
}

Answer copy_object(Call& call) {
  LEAT_CO_TRY(const Directive metadata, directive_in(call, "x-amz-metadata-directive"));
  LEAT_CO_TRY(const auto asked, algorithm_in(call, kChecksumAlgorithm));
  LEAT_CO_TRY(const CopySource source, co_await find_copy_source(call));
  const record::Version& original = source.found.version;
  const bool changes =
      metadata == Directive::replace || call.field("x-amz-tagging-directive") == "REPLACE" || asked;
  // An old version that is copied onto its object becomes the newest one.
  if (source.target == call.target && !source.is_version && !changes) {
    co_return refuse(S3Code::invalid_request,
                     "This copy request is illegal because it is trying to copy an object to "
                     "itself without changing the object's metadata, storage class, website "
                     "redirect location or encryption attributes.");
  }
  if (original.size_bytes > kPutMaxBytes) {
    co_return refuse(S3Code::invalid_request,
                     "The specified copy source is larger than the maximum allowable size for a "
                     "copy source: 5368709120");
  }
  store::PutDetails details;
  LEAT_CO_TRY(details.attributes, attributes_of_copy(call, original.attributes, metadata));
  LEAT_CO_DO(check_tags_of_copy(call, source, details.attributes));
  LEAT_CO_DO(note_acl(call, details.attributes));
  LEAT_CO_TRY(details.precondition, precondition_of(call));
  const volume::Precondition precondition = details.precondition;
  hash::ChecksumAlgorithm algorithm = hash::ChecksumAlgorithm::crc64nvme;
  if (const auto stored = checksum_of(original.attributes)) algorithm = stored->algorithm;
  algorithm = asked.value_or(algorithm);

  auto beginning = call.store().begin_put(call.object(), original.size_bytes);
  LEAT_CO_TRY(auto put, told(co_await std::move(beginning), S3Code::no_such_bucket));
  const CopyPlan plan{.range = {.offset = 0, .length = original.size_bytes},
                      .algorithm = algorithm,
                      .has_fast_etag = has_fast_etags(call.bucket)};
  auto copying = copy_into(call.store(), source.found, plan, *put);
  LEAT_CO_TRY(const CopyDigests digests, co_await std::move(copying));
  details.etag = digests.etag;
  set_checksum(details.attributes, digests.checksum);
  const auto version = co_await put->finish(std::move(details));
  if (!version) {
    LEAT_CO_TRY(S3Error refusal, co_await refusal_of_change(call, version.error(), precondition));
    co_return std::unexpected(std::move(refusal));
  }
  std::string body;
  xml::Writer xml(body);
  xml.open("CopyObjectResult", kNamespace);
  xml.element("LastModified", iso_time(version->modified_ms));
  xml.element("ETag", fmt::format("\"{}\"", version->etag));
  xml.element("ChecksumType", kFullObject);
  xml.element(fmt::format("Checksum{}", hash::word_of(algorithm)), digests.checksum.base64());
  xml.close();
  Response response = xml_answer(200, std::move(body));
  add_version_id(response, call.bucket, *version);
  add_version_id(response, source.bucket, original, "x-amz-copy-source-version-id");
  add_expiration(call, *version, response);
  co_return response;
}

}  // namespace leat::s3
