// Selection: which bytes of a shard somebody wants. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shard/index.h"
#include "volume/reader.h"

namespace leat::shards {

using Ranges = std::vector<volume::ByteRange>;

// The largest number, if it is more.
std::uint64_t total_bytes(const Ranges& ranges);

// What the bytes from `offset` on, `length` of them at most, of all ranges together are.
Ranges cut(const Ranges& ranges, std::uint64_t offset, std::uint64_t length);

// "file", "link", …
std::string_view word_of(tar::Kind kind);

// The data of a member: the last one of the name, which is the one that `tar x` leaves behind.
// Errors: not_found; bad_request, when it is no file.
Result<volume::ByteRange> select_member(const shard::View& index, std::string_view name);

// One field of a sample, with its data.
struct FieldData {
  std::string_view field{};
  volume::ByteRange data{};
};
// Of one sample that is selected by itself.
constexpr std::uint64_t kSampleMembersMax = 1024;
// In the order of `fields`, or of the shard when it is empty.
// Errors: not_found, when there is no such sample or it lacks one of the fields; bad_request, when
// it has too many.
Result<std::vector<FieldData>> select_sample(const shard::View& index, std::string_view key,
                                             const std::vector<std::string>& fields);

// Members as they stand in the archive, headers and padding included: all fields of one sample, the
// same fields of all samples, or both narrowed down. With the end blocks behind it, the ranges are
// an archive of their own.
struct Narrowing {
  std::optional<std::string> sample{};
  std::vector<std::string> fields{};  // empty: all
};
// Errors: not_found, when there is no such sample, or it lacks one of the fields, or no sample has.
Result<Ranges> select_members(const shard::View& index, const Narrowing& narrowing);

}  // namespace leat::shards
