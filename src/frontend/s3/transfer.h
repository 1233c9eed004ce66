// Bytes on their way into the store: from a client, or from another object.
#pragma once

#include <optional>

#include "hash/checksum.h"
#include "hash/digest.h"
#include "s3/attributes.h"
#include "s3/call.h"

namespace leat::s3 {

constexpr std::uint64_t kPutMaxBytes = 5 * kGiB;  // in one piece, as AWS has it

// The body of an upload into `put`, whatever its framing. Nothing is visible before put.finish().
// Errors: those of s3body; EntityTooLarge; what the store said.
S3Task<s3body::BodyDigests> receive(Call& call, store::Put& put, s3body::BodyReader& reader);

// A range of an object into `put`, with its digests.
struct CopyPlan {
  volume::ByteRange range{};
  hash::ChecksumAlgorithm algorithm = hash::ChecksumAlgorithm::crc64nvme;
  bool has_fast_etag = false;
};
struct CopyDigests {
  std::string etag{};
  hash::ChecksumValue checksum;
};
S3Task<CopyDigests> copy_into(store::ShardStore& store, const store::Found& from, CopyPlan plan,
                              store::Put& put);

// The object that x-amz-copy-source names: found, its conditions hold, and the caller may read it.
// Errors: InvalidArgument, AccessDenied, NoSuchBucket, NoSuchKey, NoSuchVersion, InvalidRequest (a
// delete marker), PreconditionFailed.
struct CopySource {
  Target target{};
  record::Bucket bucket{};
  bool is_version = false;  // one that was asked for by its name
  store::Found found{};
};
S3Task<CopySource> find_copy_source(Call& call);

// The algorithm that a field names, or `otherwise`. Errors: InvalidRequest.
S3Result<std::optional<hash::ChecksumAlgorithm>> algorithm_in(const Call& call,
                                                              std::string_view field);

}  // namespace leat::s3
