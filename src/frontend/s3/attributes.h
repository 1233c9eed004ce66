// What S3 keeps with an object besides its bytes, as attributes of the store (record::Attribute).
//
// Their names are those of the header fields, in lower case. Only what is listed here is taken from
// a request: a client cannot set what is the server's (abuse case 47).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hash/checksum.h"
#include "http/response.h"
#include "record/types.h"
#include "s3/call.h"

namespace leat::s3 {

using Attributes = std::vector<record::Attribute>;

constexpr std::string_view kTagging = "x-amz-tagging";  // as the header has it: a=1&b=2
constexpr std::string_view kChecksumType = "x-amz-checksum-type";
constexpr std::string_view kChecksumAlgorithm = "x-amz-checksum-algorithm";  // of an upload
constexpr std::string_view kFullObject = "FULL_OBJECT";
constexpr std::string_view kComposite = "COMPOSITE";
// Ours: the sizes of the parts of an object ("5242880*3,17"), and the upload it was made of.
constexpr std::string_view kParts = "leat-parts";
constexpr std::string_view kUpload = "leat-upload";
// Ours: the checksums of those parts, one behind the other, of the algorithm of the whole.
constexpr std::string_view kPartSums = "leat-part-sums";

std::optional<std::string_view> find_attribute(const Attributes& attributes, std::string_view name);

// Content-Type and its kind, and x-amz-meta-*, of a request. Errors: MetadataTooLarge.
S3Result<Attributes> metadata_in(const Call& call);
bool is_metadata(std::string_view name);

// The tags of the header x-amz-tagging, checked; nothing without it. Errors: AccessDenied,
// InvalidTag, InvalidArgument, BadRequest (too many).
S3Result<std::optional<std::string>> tagging_in(const Call& call);
struct Tag {
  std::string key{};
  std::string value{};
};
constexpr std::size_t kObjectTagsMax = 10;
constexpr std::size_t kBucketTagsMax = 50;
S3Status check_tags(const std::vector<Tag>& tags, std::size_t max = kObjectTagsMax);
std::string encode_tags(const std::vector<Tag>& tags);
S3Result<std::vector<Tag>> decode_tags(std::string_view text);

// The checksum that an object or a part has: its header name and its text.
struct StoredChecksum {
  hash::ChecksumAlgorithm algorithm;
  std::string_view text;  // base64, with "-N" if it is composite
};
std::optional<StoredChecksum> checksum_of(const Attributes& attributes);
void set_checksum(Attributes& attributes, const hash::ChecksumValue& value);
// That of one part of an object that came in parts, in base64; nothing if it is not kept.
std::optional<std::string> part_checksum(const Attributes& attributes, std::uint64_t number);

// Errors: InvalidArgument for bytes that would split the head.
S3Status add_field(http::Response& response, std::string_view name, std::string_view value);
// What GET and HEAD show of an object, but for its content type; how many tags it has only to whom
// may read them.
S3Status add_metadata(const Call& call, http::Response& response, const Attributes& attributes);
S3Status add_checksum(http::Response& response, const Attributes& attributes);
// The same of a part, if it is kept; all of an object that came in one piece is its first part.
S3Status add_part_checksum(http::Response& response, const Attributes& attributes,
                           std::uint64_t number);

}  // namespace leat::s3
