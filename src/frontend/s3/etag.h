// ETags: the MD5 of the content, as AWS has it; or one that costs next to nothing.
//
// MD5 is what a PUT of large objects spends most of its time on. In a bucket with `etag=fast` the
// ETag is made of CRC64NVME and size, and looks like that of an upload in one part ("…-1"), which
// is no MD5 to any client. Who sends Content-MD5 gets the MD5, which was made anyway. A fast ETag
// tells contents apart by accident as a checksum does; it is no proof against forgery.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "hash/digest.h"
#include "record/types.h"
#include "s3body/body_reader.h"

namespace leat::s3 {

constexpr std::string_view kEtagProperty = "s3.etag";
constexpr std::string_view kFastEtags = "fast";
constexpr std::string_view kMd5Etags = "md5";

bool has_fast_etags(const record::Bucket& bucket);

// Of an object that came in whole, or of a part.
std::string etag_of(const s3body::BodyDigests& digests);

// The same of bytes that pass by.
class EtagMaker {
 public:
  explicit EtagMaker(bool is_fast);
  void update(Bytes bytes);
  std::string finish();

 private:
  std::variant<hash::Md5, std::uint64_t> state_;  // the CRC64NVME of a fast one
  std::uint64_t size_ = 0;
};

}  // namespace leat::s3
