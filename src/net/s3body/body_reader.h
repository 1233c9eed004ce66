// BodyReader: the one way in for bytes of an S3 upload. It takes off what framing there is, hands
// out the object's bytes where they lie, and knows at the end whether they are what was promised.
//
//   LEAT_TRY(BodyReader body, BodyReader::create(plan, chain));
//   while (…more of the HTTP body…)
//     while (!input.empty()) { LEAT_TRY(const auto step, body.step(input)); …write step.payload…; }
//   LEAT_TRY(const BodyDigests digests, body.finish());   // only now may the object be visible
//
// Shard: belongs to one request.
#pragma once

#include <cstdint>
#include <optional>

#include "hash/checksum.h"
#include "hash/digest.h"
#include "s3body/chunk_decoder.h"
#include "s3body/plan.h"

namespace leat::s3body {

struct BodyDigests {
  std::uint64_t size;
  std::optional<hash::Md5::Value> md5;     // if the plan makes one, or the sender gave one
  std::optional<std::uint64_t> crc64nvme;  // if the plan makes no MD5
  hash::ChecksumValue checksum;
};

class BodyReader {
 public:
  using Step = ChunkDecoder::Step;

  // `chain` is that of the verified claim; nothing for an anonymous request.
  // Errors: AccessDenied if the chunks are signed and nobody was verified.
  static S3Result<BodyReader> create(UploadPlan plan, std::optional<sigv4::ChunkChain> chain);

  // Up to and including the next piece of the object: all input was consumed, or there is payload.
  // Errors: those of ChunkDecoder::step; IncompleteBody (more bytes than announced).
  S3Result<Step> step(Bytes input);

  // The HTTP body has ended.
  // Errors: IncompleteBody, XAmzContentSHA256Mismatch, BadDigest, InvalidRequest (a trailer that is
  // no checksum).
  S3Result<BodyDigests> finish();

 private:
  BodyReader(UploadPlan plan, std::optional<sigv4::ChunkChain> chain);

  S3Status take_trailers();
  S3Status check_content_sha256();

  UploadPlan plan_;
  std::optional<ChunkDecoder> decoder_;
  std::optional<hash::Sha256> sha256_;  // if x-amz-content-sha256 has one
  std::optional<hash::Md5> md5_;
  std::optional<std::uint64_t> crc64nvme_;
  hash::Checksum checksum_;
  std::uint64_t size_ = 0;
};

}  // namespace leat::s3body
