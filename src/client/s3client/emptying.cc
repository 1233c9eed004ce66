// Operations that empty buckets: versions, uploads that nobody completed, many keys at once.
#include <utility>

#include "s3client/operations.h"
#include "xml/unicode.h"
#include "xml/writer.h"

namespace leat::s3client {
namespace {

constexpr std::string_view kNamespace = "http://s3.amazonaws.com/doc/2006-03-01/";

// True if XML can say it and every parser reads the same.
bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    const xml::CodePoint first = xml::first_code_point(text);
    if (first.size == 0 || !xml::is_xml_char(first.value) || first.value == '\r') return false;
    text.remove_prefix(first.size);
  }
  return true;
}

// The next page of a listing that goes on behind two markers.
Request page_request(std::string bucket, std::string selector, std::string id_marker,
                     ListMarker after) {
  Request request;
  request.name.bucket = std::move(bucket);
  request.query = {{std::move(selector), ""}, {"encoding-type", "url"}};
  if (!after.key.empty()) request.query.push_back({"key-marker", std::move(after.key)});
  if (!after.id.empty()) request.query.push_back({std::move(id_marker), std::move(after.id)});
  return request;
}

rt::Task<void> delete_one(S3Client& client, ObjectName name, std::string version) {
  Request request{.method = "DELETE"};
  request.name = std::move(name);
  if (!version.empty()) request.query = {{"versionId", std::move(version)}};
  LEAT_CO_DO(co_await client.ask(request));
  co_return Status{};
}

}  // namespace

rt::Task<bool> keeps_versions(S3Client& client, std::string bucket) {
  Request request;
  request.name.bucket = std::move(bucket);
  request.query = {{"versioning", ""}};
  const auto answer = co_await client.ask(request);
  if (!answer && answer.error().code() == Errc::not_implemented) co_return false;
  if (!answer) co_return fail(answer.error().clone());
  LEAT_CO_TRY(const auto fields, parse_fields(answer->body));
  co_return fields.contains("Status");
}

rt::Task<VersionPage> list_versions(S3Client& client, std::string bucket, ListMarker after) {
  const Request request =
      page_request(std::move(bucket), "versions", "version-id-marker", std::move(after));
  LEAT_CO_TRY(const Answer answer, co_await client.ask(request));
  co_return parse_versions(answer.body);
}

rt::Task<UploadPage> list_uploads(S3Client& client, std::string bucket, ListMarker after) {
  const Request request =
      page_request(std::move(bucket), "uploads", "upload-id-marker", std::move(after));
  LEAT_CO_TRY(const Answer answer, co_await client.ask(request));
  co_return parse_uploads(answer.body);
}

rt::Task<std::vector<FailedDelete>> delete_objects(S3Client& client, std::string bucket,
                                                   std::vector<std::string> keys,
                                                   std::vector<std::string> versions) {
  versions.resize(keys.size());
  std::vector<FailedDelete> failed;
  std::vector<std::size_t> odd;  // what XML cannot name goes one by one
  std::string body;
  xml::Writer xml(body);
  xml.open("Delete", kNamespace);
  xml.element("Quiet", true);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!is_plain_text(keys[i])) {
      odd.push_back(i);
      continue;
    }
    xml.open("Object");
    xml.element("Key", std::string_view(keys[i]));
    if (!versions[i].empty()) xml.element("VersionId", std::string_view(versions[i]));
    xml.close();
  }
  xml.close();
  if (odd.size() < keys.size()) {
    Request request{.method = "POST"};
    request.name.bucket = bucket;
    request.query = {{"delete", ""}};
    hash::Checksum checksum(hash::ChecksumAlgorithm::crc64nvme);
    checksum.update(as_bytes(body));
    request.fields = {{"x-amz-checksum-crc64nvme", checksum.finish().base64()}};
    request.body = as_bytes(body);
    LEAT_CO_TRY(const Answer answer, co_await client.ask(request));
    LEAT_CO_TRY(failed, parse_failed_deletes(answer.body));
  }
  for (const std::size_t i : odd) {
    ObjectName name{bucket, keys[i]};
    const Status gone = co_await delete_one(client, std::move(name), std::move(versions[i]));
    if (!gone) failed.push_back({std::move(keys[i]), std::string(gone.error().detail())});
  }
  co_return failed;
}

}  // namespace leat::s3client
