// Objects: whole ones and parts of them.
#include <fmt/format.h>

#include <array>

#include "capi/handles.h"
#include "capi/options.h"
#include "s3client/operations.h"

namespace leat::capi {
namespace {

using nlohmann::json;
using s3client::ObjectName;
using s3client::S3Client;

constexpr std::uint64_t kPutMaxBytes = 5 * kGiB;
constexpr std::uint32_t kBrokenMax = 8;
constexpr std::size_t kStepBytes = kMiB;
constexpr std::uint64_t kPageMax = 1000;

std::string dumped(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::uint64_t milliseconds(WallTime time) {
  const auto since = std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, since.count()));
}

Result<ObjectName> object_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == name.npos || slash == 0 || slash + 1 == name.size()) {
    return fail(Errc::bad_request, fmt::format("{:?}: an object is named BUCKET/KEY", name));
  }
  return ObjectName{std::string(name.substr(0, slash)), std::string(name.substr(slash + 1))};
}

// Makes room for `size` more bytes. Lengths are what a server says: there may be no such memory.
Status make_room(std::string& bytes, std::uint64_t size) {
  try {
    bytes.resize(bytes.size() + size);
  } catch (const std::exception&) {  // bad_alloc or length_error
    return fail(Errc::too_large, fmt::format("there is no memory for {} bytes", size));
  }
  return {};
}

// Up to the end of an answer that says its length, behind what is in `bytes`.
rt::Task<void> read_known(httpclient::Response& response, std::uint64_t length,
                          std::string& bytes) {
  std::size_t have = bytes.size();
  LEAT_CO_DO(make_room(bytes, length));
  Status status;
  while (have < bytes.size()) {
    const MutableBytes room = std::as_writable_bytes(std::span(bytes)).subspan(have);
    auto count = co_await response.read(room);
    if (!count) status = fail(std::move(count).error());
    if (status && *count == 0) status = fail(Errc::closed, "an object broke off");
    if (!status) break;
    have += *count;
  }
  bytes.resize(have);
  co_return status;
}

// The same of one that does not.
rt::Task<void> read_unknown(httpclient::Response& response, std::string& bytes) {
  Status status;
  bool is_over = false;
  while (status && !is_over) {
    const std::size_t have = bytes.size();
    LEAT_CO_DO(make_room(bytes, kStepBytes));
    const MutableBytes room = std::as_writable_bytes(std::span(bytes)).subspan(have);
    auto count = co_await response.read(room);
    if (!count) status = fail(std::move(count).error());
    bytes.resize(have + count.value_or(0));
    is_over = count.value_or(1) == 0;
  }
  co_return status;
}

// What is left of a query, into `bytes`; a broken answer is continued by the caller.
rt::Task<void> read_rest(S3Client& client, s3client::GetQuery& query, std::string& bytes) {
  LEAT_CO_TRY(auto response, co_await s3client::open_object(client, query));
  query.etag = s3client::head_of(response).etag;
  const std::size_t before = bytes.size();
  const std::optional<std::uint64_t> length = response.content_length();
  Status read;
  if (length) {
    read = co_await read_known(response, *length, bytes);
  } else {
    read = co_await read_unknown(response, bytes);
  }
  const std::size_t count = bytes.size() - before;
  query.offset += count;
  if (!query.length) co_return read;
  if (count > *query.length) {
    co_return fail(Errc::corrupt, "the service answered with more than it was asked for");
  }
  *query.length -= count;
  co_return read;
}

rt::Task<std::string> get(S3Client& client, s3client::GetQuery query) {
  std::string bytes;
  std::uint32_t broken = 0;
  if (query.length && *query.length == 0) co_return bytes;
  while (true) {
    const std::size_t before = bytes.size();
    Status read = co_await read_rest(client, query, bytes);
    if (read) co_return bytes;
    if (query.offset > 0 && query.length && *query.length == 0) co_return bytes;
    broken = bytes.size() > before ? 0 : broken + 1;
    if (!s3client::is_transient(read.error()) || broken > kBrokenMax) {
      co_return fail(std::move(read).error());
    }
  }
}

Result<s3client::PutQuery> put_query(std::string_view name, Bytes bytes, const char* text) {
  constexpr std::array<std::string_view, 3> kKnown = {"content_type", "metadata", "if_absent"};
  LEAT_TRY(const Options options, Options::parse(text, kKnown));
  hash::Checksum checksum(hash::ChecksumAlgorithm::crc64nvme);
  checksum.update(bytes);
  s3client::PutQuery query{.bytes = bytes, .checksum = checksum.finish()};
  LEAT_TRY(query.name, object_name(name));
  LEAT_TRY(query.content.type, options.text("content_type", ""));
  LEAT_TRY(query.if_absent, options.flag("if_absent", false));
  const json* metadata = options.find("metadata");
  if (metadata == nullptr) return query;
  if (!metadata->is_object()) return fail(Errc::bad_request, "the option metadata is an object");
  for (const auto& [key, value] : metadata->items()) {
    if (!value.is_string()) return fail(Errc::bad_request, "values of metadata are texts");
    query.content.metadata.emplace_back(key, value.get<std::string>());
  }
  return query;
}

