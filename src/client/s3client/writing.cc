// Operations that write objects: whole, as copies, and in parts.
#include <fmt/format.h>

#include "s3client/operations.h"
#include "sigv4/canonical.h"
#include "xml/writer.h"

namespace leat::s3client {
namespace {

constexpr std::string_view kNamespace = "http://s3.amazonaws.com/doc/2006-03-01/";
constexpr std::string_view kCrc64 = "x-amz-checksum-crc64nvme";

void add_content(Request& request, Content content) {
  if (!content.type.empty()) {
    request.fields.push_back({"Content-Type", std::move(content.type)});
  }
  for (auto& [name, value] : content.metadata)
    request.fields.push_back({"x-amz-meta-" + name, std::move(value)});
  for (auto& [name, value] : content.fields)
    request.fields.push_back({name, std::move(value)});
  if (!content.tags.empty()) {
    request.fields.push_back({"x-amz-tagging", std::move(content.tags)});
  }
}

void add_checksum(Request& request, const hash::ChecksumValue& checksum) {
  request.fields.push_back({std::string(hash::header_of(checksum.algorithm())), checksum.base64()});
}

std::string copy_source(const ObjectName& from) {
  return sigv4::canonical_path("/" + from.text()).substr(1);
}

Request part_request(const Upload& upload, std::uint32_t number) {
  Request request{.method = "PUT"};
  request.name = upload.name;
  request.query = {{"partNumber", std::to_string(number)}, {"uploadId", upload.id}};
  return request;
}

std::string completion_of(const std::vector<PartDone>& parts) {
  std::string body;
  xml::Writer xml(body);
  xml.open("CompleteMultipartUpload", kNamespace);
  for (const PartDone& part : parts) {
    xml.open("Part");
    xml.element("PartNumber", std::uint64_t{part.number});
    xml.element("ETag", std::string_view(fmt::format("\"{}\"", part.etag)));
    if (!part.crc64nvme.empty()) {
      xml.element("ChecksumCRC64NVME", std::string_view(part.crc64nvme));
    }
    xml.close();
  }
  xml.close();
  return body;
}

}  // namespace

rt::Task<std::string> put_object(S3Client& client, PutQuery query) {
  Request request{.method = "PUT"};
  request.name = std::move(query.name);
  request.body = query.bytes;
  add_checksum(request, query.checksum);
  add_content(request, std::move(query.content));
  if (query.if_absent) request.fields.push_back({"If-None-Match", "*"});
  LEAT_CO_TRY(const Answer answer, co_await client.ask(request));
  co_return std::string(without_quotes(answer.field("ETag")));
}

rt::Task<void> copy_object(S3Client& client, ObjectName from, ObjectName to, std::string etag) {
  Request request{.method = "PUT"};
  request.name = std::move(to);
  request.fields.push_back({"x-amz-copy-source", copy_source(from)});
  if (!etag.empty()) {
    request.fields.push_back({"x-amz-copy-source-if-match", '"' + etag + '"'});
  }
  LEAT_CO_TRY(const Answer answer, co_await client.ask(request));
  // S3 may find out that it failed after it has said 200.
  LEAT_CO_DO(parse_fields(answer.body));
  co_return Status{};
}

rt::Task<std::string> create_upload(S3Client& client, ObjectName name, Content content) {
  Request request{.method = "POST"};
  request.name = std::move(name);
  request.query = {{"uploads", ""}};
  request.fields = {{"x-amz-checksum-algorithm", "CRC64NVME"},
                    {"x-amz-checksum-type", "FULL_OBJECT"}};
  add_content(request, std::move(content));
  LEAT_CO_TRY(const Answer answer, co_await client.ask(request));
  co_return parse_upload_id(answer.body);
}

rt::Task<PartDone> upload_part(S3Client& client, Upload upload, std::uint32_t number, Bytes bytes,
                               hash::ChecksumValue checksum) {
  Request request = part_request(upload, number);
  request.body = bytes;
  add_checksum(request, checksum);
  LEAT_CO_TRY(const Answer answer, co_await client.ask(request));
  PartDone done{number, std::string(without_quotes(answer.field("ETag"))), checksum.base64()};
  co_return done;
}

rt::Task<PartDone> copy_part(S3Client& client, Upload upload, ObjectName from, PartRange range,
                             std::string etag) {
  Request request = part_request(upload, range.number);
  request.fields = {{"x-amz-copy-source", copy_source(from)},
                    {"x-amz-copy-source-range",
                     fmt::format("bytes={}-{}", range.offset, range.offset + range.length - 1)}};
  if (!etag.empty()) {
    request.fields.push_back({"x-amz-copy-source-if-match", '"' + etag + '"'});
  }
  LEAT_CO_TRY(const Answer answer, co_await client.ask(request));
  LEAT_CO_TRY(auto fields, parse_fields(answer.body));
  PartDone done{range.number, std::string(without_quotes(fields["ETag"])),
                fields["ChecksumCRC64NVME"]};
  co_return done;
}

rt::Task<std::vector<ListedPart>> list_parts(S3Client& client, Upload upload) {
  std::vector<ListedPart> all;
  Request request;
  request.name = upload.name;
  request.query = {{"uploadId", upload.id}};
  while (true) {
    LEAT_CO_TRY(const Answer answer, co_await client.ask(request));
    LEAT_CO_TRY(PartPage page, parse_parts(answer.body));
    for (ListedPart& part : page.parts)
      all.push_back(std::move(part));
    if (!page.next_marker) co_return all;
    request.query = {{"uploadId", upload.id},
                     {"part-number-marker", std::to_string(*page.next_marker)}};
  }
}

rt::Task<std::string> complete_upload(S3Client& client, Upload upload, std::vector<PartDone> parts,
                                      std::optional<hash::ChecksumValue> checksum) {
  const std::string body = completion_of(parts);
  Request request{.method = "POST"};
  request.name = upload.name;
  request.query = {{"uploadId", upload.id}};
  if (checksum) {
    request.fields = {{std::string(kCrc64), checksum->base64()},
                      {"x-amz-checksum-type", "FULL_OBJECT"}};
  }
  request.body = as_bytes(body);
  LEAT_CO_TRY(const Answer answer, co_await client.ask(request));
  LEAT_CO_TRY(auto fields, parse_fields(answer.body));
  co_return std::string(without_quotes(fields["ETag"]));
}

rt::Task<void> abort_upload(S3Client& client, Upload upload) {
  Request request{.method = "DELETE"};
  request.name = upload.name;
  request.query = {{"uploadId", upload.id}};
  LEAT_CO_DO(co_await client.ask(request));
  co_return Status{};
}

}  // namespace leat::s3client
