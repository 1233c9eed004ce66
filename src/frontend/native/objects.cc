// Reading, writing, removing, restoring and copying objects.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "http/representation.h"
#include "http1/uri.h"
#include "native/calls.h"
#include "record/keeping.h"
#include "stored/body.h"

namespace leat::native {
namespace {

using http::Response;
using nlohmann::json;

constexpr std::string_view kMetaPrefix = "x-leat-meta-";
constexpr std::string_view kContentType = "content-type";
// How often an object may be replaced between finding and opening it before we give up.
constexpr int kRaces = 10;

std::string_view durability_of(const store::ShardStore& store, record::BucketId bucket) {
  const record::Bucket* found = store.buckets()->find(bucket);
  return record::word_of(found == nullptr ? record::Durability::sync : found->durability);
}

std::string with_quotes(std::string_view etag) {
  return fmt::format("\"{}\"", etag);
}

WallTime time_of(const record::Version& version) {
  return WallTime(std::chrono::milliseconds(version.modified_ms));
}

std::string_view attribute(const record::Version& version, std::string_view name,
                           std::string_view otherwise) {
  for (const record::Attribute& one : version.attributes) {
    if (one.name == name) return one.value;
  }
  return otherwise;
}

// The stored attributes that are header fields of the answer.
Status add_attributes(Response& response, const record::Version& version) {
  response.add_checked(fmt::format("x-leat-version: {}\r\n", version.id.value()));
  for (const record::Attribute& one : version.attributes) {
    if (one.name.starts_with(kMetaPrefix)) LEAT_DO(response.add(one.name, one.value));
  }
  return {};
}

std::vector<record::Attribute> attributes_of(const http1::HeaderBlock& headers) {
  std::vector<record::Attribute> attributes;
  for (const auto& field : headers) {
    std::string name(field.name);
    for (char& c : name)
      c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (name == kContentType || name.starts_with(kMetaPrefix)) {
      attributes.push_back({.name = std::move(name), .value = std::string(field.value)});
    }
  }
  return attributes;
}

Result<volume::Precondition> precondition_of(const http1::RequestHead& head) {
  volume::Precondition precondition;
  if (const auto none = head.headers.find(http1::Header::if_none_match)) {
    if (*none != "*") return fail(Errc::not_implemented, "If-None-Match of a change takes * only");
    precondition.must_be_absent = true;
  }
  if (const auto match = head.headers.find(http1::Header::if_match)) {
    const bool is_one = match->size() >= 2 && match->starts_with('"') && match->ends_with('"') &&
                        match->find('"', 1) == match->size() - 1;
    if (!is_one) {
      return fail(Errc::not_implemented, "If-Match of a change takes one etag, in quotes");
    }
    precondition.etag = match->substr(1, match->size() - 2);
  }
  if (head.headers.find(http1::Header::if_unmodified_since)) {
    return fail(Errc::not_implemented, "If-Unmodified-Since of a change; use If-Match");
  }
  return precondition;
}

json describe(const record::Version& version) {
  return {{"version", version.id.value()},
          {"size", version.size_bytes},
          {"etag", version.etag},
          {"modified_ms", version.modified_ms}};
}

Response answer_change(const store::ShardStore& store, record::BucketId bucket,
                       const record::Version& version, int status) {
  Response response = Response::text(status, "application/json", describe(version).dump() + "\n");
  response.add_checked(
      fmt::format("ETag: \"{}\"\r\nx-leat-version: {}\r\nx-leat-durability: {}\r\n", version.etag,
                  version.id.value(), durability_of(store, bucket)));
  return response;
}

}  // namespace

Result<record::ObjectKey> parse_object(const store::ShardStore& store, std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash + 1 == text.size()) {
    return fail(Errc::bad_request, "an object is named BUCKET/KEY");
  }
  LEAT_TRY(const std::string name, http1::percent_decode(text.substr(0, slash)));
  LEAT_TRY(std::string key, http1::percent_decode(text.substr(slash + 1)));
  LEAT_TRY(const record::Bucket bucket, store.find_bucket(name));
  return record::ObjectKey{.bucket = bucket.id, .key = std::move(key)};
}

rt::Task<std::string> read_text(http::RequestBody& body, std::size_t max) {
  std::string text(max + 1, '\0');
  std::size_t size = 0;
  for (;;) {
    const MutableBytes room = std::as_writable_bytes(std::span(text)).subspan(size);
    if (room.empty()) co_return fail(Errc::too_large, "the body is too large");
    LEAT_CO_TRY(const std::size_t got, co_await body.read(room));
    if (got == 0) break;
    size += got;
  }
  text.resize(size);
  co_return text;
}

