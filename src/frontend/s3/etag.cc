#include "s3/etag.h"

#include <fmt/format.h>

#include "base/encoding.h"
#include "hash/crc64nvme.h"
#include "s3/bucket_rules.h"
#include "s3/call.h"

namespace leat::s3 {
namespace {

std::string fast_etag(std::uint64_t crc64nvme, std::uint64_t size) {
  return fmt::format("{:016x}{:016x}-1", crc64nvme, size);
}

}  // namespace

bool has_fast_etags(const record::Bucket& bucket) {
  const std::string* kind = find_property(bucket, kEtagProperty);
  return kind != nullptr && *kind == kFastEtags;
}

std::string etag_of(const s3body::BodyDigests& digests) {
  if (digests.md5) return to_hex(*digests.md5);
  return fast_etag(digests.crc64nvme.value_or(0), digests.size);
}

EtagMaker::EtagMaker(bool is_fast) {
  if (is_fast) state_ = std::uint64_t{0};
}

void EtagMaker::update(Bytes bytes) {
  size_ += bytes.size();
  if (auto* crc = std::get_if<std::uint64_t>(&state_)) {
    *crc = hash::crc64nvme(bytes, *crc);
  } else {
    std::get<hash::Md5>(state_).update(bytes);
  }
}

std::string EtagMaker::finish() {
  if (const auto* crc = std::get_if<std::uint64_t>(&state_)) return fast_etag(*crc, size_);
  return to_hex(std::get<hash::Md5>(state_).finish());
}

Answer get_etag_kind(Call& call) {
  const std::string_view kind = has_fast_etags(call.bucket) ? kFastEtags : kMd5Etags;
  co_return http::Response::text(200, "text/plain", std::string(kind));
}

Answer put_etag_kind(Call& call) {
  const DocumentForm form;
  LEAT_CO_TRY(std::string kind, co_await read_document(call, form));
  if (kind != kFastEtags && kind != kMd5Etags) {
    co_return refuse(S3Code::invalid_argument, "The kind of ETags is md5 or fast.");
  }
  std::optional<std::string> value;
  if (kind == kFastEtags) value = std::move(kind);
  auto setting =
      call.store().set_property(call.bucket.id, std::string(kEtagProperty), std::move(value));
  LEAT_CO_DO(told(co_await std::move(setting), S3Code::no_such_bucket));
  co_return http::Response(204);
}

}  // namespace leat::s3
