// What the operations of multipart uploads share.
#pragma once

#include <string>
#include <vector>

#include "hash/checksum.h"
#include "record/types.h"
#include "s3/call.h"

namespace leat::s3 {

// The uploadId of clients: 16 hexadecimal digits.
std::string text_of(record::UploadId id);
// Nothing for what text_of() would not have written.
std::optional<record::UploadId> upload_from(std::string_view text);
// That of a request. Errors: NoSuchUpload.
S3Result<record::UploadId> upload_in(const Call& call);

// Which checksum the whole will have, and of what.
struct ChecksumPlan {
  hash::ChecksumAlgorithm algorithm = hash::ChecksumAlgorithm::crc64nvme;
  bool is_composite = false;
  bool is_chosen = false;  // by the client
};

// As create_upload() stored it.
S3Result<ChecksumPlan> checksum_plan(const record::Upload& upload);

// The name of its element: "ChecksumCRC32".
std::string checksum_element(hash::ChecksumAlgorithm algorithm);

// Errors: NoSuchUpload.
S3Task<record::Upload> find_upload(Call& call, record::UploadId id);
S3Task<std::vector<record::Part>> find_parts(Call& call, record::UploadId id);

}  // namespace leat::s3
