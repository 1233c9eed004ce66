// Rows: a sample as some bytes of fixed width, and as a wide record when it fits no row.
//
// In a regular tar every member is a fixed lead of headers, its data, and padding to 512 bytes. So
// the sizes of a sample's fields say where each one lies; a row is where the sample starts and the
// sizes. What is not so regular (a member of no field in between, a lead of another length, fields
// in another order, a size too large for its column) has a record in the section `wide` instead.
#pragma once

#include <span>

#include "base/result.h"
#include "snapshot/types.h"

namespace leat::snapshot {

constexpr std::uint64_t kTarUnit = 512;
// A row's place: where the sample starts in units of 512 bytes, or with this bit the wide record in
// units of 4 bytes.
constexpr std::uint32_t kWideBit = 0x8000'0000;
constexpr std::size_t kWideUnit = 4;
constexpr std::size_t kPlaceBytes = 4;
constexpr std::size_t kColumnBytesMax = 4;

// How regular samples of one shard look.
struct Shape {
  std::uint8_t lead_units = 1;        // header bytes before each member's data, / 512
  std::string_view field_order = {};  // ids, a byte each; fields that are not in it follow by id
};

// Sizes by field id; nothing: the sample lacks the field.
using Sizes = std::vector<std::optional<std::uint64_t>>;

// Where the fields of a regular sample lie and where it ends, from start and sizes.
// Ensures: sample.fields.size() == sizes.size(). Requires: the ids in the shape are < sizes.size().
void lay_out(const Shape& shape, std::uint64_t start, const Sizes& sizes, Sample& sample);

// A column of `width` bytes (0…4) holds sizes below this; that value itself says "lacks".
constexpr std::uint64_t lacks_value(std::size_t width) {
  return (std::uint64_t{1} << (8 * width)) - 1;
}

// A wide record: start, end and fields of `sample`.
std::string encode_wide(const Sample& sample);
constexpr std::size_t kWideMaxBytes = 20 + 2 + kFieldsMax * 21;

// Errors: corrupt. Ensures: fields lie inside the sample; sample.fields.size() == field_count.
Status decode_wide(Bytes record, std::size_t field_count, Sample& sample);

}  // namespace leat::snapshot