Answer read_object(store::ShardStore& store, http::Exchange& exchange) {
  LEAT_CO_TRY(const auto object, parse_object(store, exchange.head.path.substr(kObjects.size())));
  for (int race = 0;; ++race) {
    LEAT_CO_TRY(const store::Found found, co_await store.find(object));
    const std::string etag = with_quotes(found.version.etag);
    const http::Representation selected{
        .etag = etag,
        .modified = time_of(found.version),
        .size_bytes = found.version.size_bytes,
        .content_type = attribute(found.version, kContentType, "application/octet-stream")};
    LEAT_CO_TRY(http::ReadAnswer answer, http::answer_read(exchange.head, selected));
    LEAT_CO_DO(add_attributes(answer.response, found.version));
    if (answer.range) {
      const volume::ByteRange range{.offset = answer.range->offset, .length = answer.range->length};
      auto body = co_await store.read(found, range);
      // Replaced and cleaned away since it was found: there is a newer answer.
      if (!body && body.error().code() == Errc::not_found && race < kRaces) continue;
      if (!body) co_return fail(body.error());
      stored::set_body(answer.response, std::move(*body), range.length);
    }
    co_return std::move(answer.response);
  }
}

Answer write_object(store::ShardStore& store, http::Exchange& exchange) {
  const http1::RequestHead& head = exchange.head;
  LEAT_CO_TRY(const auto object, parse_object(store, head.path.substr(kObjects.size())));
  if (head.headers.find("content-range")) {
    co_return fail(Errc::bad_request, "a part of an object cannot be written");
  }
  if (!head.content_length && !head.chunked) co_return fail(Errc::length_required);
  store::PutDetails details{.attributes = attributes_of(head.headers)};
  LEAT_CO_TRY(details.precondition, precondition_of(head));
  LEAT_CO_TRY(auto put, co_await store.begin_put(object, head.content_length));
  bool at_end = head.content_length == 0U;
  while (!at_end) {
    LEAT_CO_TRY(const MutableBytes room, co_await put->next_buffer());
    std::size_t filled = 0;
    while (filled < room.size() && !at_end) {
      LEAT_CO_TRY(const std::size_t got, co_await exchange.body.read(room.subspan(filled)));
      filled += got;
      at_end =
          got == 0 || (head.content_length && put->size_bytes() + filled >= *head.content_length);
    }
    put->commit(filled);
  }
  LEAT_CO_TRY(const record::Version version, co_await put->finish(std::move(details)));
  co_return answer_change(store, object.bucket, version, 201);
}

Answer remove_object(store::ShardStore& store, http::Exchange& exchange) {
  LEAT_CO_TRY(auto object, parse_object(store, exchange.head.path.substr(kObjects.size())));
  LEAT_CO_TRY(auto precondition, precondition_of(exchange.head));
  const record::BucketId bucket = object.bucket;
  LEAT_CO_DO(co_await store.remove(std::move(object), std::move(precondition)));
  Response response(204);
  response.add_checked(fmt::format("x-leat-durability: {}\r\n", durability_of(store, bucket)));
  co_return response;
}

Answer change_object(store::ShardStore& store, http::Exchange& exchange) {
  LEAT_CO_TRY(auto object, parse_object(store, exchange.head.path.substr(kObjects.size())));
  LEAT_CO_TRY(const auto query, http1::parse_query(exchange.head.query));
  if (query.size() == 1 && query[0].name == "undelete") {
    LEAT_CO_TRY(const auto version, co_await store.restore(object, std::nullopt));
    co_return answer_change(store, object.bucket, version, 200);
  }
  if (query.size() == 1 && query[0].name == "copy") {
    LEAT_CO_TRY(auto source,
                parse_object(store, http1::percent_encode(query[0].value, http1::Slash::keep)));
    LEAT_CO_TRY(const auto found, co_await store.find(std::move(source)));
    store::PutDetails details{.etag = found.version.etag, .attributes = found.version.attributes};
    LEAT_CO_TRY(details.precondition, precondition_of(exchange.head));
    LEAT_CO_TRY(const auto version, co_await store.copy(found, object, std::move(details)));
    co_return answer_change(store, object.bucket, version, 201);
  }
  co_return fail(Errc::not_implemented, "POST of an object takes ?undelete or ?copy=BUCKET/KEY");
}

}  // namespace leat::native
