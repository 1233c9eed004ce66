// Change: one step in the history of a disk, as its segments keep it.
//
// The index of a disk is a function of its changes in the order of their sequence, and of nothing
// else: recovery applies those since the last flush, `leat fsck --rebuild` applies all of them.
#pragma once

#include "base/result.h"
#include "record/types.h"

namespace leat::record {

// An object gets a new version. The bytes of a small one follow the record (`place` is then where).
struct PutObject {
  ObjectKey object{};
  Version version{};
  UploadId upload{};     // the multipart upload that this completes; 0 for none
  VersionId replaced{};  // what was current until now; 0 for nothing
};

struct RemoveObject {
  ObjectKey object{};
  VersionId removed{};
  std::int64_t at_ms = 0;
};

// A removed or replaced version becomes the current one again.
struct RestoreObject {
  ObjectKey object{};
  VersionId restored{};
  std::int64_t at_ms = 0;
};

// A removed or replaced version cannot be had back any more; its space is free.
struct PurgeVersion {
  ObjectKey object{};
  VersionId purged{};
};

struct PutBucket {
  Bucket bucket{};
};

struct RemoveBucket {
  BucketId bucket{};
};

struct BeginUpload {
  Upload upload{};
};

struct PutPart {
  Part part{};
};

struct EndUpload {
  ObjectKey object{};
  UploadId upload{};
};

// A version in the trash, as it is there. Compaction writes it when the record that the version
// came with goes: when and by what it got there may then be found nowhere else.
struct KeepTrashed {
  ObjectKey object{};
  Version version{};
  std::int64_t since_ms = 0;
  std::int64_t until_ms = 0;
};

using Change = std::variant<PutObject, RemoveObject, RestoreObject, PurgeVersion, PutBucket,
                            RemoveBucket, BeginUpload, PutPart, EndUpload, KeepTrashed>;

// The kind of a change is the number of its alternative: new ones go to the end.
constexpr std::size_t kChangeKinds = std::variant_size_v<Change>;

std::string encode(const Change& change);

// Errors: corrupt, for an unknown kind as well.
Result<Change> decode_change(std::uint8_t kind, std::string_view bytes);

// The parts that the index keeps by themselves.
std::string encode(const Version& version);
Result<Version> decode_version(std::string_view bytes);
std::string encode(const Bucket& bucket);
Result<Bucket> decode_bucket(std::string_view bytes);
std::string encode(const Upload& upload);
Result<Upload> decode_upload(std::string_view bytes);

}  // namespace leat::record
