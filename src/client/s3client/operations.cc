// Buckets, listings, reading and removing objects. Writing is in writing.cc, removing many in
// emptying.cc.
#include "s3client/operations.h"

#include <fmt/format.h>

#include <array>

#include "base/check.h"
#include "http1/date.h"
#include "http1/grammar.h"
#include "http1/uri.h"
#include "xml/writer.h"

namespace leat::s3client {
namespace {

constexpr std::string_view kNamespace = "http://s3.amazonaws.com/doc/2006-03-01/";
constexpr std::string_view kMeta = "x-amz-meta-";
// Beside the type: what a copy has of its source, and an upload must be told.
constexpr std::array<std::string_view, 5> kContentFields = {
    "Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Expires"};

std::optional<hash::ChecksumValue> whole_checksum(const http1::HeaderBlock& headers) {
  const auto type = headers.find("x-amz-checksum-type");
  if (type && *type != "FULL_OBJECT") return std::nullopt;
  for (const hash::ChecksumAlgorithm algorithm : hash::kChecksumAlgorithms) {
    const auto text = headers.find(hash::header_of(algorithm));
    if (!text) continue;
    // A composite one ends in "-3" and is no base64.
    if (auto value = hash::ChecksumValue::from_base64(algorithm, *text)) return value;
  }
  return std::nullopt;
}

}  // namespace

rt::Task<std::vector<BucketItem>> list_buckets(S3Client& client) {
  std::vector<BucketItem> all;
  Request request;
  while (true) {
    LEAT_CO_TRY(const Answer answer, co_await client.ask(request));
    LEAT_CO_TRY(BucketPage page, parse_buckets(answer.body));
    for (BucketItem& bucket : page.buckets)
      all.push_back(std::move(bucket));
    if (page.continuation.empty()) co_return all;
    request.query = {{"continuation-token", page.continuation}};
  }
}

rt::Task<void> head_bucket(S3Client& client, std::string bucket) {
  Request request{.method = "HEAD"};
  request.name.bucket = std::move(bucket);
  LEAT_CO_DO(co_await client.ask(request));
  co_return Status{};
}

rt::Task<void> create_bucket(S3Client& client, std::string bucket, std::string region) {
  Request request{.method = "PUT"};
  request.name.bucket = std::move(bucket);
  std::string body;
  if (!region.empty() && region != "us-east-1") {
    xml::Writer xml(body);
    xml.open("CreateBucketConfiguration", kNamespace);
    xml.element("LocationConstraint", std::string_view(region));
    xml.close();
    request.body = as_bytes(body);
  }
  LEAT_CO_DO(co_await client.ask(request));
  co_return Status{};
}

rt::Task<void> delete_bucket(S3Client& client, std::string bucket) {
  Request request{.method = "DELETE"};
  request.name.bucket = std::move(bucket);
  LEAT_CO_DO(co_await client.ask(request));
  co_return Status{};
}

rt::Task<ObjectPage> list_objects(S3Client& client, ListQuery query) {
  Request request;
  request.name.bucket = std::move(query.bucket);
  request.query = {{"list-type", "2"}, {"encoding-type", "url"}};
  const auto add = [&request](std::string name, std::string value) {
    if (!value.empty()) request.query.push_back({std::move(name), std::move(value)});
  };
  add("prefix", std::move(query.prefix));
  add("delimiter", std::move(query.delimiter));
  add("continuation-token", std::move(query.continuation));
  add("max-keys", std::to_string(query.keys_max));
  LEAT_CO_TRY(const Answer answer, co_await client.ask(request));
  co_return parse_objects(answer.body);
}

ObjectHead head_of(const httpclient::Response& response) {
  const http1::HeaderBlock& headers = response.headers();
  ObjectHead head;
  head.size_bytes = response.content_length().value_or(0);
  if (const auto date = headers.find("Last-Modified")) {
    head.modified = http1::parse_date(*date).value_or(WallTime{});
  }
  head.etag = without_quotes(headers.find("ETag").value_or(""));
  head.content.type = headers.find("Content-Type").value_or("");
  for (const std::string_view name : kContentFields) {
    if (const auto value = headers.find(name)) head.content.fields.emplace_back(name, *value);
  }
  for (const http1::HeaderField field : headers) {
    if (field.name.size() > kMeta.size() &&
        http1::equals_ignore_case(field.name.substr(0, kMeta.size()), kMeta)) {
      head.content.metadata.emplace_back(field.name.substr(kMeta.size()), field.value);
    }
  }
  head.checksum = whole_checksum(headers);
  return head;
}

rt::Task<ObjectHead> head_object(S3Client& client, ObjectName name) {
  Request request{.method = "HEAD"};
  request.name = std::move(name);
  request.fields.push_back({"x-amz-checksum-mode", "ENABLED"});
  LEAT_CO_TRY(const Answer answer, co_await client.ask(request));
  co_return head_of(answer.response);
}

rt::Task<std::string> get_tags(S3Client& client, ObjectName name) {
  Request request;
  request.name = std::move(name);
  request.query = {{"tagging", ""}};
  const auto answer = co_await client.ask(request);
  if (!answer && answer.error().code() == Errc::not_implemented) co_return std::string();
  if (!answer) co_return fail(answer.error().clone());
  LEAT_CO_TRY(const auto tags, parse_tags(answer->body));
  std::string text;
  for (const auto& [key, value] : tags) {
    if (!text.empty()) text += '&';
    http1::append_percent_encoded(text, key, http1::Slash::encode);
    text += '=';
    http1::append_percent_encoded(text, value, http1::Slash::encode);
  }
  co_return text;
}

rt::Task<httpclient::Response> open_object(S3Client& client, GetQuery query) {
  Request request;
  request.name = std::move(query.name);
  if (query.length) {
    LEAT_CHECK(*query.length > 0);
    request.fields.push_back(
        {"Range", fmt::format("bytes={}-{}", query.offset, query.offset + *query.length - 1)});
  } else if (query.offset > 0) {
    request.fields.push_back({"Range", fmt::format("bytes={}-", query.offset)});
  } else {
    request.fields.push_back({"x-amz-checksum-mode", "ENABLED"});
  }
  if (!query.etag.empty()) request.fields.push_back({"If-Match", '"' + query.etag + '"'});
  LEAT_CO_TRY(auto response, co_await client.open(request));
  const bool wants_part = query.length || query.offset > 0;
  if (wants_part && response.status() != 206) {
    co_return fail(Errc::io, request.name.text() + ": the service does not honour ranges");
  }
  co_return std::move(response);
}

rt::Task<void> delete_object(S3Client& client, ObjectName name, std::string etag) {
  Request request{.method = "DELETE"};
  request.name = std::move(name);
  if (!etag.empty()) request.fields.push_back({"If-Match", '"' + etag + '"'});
  LEAT_CO_DO(co_await client.ask(request));
  co_return Status{};
}

}  // namespace leat::s3client