json json_of(const s3client::ObjectHead& head) {
  json metadata = json::object();
  for (const auto& [key, value] : head.content.metadata)
    metadata[key] = value;
  return {{"size", head.size_bytes},
          {"etag", head.etag},
          {"modified_ms", milliseconds(head.modified)},
          {"content_type", head.content.type},
          {"metadata", std::move(metadata)}};
}

json json_of(const s3client::ObjectPage& page) {
  json objects = json::array();
  for (const s3client::ListedObject& one : page.objects) {
    objects.push_back({{"key", one.key},
                       {"size", one.size_bytes},
                       {"etag", one.etag},
                       {"modified_ms", milliseconds(one.modified)}});
  }
  json document = {{"objects", std::move(objects)}, {"prefixes", page.groups}};
  document["continuation"] = page.continuation.empty() ? json(nullptr) : json(page.continuation);
  return document;
}

Outcome<json> list_buckets(session::Session& session) {
  LEAT_C_TRY(const auto buckets,
             session.run<std::vector<s3client::BucketItem>>(
                 [](S3Client& client) { return s3client::list_buckets(client); }));
  json all = json::array();
  for (const s3client::BucketItem& one : buckets)
    all.push_back(one.name);
  return json{{"buckets", std::move(all)}};
}

Outcome<json> list(session::Session& session, std::string_view name, const char* text) {
  constexpr std::array<std::string_view, 3> kKnown = {"recursive", "continuation", "max"};
  LEAT_C_TRY(const Options options, Options::parse(text, kKnown));
  LEAT_C_TRY(const bool is_recursive, options.flag("recursive", false));
  LEAT_C_TRY(const std::uint64_t max, options.number("max", kPageMax));
  s3client::ListQuery query{.delimiter = is_recursive ? "" : "/",
                            .keys_max = static_cast<std::uint32_t>(std::min(max, kPageMax))};
  LEAT_C_TRY(query.continuation, options.text("continuation", ""));
  if (name.empty()) return list_buckets(session);
  const std::size_t slash = std::min(name.find('/'), name.size());
  query.bucket = name.substr(0, slash);
  query.prefix = slash < name.size() ? name.substr(slash + 1) : "";
  LEAT_C_TRY(const auto page, session.run<s3client::ObjectPage>([&query](S3Client& client) {
    return s3client::list_objects(client, query);
  }));
  return json_of(page);
}

}  // namespace
}  // namespace leat::capi

using namespace leat::capi;
using leat::s3client::S3Client;

extern "C" {

leat_status leat_get(leat_session* session, const char* name, uint64_t offset, uint64_t length,
                     leat_buffer** bytes, leat_error** error) {
  return leat_get_if(session, name, nullptr, offset, length, bytes, error);
}

leat_status leat_get_if(leat_session* session, const char* name, const char* etag, uint64_t offset,
                        uint64_t length, leat_buffer** bytes, leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_TRY(auto* const opened, session_of(session));
    leat::s3client::GetQuery query{.offset = offset};
    LEAT_C_TRY(query.name, object_name(name));
    if (etag != nullptr) query.etag = etag;
    if (length != UINT64_MAX) query.length = length;
    LEAT_C_TRY(std::string got,
               opened->run<std::string>([&query](S3Client& client) { return get(client, query); }));
    *bytes = new_buffer(std::move(got));
    return {};
  });
}

leat_status leat_put(leat_session* session, const char* name, const void* bytes, size_t size,
                     const char* options, leat_buffer** answer, leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_TRY(auto* const opened, session_of(session));
    if (size > kPutMaxBytes) return trouble(LEAT_TOO_LARGE, "an object of more than 5 GiB");
    const leat::Bytes content(static_cast<const std::byte*>(bytes), size);
    LEAT_C_TRY(const auto query, put_query(name, content, options));
    LEAT_C_TRY(const std::string etag, opened->run_long<std::string>([&query](S3Client& client) {
      return leat::s3client::put_object(client, query);
    }));
    if (answer != nullptr) *answer = new_buffer(dumped({{"etag", etag}, {"size", size}}));
    return {};
  });
}

leat_status leat_stat(leat_session* session, const char* name, leat_buffer** answer,
                      leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_TRY(auto* const opened, session_of(session));
    LEAT_C_TRY(const auto object, object_name(name));
    LEAT_C_TRY(const auto head,
               opened->run<leat::s3client::ObjectHead>([&object](S3Client& client) {
                 return leat::s3client::head_object(client, object);
               }));
    *answer = new_buffer(dumped(json_of(head)));
    return {};
  });
}

leat_status leat_remove(leat_session* session, const char* name, leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_TRY(auto* const opened, session_of(session));
    LEAT_C_TRY(const auto object, object_name(name));
    LEAT_C_DO(opened->run<void>(
        [&object](S3Client& client) { return leat::s3client::delete_object(client, object); }));
    return {};
  });
}

leat_status leat_make_bucket(leat_session* session, const char* bucket, leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_TRY(auto* const opened, session_of(session));
    LEAT_C_DO(opened->run<void>([&](S3Client& client) {
      return leat::s3client::create_bucket(client, bucket, opened->settings().signer.region);
    }));
    return {};
  });
}

leat_status leat_list(leat_session* session, const char* name, const char* options,
                      leat_buffer** answer, leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_TRY(auto* const opened, session_of(session));
    LEAT_C_TRY(const auto page, list(*opened, name, options));
    *answer = new_buffer(dumped(page));
    return {};
  });
}

}  // extern "C"
