// Where things stand in an index of format 1, for its writer and its reader.
// docs/formats/shard_index.md.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace leat::shard {

constexpr std::string_view kIndexMagic = "LEATSHD\n";

constexpr std::uint64_t kHeaderBytes = 80;
constexpr std::uint64_t kHeaderSumAt = 12;
constexpr std::uint64_t kIndexBytesAt = 16;
constexpr std::uint64_t kShardBytesAt = 24;
constexpr std::uint64_t kMemberCountAt = 32;
constexpr std::uint64_t kSampleCountAt = 40;
constexpr std::uint64_t kFieldCountAt = 48;
constexpr std::uint64_t kDuplicatesAt = 56;
constexpr std::uint64_t kHeapBytesAt = 64;
constexpr std::uint64_t kSectionsSumAt = 72;

constexpr std::uint64_t kMemberBytes = 40;
constexpr std::uint64_t kSampleBytes = 16;
constexpr std::uint64_t kFieldBytes = 8;
constexpr std::uint64_t kNumberBytes = 4;  // of an entry of a sorted section

constexpr std::uint32_t kNoNumber = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kHasDuplicates = 1;

// Counts and sizes below 2^32: no sum of sections overflows.
constexpr std::uint64_t kCountMax = kNoNumber;

constexpr std::uint64_t to_eight(std::uint64_t bytes) {
  return (bytes + 7) / 8 * 8;
}

// Where each section begins, for counts within kCountMax.
struct Sections {
  std::uint64_t members;
  std::uint64_t samples;
  std::uint64_t fields;
  std::uint64_t by_name;
  std::uint64_t by_key;
  std::uint64_t heap;
  std::uint64_t end;
};

struct Counts {
  std::uint64_t members = 0;
  std::uint64_t samples = 0;
  std::uint64_t fields = 0;
  std::uint64_t heap_bytes = 0;
};

constexpr Sections sections_of(const Counts& counts) {
  Sections at{};
  at.members = kHeaderBytes;
  at.samples = at.members + counts.members * kMemberBytes;
  at.fields = at.samples + counts.samples * kSampleBytes;
  at.by_name = at.fields + counts.fields * kFieldBytes;
  at.by_key = at.by_name + to_eight(counts.members * kNumberBytes);
  at.heap = at.by_key + to_eight(counts.samples * kNumberBytes);
  at.end = at.heap + to_eight(counts.heap_bytes);
  return at;
}

}  // namespace leat::shard
