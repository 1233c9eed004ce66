#include "s3/transfer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "http1/conditional.h"
#include "http1/uri.h"
#include "rt/shard.h"
#include "s3/acl.h"
#include "s3/etag.h"
#include "s3/permission.h"
#include "s3/versions.h"

namespace leat::s3 {
namespace {

struct SourceName {
  std::string_view path;
  std::string_view version;
};

// "?versionId=" as it was sent: an encoded question mark belongs to the key.
SourceName split_version(std::string_view text) {
  constexpr std::string_view kVersion = "?versionId=";
  const std::size_t at = text.find(kVersion);
  if (at == text.npos) return {.path = text, .version = {}};
  return {.path = text.substr(0, at), .version = text.substr(at + kVersion.size())};
}

struct Source {
  Target target{};
  std::optional<store::VersionName> version{};
};

S3Result<Source> source_of(std::string_view text) {
  const SourceName name = split_version(text);
  Source source;
  if (!name.version.empty()) {
    LEAT_TRY(source.version, version_name(name.version));
  }
  const auto path = http1::percent_decode(name.path);
  const std::string_view decoded = path ? std::string_view(*path) : std::string_view();
  const std::string with_slash =
      decoded.starts_with('/') ? std::string(decoded) : '/' + std::string(decoded);
  source.target = target_of(with_slash, "", "");
  if (!path || source.target.bucket.empty() || source.target.key.empty()) {
    return refuse(S3Code::invalid_argument,
                  "Copy Source must mention the source bucket and key: sourcebucket/sourcekey");
  }
  return source;
}

S3Status check_conditions(const Call& call, const record::Version& version) {
  const http1::Conditions conditions{
      .if_match = call.field("x-amz-copy-source-if-match"),
      .if_none_match = call.field("x-amz-copy-source-if-none-match"),
      .if_modified_since = call.field("x-amz-copy-source-if-modified-since"),
      .if_unmodified_since = call.field("x-amz-copy-source-if-unmodified-since")};
  const http1::Selected selected{
      .exists = true,
      .etag = version.etag,
      .last_modified = WallTime(std::chrono::milliseconds(version.modified_ms))};
  // As of a GET; but a source that was not modified is no answer to who wants a copy.
  const auto verdict = http1::evaluate(conditions, selected, http1::Method::get);
  if (verdict == http1::Verdict::proceed) return {};
  return refuse(S3Code::precondition_failed);
}

}  // namespace

S3Task<s3body::BodyDigests> receive(Call& call, store::Put& put, s3body::BodyReader& reader) {
  const std::optional<std::uint64_t> length = call.exchange.head.content_length;
  std::uint64_t received = 0;  // with the framing
  bool at_end = length == 0U;
  if (at_end) {
    // Nothing comes, but the client may wait for `100 Continue`.
    std::array<std::byte, 1> none;
    LEAT_CO_DO(told(co_await call.exchange.body.read(none)));
  }
  while (!at_end) {
    LEAT_CO_TRY(const MutableBytes room, told(co_await put.next_buffer()));
    std::size_t filled = 0;
    while (filled < room.size() && !at_end) {
      auto reading = call.exchange.body.read(room.subspan(filled));
      LEAT_CO_TRY(const std::size_t got, told(co_await std::move(reading)));
      received += got;
      at_end = got == 0 || (length && received >= *length);
      // The framing is taken off in place: what is left of it moves to the front.
      Bytes input = Bytes(room).subspan(filled, got);
      while (!input.empty()) {
        LEAT_CO_TRY(const auto step, reader.step(input));
        std::memmove(room.data() + filled, step.payload.data(), step.payload.size());
        filled += step.payload.size();
        input = input.subspan(step.consumed);
      }
    }
    put.commit(filled);
    if (put.size_bytes() > kPutMaxBytes) co_return refuse(S3Code::entity_too_large);
    // A client and disks that never make us wait must not keep the shard from others.
    LEAT_CO_DO(told(co_await rt::yield()));
  }
  co_return reader.finish();
}

S3Task<CopyDigests> copy_into(store::ShardStore& store, const store::Found& from, CopyPlan plan,
                              store::Put& put) {
  EtagMaker etag(plan.has_fast_etag);
  hash::Checksum checksum(plan.algorithm);
  const auto watch = [&etag, &checksum](Bytes step) {
    etag.update(step);
    checksum.update(step);
  };
  // Replaced and cleaned away since it was found: who asks again gets the newer one.
  LEAT_CO_DO(told(co_await store.pour(from, plan.range, put, watch), S3Code::slow_down));
  co_return CopyDigests{.etag = etag.finish(), .checksum = checksum.finish()};
}

S3Task<CopySource> find_copy_source(Call& call) {
  LEAT_CO_TRY(Source source, source_of(call.field("x-amz-copy-source").value_or("")));
  Target& target = source.target;
  constexpr VersionActions kReading{.of_object = access::Action::get_object,
                                    .of_version = access::Action::get_object_version};
  const Grant grant = grant_of(call, kReading, source.version.has_value(), target);
  if (grant == Grant::refused) co_return refuse(S3Code::access_denied);
  if (const auto owner = call.field("x-amz-source-expected-bucket-owner");
      owner && *owner != kOwner) {
    co_return refuse(S3Code::access_denied);
  }
  if (target.key.size() > record::kKeyMaxBytes) co_return refuse(S3Code::key_too_long);
  const bool is_sure = grant == Grant::allowed;
  LEAT_CO_TRY(record::Bucket bucket,
              told(call.store().find_bucket(target.bucket),
                   is_sure ? S3Code::no_such_bucket : S3Code::access_denied));
  VersionOf name{
      .bucket_name = target.bucket, .bucket = bucket, .key = target.key, .version = source.version};
  auto found = co_await find_object(call, std::move(name));
  if (!found && !is_sure) co_return refuse(S3Code::access_denied);
  if (!found && found.error().code == S3Code::method_not_allowed) {
    co_return refuse(S3Code::invalid_request,
                     "The source of a copy request may not specifically refer to a delete marker "
                     "by version id.");
  }
  if (!found) co_return std::unexpected(std::move(found).error());
  if (!is_sure && !is_public(found->version)) co_return refuse(S3Code::access_denied);
  LEAT_CO_DO(check_conditions(call, found->version));
  co_return CopySource{.target = std::move(target),
                       .bucket = std::move(bucket),
                       .is_version = source.version.has_value(),
                       .found = std::move(*found)};
}

S3Result<std::optional<hash::ChecksumAlgorithm>> algorithm_in(const Call& call,
                                                              std::string_view field) {
  const auto word = call.field(field);
  if (!word || word->empty()) return std::optional<hash::ChecksumAlgorithm>();
  const auto algorithm = hash::algorithm_from_word(*word);
  if (algorithm) return algorithm;
  return refuse(S3Code::invalid_request,
                "Checksum algorithm provided is unsupported. Please try again with any of the "
                "valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]");
}

}  // namespace leat::s3
