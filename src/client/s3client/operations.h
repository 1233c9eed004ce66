// The operations of S3 that Leat's tools use, one function each.
//
// Lifetime: the client outlives the tasks; so do byte spans that are given to them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hash/checksum.h"
#include "s3client/answers.h"
#include "s3client/s3client.h"

namespace leat::s3client {

// What travels with an object beside its bytes.
struct Content {
  std::string type{};                                           // Content-Type; empty: none
  std::vector<std::pair<std::string, std::string>> metadata{};  // names without x-amz-meta-
  std::vector<std::pair<std::string, std::string>> fields{};    // Cache-Control and its like
  std::string tags{};                                           // "a=1&b=2", percent-encoded
};

struct ObjectHead {
  std::uint64_t size_bytes = 0;
  WallTime modified{};
  std::string etag{};  // without quotes
  Content content{};
  // Of the whole object; nothing if the service keeps none, or one of its parts only.
  std::optional<hash::ChecksumValue> checksum{};
};

rt::Task<std::vector<BucketItem>> list_buckets(S3Client& client);
// Errors: not_found, denied.
rt::Task<void> head_bucket(S3Client& client, std::string bucket);
// Errors: conflict, when it is there.
rt::Task<void> create_bucket(S3Client& client, std::string bucket, std::string region);
rt::Task<void> delete_bucket(S3Client& client, std::string bucket);

struct ListQuery {
  std::string bucket{};
  std::string prefix{};
  std::string delimiter{};
  std::string continuation{};
  std::uint32_t keys_max = 1000;
};
rt::Task<ObjectPage> list_objects(S3Client& client, ListQuery query);

rt::Task<ObjectHead> head_object(S3Client& client, ObjectName name);
// The head of the answer to a GET, or to a HEAD.
ObjectHead head_of(const httpclient::Response& response);

// As Content has them; a service that knows no tags has none.
rt::Task<std::string> get_tags(S3Client& client, ObjectName name);

struct GetQuery {
  ObjectName name{};
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length{};  // nothing: up to the end
  std::string etag{};                     // only if it is this one; empty: whichever is there
};
// Errors: precondition_failed, when the object is another one now.
rt::Task<httpclient::Response> open_object(S3Client& client, GetQuery query);

struct PutQuery {
  ObjectName name{};
  Bytes bytes{};
  hash::ChecksumValue checksum;
  Content content{};
  bool if_absent = false;  // only if there is no such object
};
// Returns the ETag. Errors: corrupt, when other bytes arrived than were sent; precondition_failed,
// when there is one.
rt::Task<std::string> put_object(S3Client& client, PutQuery query);

// `etag`: only if it is this one; empty: whichever is there.
// Errors: precondition_failed, when the object is another one now.
rt::Task<void> delete_object(S3Client& client, ObjectName name, std::string etag = {});
// At most 1000. `versions` has the version of each key, or nothing at all: then the newest ones go.
// Returns those that are still there and why.
rt::Task<std::vector<FailedDelete>> delete_objects(S3Client& client, std::string bucket,
                                                   std::vector<std::string> keys,
                                                   std::vector<std::string> versions = {});

// Whether old versions of objects are, or ever were, kept. A service that knows of none keeps none.
rt::Task<bool> keeps_versions(S3Client& client, std::string bucket);
// Versions and delete markers behind `after`, keys ascending.
rt::Task<VersionPage> list_versions(S3Client& client, std::string bucket, ListMarker after);

// On the service, without its bytes coming here. At most 5 GiB.
rt::Task<void> copy_object(S3Client& client, ObjectName from, ObjectName to, std::string etag);

// Uploads in parts, with a CRC64NVME of each part and of the whole.
struct Upload {
  ObjectName name{};
  std::string id{};
};
struct PartDone {
  std::uint32_t number = 0;
  std::string etag{};
  std::string crc64nvme{};  // base64; empty if it is not known
};
rt::Task<std::string> create_upload(S3Client& client, ObjectName name, Content content);
rt::Task<PartDone> upload_part(S3Client& client, Upload upload, std::uint32_t number, Bytes bytes,
                               hash::ChecksumValue checksum);

struct PartRange {
  std::uint32_t number = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};
// The bytes of another object as a part. `etag`: of that object; empty: whichever is there.
// Errors: precondition_failed, when it is another one now.
rt::Task<PartDone> copy_part(S3Client& client, Upload upload, ObjectName from, PartRange range,
                             std::string etag);
// All of them. Errors: not_found, when the upload is over.
rt::Task<std::vector<ListedPart>> list_parts(S3Client& client, Upload upload);
// `checksum` is the whole object's; the service compares it with what its parts give.
rt::Task<std::string> complete_upload(S3Client& client, Upload upload, std::vector<PartDone> parts,
                                      std::optional<hash::ChecksumValue> checksum);
// Uploads that were neither completed nor aborted.
rt::Task<UploadPage> list_uploads(S3Client& client, std::string bucket, ListMarker after);
rt::Task<void> abort_upload(S3Client& client, Upload upload);

}  // namespace leat::s3client
