// The nouns of a snapshot: shards, samples, their fields, blocks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace leat::snapshot {

// A sample's number in its snapshot: shards in their order, samples in the order of their bytes.
using Row = std::uint32_t;

constexpr std::uint64_t kRowsMax = 0xFFFF'FFFE;
constexpr std::size_t kFieldsMax = 64;
constexpr std::size_t kKeyMaxBytes = 4096;
// A shard is shorter: sums of places in one never overflow.
constexpr std::uint64_t kShardMaxBytes = std::uint64_t{1} << 62;
constexpr std::uint64_t kBlockBytes = 4 * kMiB;

// An object that is a tar of samples, or a recipe that says of which objects one is made.
struct ShardEntry {
  std::string bucket{};
  std::string key{};
  std::string version{};  // the object's version id
  std::string etag{};
  std::uint64_t size_bytes = 0;  // of the tar
  // The object is a recipe (shard/recipe.h): its bytes are not those of the tar.
  bool is_recipe = false;
  bool operator==(const ShardEntry&) const = default;
};

// Where the data of a field lies in its shard.
struct FieldPlace {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  bool operator==(const FieldPlace&) const = default;
};

// A field of a sample, as it is given to a Builder.
struct FieldOf {
  std::string_view name;
  FieldPlace place;
};

struct Sample {
  Row row = 0;
  std::uint32_t shard = 0;
  // From the first header of its first member to the end of its last one's padding.
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::vector<std::optional<FieldPlace>> fields{};  // by field id; nothing: it lacks the field
  bool operator==(const Sample&) const = default;
};

// A run of consecutive samples of one shard: the unit of reading.
struct Block {
  std::uint32_t shard = 0;
  Row first = 0;
  std::uint32_t count = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  bool operator==(const Block&) const = default;
};

// Bytes of the snapshot object.
struct Range {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  bool operator==(const Range&) const = default;
};

// Names the content: equal snapshots have equal ones.
using Fingerprint = std::array<std::byte, 16>;

}  // namespace leat::snapshot
