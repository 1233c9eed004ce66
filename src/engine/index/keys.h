// The keys of a disk's index: one letter for the kind of entry, then fields whose bytes sort like
// their values. docs/formats/index.md has the table.
#pragma once

#include <string>

#include "base/result.h"
#include "record/types.h"

namespace leat::index {

// The current version of an object: 'o' bucket key.
std::string object_key(const record::ObjectKey& object);
std::string object_prefix(record::BucketId bucket);
// Requires: `entry` begins with object_prefix().
std::string_view object_name(std::string_view entry);

// A version that was removed or replaced and can be had back, or is kept: 'v' bucket key version.
std::string trash_key(const record::ObjectKey& object, record::VersionId version);
std::string trash_prefix(const record::ObjectKey& object);
std::string trash_prefix(record::BucketId bucket);

// The same in the order in which it is to go: 't' until bucket key version.
struct Due {
  std::int64_t until_ms = 0;
  record::ObjectKey object{};
  record::VersionId version{};
};
std::string due_key(const Due& due);
std::string due_prefix();
Result<Due> decode_due(std::string_view entry);

// A multipart upload: 'u' bucket key upload; its parts: 'p' upload number.
std::string upload_key(const record::ObjectKey& object, record::UploadId upload);
std::string upload_prefix(record::BucketId bucket);
std::string part_key(record::UploadId upload, std::uint32_t number);
std::string part_prefix(record::UploadId upload);

// Buckets: 'b' id. Counters: 'a' bucket, 's' segment. Files: 'f' file (whose it is).
// Files to remove: 'g' file. How far the segments are applied: 'm'.
std::string bucket_key(record::BucketId bucket);
std::string bucket_prefix();
std::string counts_key(record::BucketId bucket);
std::string counts_prefix();
std::string segment_key(record::SegmentId segment);
std::string segment_prefix();
std::string file_key(record::FileId file);
std::string file_prefix();
std::string garbage_key(record::FileId file);
std::string garbage_prefix();
std::string applied_key();

// The number in a key of one letter and a number.
std::uint64_t number_in(std::string_view entry);

}  // namespace leat::index
