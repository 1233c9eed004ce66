// What the head of an upload says about its body: how it is framed, how long it is, which digests
// it must have. One reading for every handler that takes a body (abuse case 26).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hash/checksum.h"
#include "hash/digest.h"
#include "s3body/chunk_decoder.h"
#include "sigv4/payload.h"
#include "sigv4/request.h"

namespace leat::s3body {

struct UploadPlan {
  sigv4::Payload payload{};
  // Bytes of the object. Nothing if only the end of a chunked body will tell.
  std::optional<std::uint64_t> size{};
  std::optional<hash::Md5::Value> content_md5{};
  bool makes_md5 = true;  // without it a CRC64NVME is made, and an MD5 only to check content_md5
  // CRC64NVME, computed and kept, if the client asks for none.
  hash::ChecksumAlgorithm checksum = hash::ChecksumAlgorithm::crc64nvme;
  bool checksum_is_chosen = false;                         // by the client
  std::optional<hash::ChecksumValue> expected_checksum{};  // of the head
  bool checksum_is_in_query = false;    // a presigned URL may have the checksum of another body
  std::vector<std::string> trailers{};  // announced; each has the value of `checksum`
};

// How HTTP delimits the body.
struct HttpFraming {
  std::optional<std::uint64_t> content_length{};
  bool chunked = false;
};

// `payload` is that of the verified claim, or of the header of an anonymous request.
// Errors: MissingContentLength, IncompleteBody, InvalidArgument (a length that is no number),
// InvalidDigest, InvalidRequest (checksums that contradict each other), NotImplemented (algorithms
// we do not have).
S3Result<UploadPlan> plan_upload(const sigv4::Request& request, const sigv4::Payload& payload,
                                 HttpFraming framing);

// Content-Encoding without aws-chunked, which is about the transfer and not the object:
// "gzip, aws-chunked" is "gzip". May be empty.
std::string stored_content_encoding(std::string_view content_encoding);

}  // namespace leat::s3body
