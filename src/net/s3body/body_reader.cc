#include "s3body/body_reader.h"

#include <algorithm>

#include "base/encoding.h"
#include "hash/crc64nvme.h"
#include "http1/grammar.h"

namespace leat::s3body {
namespace {

using hash::ChecksumValue;
using sigv4::PayloadKind;

std::unexpected<S3Error> bad_digest(std::string_view what, std::string expected, std::string found,
                                    std::string_view hint) {
  auto refusal = refuse(S3Code::bad_digest, "The " + std::string(what) +
                                                " you specified did not match what we received." +
                                                std::string(hint));
  refusal.error().details = {{"ExpectedDigest", std::move(expected)},
                             {"CalculatedDigest", std::move(found)}};
  return refusal;
}

}  // namespace

S3Result<BodyReader> BodyReader::create(UploadPlan plan, std::optional<sigv4::ChunkChain> chain) {
  const PayloadKind kind = plan.payload.kind;
  const bool is_signed =
      kind == PayloadKind::stream_signed || kind == PayloadKind::stream_signed_trailer;
  if (is_signed && !chain)
    return refuse(S3Code::access_denied, "Signed chunks need a signed request.");
  if (!is_signed) chain.reset();
  return BodyReader(std::move(plan), std::move(chain));
}

BodyReader::BodyReader(UploadPlan plan, std::optional<sigv4::ChunkChain> chain)
    : plan_(std::move(plan)), checksum_(plan_.checksum) {
  if (plan_.payload.is_stream()) {
    ChunkFraming framing{.kind = plan_.payload.kind,
                         .decoded_size = plan_.size.value_or(0),
                         .trailers = plan_.trailers};
    decoder_.emplace(std::move(framing), std::move(chain));
  }
  if (plan_.payload.kind == PayloadKind::hashed) sha256_.emplace();
  if (plan_.makes_md5 || plan_.content_md5) md5_.emplace();
  if (!plan_.makes_md5) crc64nvme_ = 0;
}

S3Result<BodyReader::Step> BodyReader::step(Bytes input) {
  Step step{.consumed = input.size(), .payload = input};
  if (decoder_) {
    LEAT_TRY(step, decoder_->step(input));
  }
  size_ += step.payload.size();
  if (plan_.size && size_ > *plan_.size)
    return refuse(S3Code::incomplete_body, "The body is longer than announced.");
  if (sha256_) sha256_->update(step.payload);
  if (md5_) md5_->update(step.payload);
  if (crc64nvme_) crc64nvme_ = hash::crc64nvme(step.payload, *crc64nvme_);
  checksum_.update(step.payload);
  return step;
}

S3Result<BodyDigests> BodyReader::finish() {
  if (decoder_) LEAT_DO(decoder_->finish());
  if (plan_.size && size_ != *plan_.size) {
    return refuse(S3Code::incomplete_body,
                  "You did not provide the number of bytes specified by the Content-Length HTTP "
                  "header");
  }
  LEAT_DO(take_trailers());
  LEAT_DO(check_content_sha256());

  BodyDigests digests{
      .size = size_, .md5 = {}, .crc64nvme = crc64nvme_, .checksum = checksum_.finish()};
  if (md5_) digests.md5 = md5_->finish();
  if (plan_.content_md5 && plan_.content_md5 != digests.md5)
    return bad_digest("Content-MD5", to_base64(*plan_.content_md5), to_base64(*digests.md5), "");
  if (plan_.expected_checksum && *plan_.expected_checksum != digests.checksum) {
    constexpr std::string_view kHint =
        " The checksum is part of the presigned URL; sign it with "
        "requestChecksumCalculation: 'WHEN_REQUIRED'.";
    return bad_digest(hash::word_of(plan_.checksum), plan_.expected_checksum->base64(),
                      digests.checksum.base64(), plan_.checksum_is_in_query ? kHint : "");
  }
  return digests;
}

// The decoder let announced trailers pass alone, and the plan checksums alone.
S3Status BodyReader::take_trailers() {
  if (!decoder_) return {};
  for (const auto& [name, value] : decoder_->trailers()) {
    plan_.expected_checksum = ChecksumValue::from_base64(plan_.checksum, value);
    if (!plan_.expected_checksum) {
      return refuse(S3Code::invalid_request, "Value for " + name + " trailing header is invalid.");
    }
  }
  return {};
}

S3Status BodyReader::check_content_sha256() {
  if (!sha256_) return {};
  std::string found = to_hex(sha256_->finish());
  if (http1::equals_ignore_case(found, plan_.payload.word)) return {};
  auto refusal = refuse(S3Code::content_sha256_mismatch,
                        "The provided 'x-amz-content-sha256' header does not match what was "
                        "computed.");
  refusal.error().details = {{"ClientComputedContentSHA256", plan_.payload.word},
                             {"S3ComputedContentSHA256", std::move(found)}};
  return refusal;
}

}  // namespace leat::s3body
