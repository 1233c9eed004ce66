// The nouns of the store: what a bucket, an object's version and its place are, as they are stored.
//
// One record format serves the segments (where a change is made durable) and the index (where it is
// found): docs/formats/segment.md.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/strong.h"

namespace leat::record {

using BucketId = Strong<std::uint32_t, struct BucketIdTag>;
using SegmentId = Strong<std::uint64_t, struct SegmentIdTag>;
using FileId = Strong<std::uint64_t, struct FileIdTag>;
using UploadId = Strong<std::uint64_t, struct UploadIdTag>;
// The order of changes on one disk; the first is 1.
using Sequence = Strong<std::uint64_t, struct SequenceTag>;
// The identity of one version of an object: the sequence that made it.
using VersionId = Strong<std::uint64_t, struct VersionIdTag>;

// A disk's identity, made once.
using DiskId = std::array<std::byte, 16>;

constexpr std::size_t kKeyMaxBytes = 1024;
// The unit of verification: each run of this many bytes of an object has its own checksum.
constexpr std::uint64_t kBlockBytes = 64 * kKiB;

constexpr std::uint64_t block_count(std::uint64_t size_bytes) {
  return (size_bytes + kBlockBytes - 1) / kBlockBytes;
}

struct ObjectKey {
  BucketId bucket{};
  std::string key{};
  auto operator<=>(const ObjectKey&) const = default;
};

// Content type, user metadata, tags, checksums: the store keeps them and does not look inside.
struct Attribute {
  std::string name{};
  std::string value{};
  bool operator==(const Attribute&) const = default;
};

// Bytes inside a segment: block checksums first, the data right behind them.
struct SegmentPlace {
  SegmentId segment{};
  std::uint64_t offset = 0;
  std::uint32_t sums_crc = 0;  // CRC32C of the block checksums: binds the entry to its bytes
  bool operator==(const SegmentPlace&) const = default;
};

// One file, whole (docs/formats/object_file.md).
struct FileExtent {
  FileId file{};
  std::uint64_t size_bytes = 0;
  bool operator==(const FileExtent&) const = default;
};

using Place = std::variant<SegmentPlace, std::vector<FileExtent>>;

struct Version {
  VersionId id{};
  Sequence sequence{};        // of the change that last touched it
  bool is_marker = false;     // says that the object was deleted; it has no bytes
  bool is_versioned = false;  // made while its bucket kept versions: replaced, it stays
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ms = 0;  // since 1970
  std::string etag{};
  std::vector<Attribute> attributes{};
  Place place{};
  bool operator==(const Version&) const = default;
};

// Bytes in the files of a version behind the object's own: what Leat worked out from them while
// they came in, such as the index of a shard. They live and go with the version.
inline std::uint64_t appendix_bytes(const Version& version) {
  const auto* files = std::get_if<std::vector<FileExtent>>(&version.place);
  if (files == nullptr) return 0;
  std::uint64_t all = 0;
  for (const FileExtent& extent : *files)
    all += extent.size_bytes;
  return all > version.size_bytes ? all - version.size_bytes : 0;
}

// How durable a write is when it is answered.
enum class Durability : std::uint8_t {
  sync = 0,     // on the disk
  group = 1,    // handed to the kernel; on the disk within the group window
  relaxed = 2,  // handed to the kernel; on the disk within the relaxed window
};

// Whether versions that are replaced or deleted stay until somebody removes them by their id.
enum class Versioning : std::uint8_t {
  off = 0,
  on = 1,
  suspended = 2,  // what was kept stays; new versions replace the last one made without `on`
};

// The time of what never goes by itself.
constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

struct Bucket {
  BucketId id{};
  std::string name{};
  std::int64_t created_ms = 0;
  Durability durability = Durability::sync;
  Versioning versioning = Versioning::off;
  std::uint64_t undo_window_ms = 0;  // how long deleted and replaced versions can be had back
  std::vector<Attribute> properties{};
  bool operator==(const Bucket&) const = default;
};

struct Upload {
  UploadId id{};
  ObjectKey object{};
  std::int64_t begun_ms = 0;
  std::vector<Attribute> attributes{};
  bool operator==(const Upload&) const = default;
};

struct Part {
  UploadId upload{};
  std::uint32_t number = 0;
  Version content{};
  bool operator==(const Part&) const = default;
};

}  // namespace leat::record
