#include "s3/call.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/encoding.h"
#include "hash/digest.h"
#include "http1/grammar.h"
#include "s3/permission.h"

namespace leat::s3 {
namespace {

constexpr std::size_t kSealBytes = 16;
constexpr std::size_t kDocumentBytes = 4 * kKiB;  // most documents are smaller

bool is_checksum(std::string_view name) {
  constexpr std::string_view kPrefix = "x-amz-checksum-";
  return http1::equals_ignore_case(name.substr(0, kPrefix.size()), kPrefix);
}

std::string seal_of(const Call& call, std::string_view name) {
  const std::string text = fmt::format("{}/{}", call.target.bucket, name);
  const auto mac = hash::hmac_sha256(as_bytes(call.tools.keys.table()->seal()), as_bytes(text));
  return std::string(as_text(Bytes(mac).first(kSealBytes)));
}

}  // namespace

std::optional<std::string_view> Call::query(std::string_view name) const {
  for (const http1::QueryPair& pair : caller.request.query) {
    if (pair.name == name) return pair.value;
  }
  return std::nullopt;
}

std::optional<std::string_view> Call::field(std::string_view name) const {
  if (const auto value = exchange.head.headers.find(name)) return value;
  for (const http1::QueryPair& pair : caller.request.query) {
    if (http1::equals_ignore_case(pair.name, name)) return pair.value;
  }
  return std::nullopt;
}

S3Result<std::uint64_t> Call::number(std::string_view name, std::uint64_t otherwise,
                                     std::uint64_t max) const {
  const auto text = query(name);
  if (!text || text->empty()) return otherwise;
  const auto value = http1::parse_decimal(*text);
  if (!value || *value > 0x7fffffff) {
    return refuse(S3Code::invalid_argument,
                  fmt::format("Provided {} not an integer or within integer range", name));
  }
  return std::min(*value, max);
}

bool Call::may(access::Action action, std::string_view bucket_name, std::string_view key) const {
  const Wanted wanted{.action = action, .bucket = bucket_name, .key = key};
  return grant_of(*this, wanted) == Grant::allowed;
}

S3Code Call::missing(std::string_view bucket_name, std::string_view key) const {
  return may(access::Action::list_bucket, bucket_name, key) ? S3Code::no_such_key
                                                            : S3Code::access_denied;
}

std::string seal_token(const Call& call, std::string_view name) {
  return to_base64(as_bytes(seal_of(call, name) + std::string(name)));
}

S3Result<std::string> open_token(const Call& call, std::string_view token) {
  const auto bytes = from_base64(token);
  if (bytes && bytes->size() >= kSealBytes) {
    const std::string_view text = as_text(*bytes);
    std::string name(text.substr(kSealBytes));
    const std::string seal = seal_of(call, name);
    if (hash::constant_time_equal(as_bytes(seal), as_bytes(text.substr(0, kSealBytes)))) {
      return name;
    }
  }
  return refuse(S3Code::invalid_argument, "The continuation token provided is incorrect");
}

S3Task<std::string> read_document(Call& call, DocumentForm form) {
  if (call.caller.payload.is_stream()) {
    co_return refuse(S3Code::invalid_request,
                     "A streamed body is taken by PutObject and UploadPart only.");
  }
  const http1::RequestHead& head = call.exchange.head;
  s3body::HttpFraming framing{.content_length = head.content_length, .chunked = head.chunked};
  if (!framing.chunked && !framing.content_length) framing.content_length = 0;
  if (framing.content_length.value_or(0) > form.max_bytes) {
    co_return refuse(S3Code::max_message_length_exceeded, "Your request was too big.");
  }
  sigv4::Request request = call.caller.request;
  if (form.has_object_checksums) {
    std::erase_if(request.headers, [](const auto& one) { return is_checksum(one.name); });
    std::erase_if(request.query, [](const auto& one) { return is_checksum(one.name); });
  }
  LEAT_CO_TRY(auto plan, s3body::plan_upload(request, call.caller.payload, framing));
  LEAT_CO_TRY(auto reader, s3body::BodyReader::create(std::move(plan), call.caller.chain));
  // One more than may be there, to see its end.
  const std::size_t size_max = framing.content_length.value_or(form.max_bytes) + 1;
  std::string text;
  std::size_t size = 0;
  for (;;) {
    if (size == size_max) {
      co_return refuse(S3Code::max_message_length_exceeded, "Your request was too big.");
    }
    // Memory is given for what has arrived, not for what was announced.
    if (size == text.size()) text.resize(std::min(size_max, std::max(2 * size, kDocumentBytes)));
    const MutableBytes room = std::as_writable_bytes(std::span(text)).subspan(size);
    LEAT_CO_TRY(const std::size_t got, told(co_await call.exchange.body.read(room)));
    if (got == 0) break;
    LEAT_CO_DO(reader.step(Bytes(room).first(got)));
    size += got;
  }
  LEAT_CO_DO(reader.finish());
  text.resize(size);
  co_return text;
}

std::string_view without_quotes(std::string_view etag) {
  if (etag.size() >= 2 && etag.starts_with('"') && etag.ends_with('"')) {
    return etag.substr(1, etag.size() - 2);
  }
  return etag;
}

S3Result<volume::Precondition> precondition_of(const Call& call) {
  const http1::HeaderBlock& headers = call.exchange.head.headers;
  volume::Precondition precondition;
  for (const auto header : {http1::Header::if_match, http1::Header::if_none_match}) {
    if (headers.count(header) > 1)
      return refuse(S3Code::invalid_request, "A condition stands twice.");
  }
  if (const auto none = headers.find(http1::Header::if_none_match)) {
    if (*none != "*") {
      return refuse(S3Code::not_implemented, "If-None-Match of a change takes * only.");
    }
    precondition.must_be_absent = true;
  }
  if (const auto match = headers.find(http1::Header::if_match)) {
    const std::string_view etag = without_quotes(*match);
    if (etag.empty() || etag == "*" || etag.find_first_of("\",") != etag.npos) {
      return refuse(S3Code::not_implemented, "If-Match of a change takes one etag.");
    }
    precondition.etag = etag;
  }
  if (headers.find(http1::Header::if_unmodified_since)) {
    return refuse(S3Code::not_implemented, "If-Unmodified-Since of a change; use If-Match.");
  }
  return precondition;
}

S3Task<S3Error> refusal_of_change(Call& call, const Error& error,
                                  const volume::Precondition& precondition) {
  if (error.code() == Errc::precondition_failed && precondition.etag) {
    const auto found = co_await call.store().find(call.object());
    if (!found && found.error().code() == Errc::not_found) {
      co_return told(found.error(), S3Code::no_such_key);
    }
  }
  co_return told(error, S3Code::no_such_bucket);
}

}  // namespace leat::s3
