#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "hash/crc32c.h"
#include "shard/index.h"
#include "shard/layout.h"
#include "tar/writer.h"

namespace leat::shard {
namespace {

static_assert(std::endian::native == std::endian::little);

template <class Number>
Number load(Bytes bytes, std::uint64_t at) {
  std::array<std::byte, sizeof(Number)> raw;
  std::memcpy(raw.data(), bytes.data() + at, raw.size());
  return std::bit_cast<Number>(raw);
}

// Where the fields of a row stand.
constexpr std::uint64_t kMemberSize = 8;
constexpr std::uint64_t kMemberNameAt = 16;
constexpr std::uint64_t kMemberNameBytes = 20;
constexpr std::uint64_t kMemberHeaderBytes = 24;
constexpr std::uint64_t kMemberSample = 28;
constexpr std::uint64_t kMemberField = 32;
constexpr std::uint64_t kMemberKind = 36;
constexpr std::uint64_t kSampleMembers = 4;
constexpr std::uint64_t kSampleKeyBytes = 8;
constexpr std::uint64_t kSampleFlags = 12;

std::optional<std::uint32_t> number_or_none(std::uint32_t value) {
  return value == kNoNumber ? std::nullopt : std::optional(value);
}

// The first of `count` places that `is_behind`, all places behind it being so too; or `count`.
template <class IsBehind>
std::uint64_t first_place(std::uint64_t count, IsBehind is_behind) {
  std::uint64_t begin = 0;
  std::uint64_t end = count;
  while (begin < end) {
    const std::uint64_t middle = begin + (end - begin) / 2;
    if (is_behind(middle)) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

constexpr std::uint64_t member_at(std::uint64_t number) {
  return kHeaderBytes + number * kMemberBytes;
}

}  // namespace

std::uint64_t MemberRef::end() const {
  return data_offset + size_bytes + tar::padding(size_bytes);
}

Result<View> View::open(Bytes bytes) {
  View view(bytes);
  if (bytes.size() < kHeaderBytes || !as_text(bytes).starts_with(kIndexMagic)) {
    return fail(Errc::corrupt, "this is no index of a shard");
  }
  const auto format = load<std::uint32_t>(bytes, kIndexMagic.size());
  if (format != kIndexFormat) {
    return fail(Errc::corrupt, fmt::format("an index of a shard of format {}", format));
  }
  if (!view.take_header()) return fail(Errc::corrupt, "an index of a shard has a damaged header");
  if (load<std::uint32_t>(bytes, kSectionsSumAt) != hash::crc32c(bytes.subspan(kHeaderBytes))) {
    return fail(Errc::corrupt, "an index of a shard is damaged");
  }
  // Behind the checksums stands what a writer with a fault, or an enemy, may have written.
  if (!view.has_sound_members() || !view.has_sound_samples() || !view.has_sound_rest()) {
    return fail(Errc::corrupt, "an index of a shard contradicts itself");
  }
  return view;
}

bool View::take_header() {
  const std::uint32_t sum =
      hash::crc32c(bytes_.subspan(kHeaderSumAt + 4, kHeaderBytes - kHeaderSumAt - 4),
                   hash::crc32c(bytes_.first(kHeaderSumAt)));
  if (load<std::uint32_t>(bytes_, kHeaderSumAt) != sum) return false;
  member_count_ = load<std::uint64_t>(bytes_, kMemberCountAt);
  sample_count_ = load<std::uint64_t>(bytes_, kSampleCountAt);
  field_count_ = load<std::uint64_t>(bytes_, kFieldCountAt);
  heap_bytes_ = load<std::uint64_t>(bytes_, kHeapBytesAt);
  if (std::max({member_count_, sample_count_, field_count_, heap_bytes_}) > kCountMax) return false;
  const Sections at = sections_of({.members = member_count_,
                                   .samples = sample_count_,
                                   .fields = field_count_,
                                   .heap_bytes = heap_bytes_});
  samples_at_ = at.samples;
  fields_at_ = at.fields;
  by_name_at_ = at.by_name;
  by_key_at_ = at.by_key;
  heap_at_ = at.heap;
  return at.end == bytes_.size() && load<std::uint64_t>(bytes_, kIndexBytesAt) == at.end;
}

// Members lie in the archive one behind the other, names in the heap, numbers below their counts.
bool View::has_sound_members() const {
  const std::uint64_t shard_end = shard_bytes();
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < member_count_; ++i) {
    const std::uint64_t at = member_at(i);
    const auto data_offset = load<std::uint64_t>(bytes_, at);
    const auto size = load<std::uint64_t>(bytes_, at + kMemberSize);
    const std::uint64_t header = load<std::uint32_t>(bytes_, at + kMemberHeaderBytes);
    if (data_offset > shard_end || size > shard_end - data_offset) return false;
    if (tar::padding(size) > shard_end - data_offset - size) return false;
    if (header > data_offset || data_offset - header < end) return false;
    end = data_offset + size + tar::padding(size);

    const std::uint64_t name_at = load<std::uint32_t>(bytes_, at + kMemberNameAt);
    const std::uint64_t name_bytes = load<std::uint32_t>(bytes_, at + kMemberNameBytes);
    if (name_at + name_bytes > heap_bytes_) return false;
    const auto sample = load<std::uint32_t>(bytes_, at + kMemberSample);
    const auto field = load<std::uint32_t>(bytes_, at + kMemberField);
    if ((sample == kNoNumber) != (field == kNoNumber)) return false;
    if (sample != kNoNumber && (sample >= sample_count_ || field >= field_count_)) return false;
    const auto kind = load<std::uint32_t>(bytes_, at + kMemberKind);
    if (kind > static_cast<std::uint32_t>(tar::Kind::other)) return false;
  }
  return true;
}

bool View::has_sound_samples() const {
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < sample_count_; ++i) {
    const std::uint64_t at = samples_at_ + i * kSampleBytes;
    const std::uint64_t first = load<std::uint32_t>(bytes_, at);
    const std::uint64_t count = load<std::uint32_t>(bytes_, at + kSampleMembers);
    if (first < end || count == 0 || first + count > member_count_) return false;
    end = first + count;
    const auto name_bytes = load<std::uint32_t>(bytes_, member_at(first) + kMemberNameBytes);
    if (load<std::uint32_t>(bytes_, at + kSampleKeyBytes) > name_bytes) return false;
  }
  return true;
}

bool View::has_sound_rest() const {
  for (std::uint64_t i = 0; i < field_count_; ++i) {
    const std::uint64_t at = fields_at_ + i * kFieldBytes;
    const std::uint64_t name_at = load<std::uint32_t>(bytes_, at);
    if (name_at + load<std::uint32_t>(bytes_, at + 4) > heap_bytes_) return false;
  }
  for (std::uint64_t i = 0; i < member_count_; ++i) {
    if (entry(by_name_at_, i) >= member_count_) return false;
  }
  for (std::uint64_t i = 0; i < sample_count_; ++i) {
    if (entry(by_key_at_, i) >= sample_count_) return false;
  }
  return true;
}

std::uint64_t View::shard_bytes() const {
  return load<std::uint64_t>(bytes_, kShardBytesAt);
}

std::uint64_t View::samples_with_duplicate_fields() const {
  return load<std::uint64_t>(bytes_, kDuplicatesAt);
}

std::string_view View::text(std::uint64_t at, std::uint64_t size) const {
  return as_text(bytes_.subspan(heap_at_ + at, size));
}

std::string_view View::name(std::uint64_t member) const {
  const std::uint64_t at = member_at(member);
  return text(load<std::uint32_t>(bytes_, at + kMemberNameAt),
              load<std::uint32_t>(bytes_, at + kMemberNameBytes));
}

std::string_view View::key(std::uint64_t sample) const {
  const std::uint64_t at = samples_at_ + sample * kSampleBytes;
  return name(load<std::uint32_t>(bytes_, at))
      .substr(0, load<std::uint32_t>(bytes_, at + kSampleKeyBytes));
}

MemberRef View::member(std::uint64_t number) const {
  LEAT_CHECK(number < member_count_);
  const std::uint64_t at = member_at(number);
  const auto data_offset = load<std::uint64_t>(bytes_, at);
  return {.name = name(number),
          .kind = static_cast<tar::Kind>(load<std::uint32_t>(bytes_, at + kMemberKind)),
          .start = data_offset - load<std::uint32_t>(bytes_, at + kMemberHeaderBytes),
          .data_offset = data_offset,
          .size_bytes = load<std::uint64_t>(bytes_, at + kMemberSize),
          .field = number_or_none(load<std::uint32_t>(bytes_, at + kMemberField)),
          .sample = number_or_none(load<std::uint32_t>(bytes_, at + kMemberSample))};
}

SampleRef View::sample(std::uint64_t number) const {
  LEAT_CHECK(number < sample_count_);
  const std::uint64_t at = samples_at_ + number * kSampleBytes;
  const std::uint64_t first = load<std::uint32_t>(bytes_, at);
  const std::uint64_t count = load<std::uint32_t>(bytes_, at + kSampleMembers);
  const auto flags = load<std::uint32_t>(bytes_, at + kSampleFlags);
  return {.key = key(number),
          .first_member = first,
          .member_count = count,
          .start = member(first).start,
          .end = member(first + count - 1).end(),
          .has_duplicate_fields = (flags & kHasDuplicates) != 0};
}

std::string_view View::field(std::uint64_t number) const {
  LEAT_CHECK(number < field_count_);
  const std::uint64_t at = fields_at_ + number * kFieldBytes;
  return text(load<std::uint32_t>(bytes_, at), load<std::uint32_t>(bytes_, at + 4));
}

std::vector<std::string_view> View::fields() const {
  std::vector<std::string_view> names;
  names.reserve(field_count_);
  for (std::uint64_t i = 0; i < field_count_; ++i)
    names.push_back(field(i));
  return names;
}

std::uint64_t View::entry(std::uint64_t section_at, std::uint64_t place) const {
  return load<std::uint32_t>(bytes_, section_at + place * kNumberBytes);
}

std::optional<std::uint64_t> View::find_member(std::string_view wanted) const {
  const std::uint64_t behind = first_place(
      member_count_, [&](std::uint64_t place) { return name(entry(by_name_at_, place)) > wanted; });
  if (behind == 0) return std::nullopt;
  const std::uint64_t found = entry(by_name_at_, behind - 1);
  return name(found) == wanted ? std::optional(found) : std::nullopt;
}

std::optional<std::uint64_t> View::find_sample(std::string_view wanted) const {
  const std::uint64_t place = first_place(sample_count_, [&](std::uint64_t candidate) {
    return key(entry(by_key_at_, candidate)) >= wanted;
  });
  if (place == sample_count_) return std::nullopt;
  const std::uint64_t found = entry(by_key_at_, place);
  return key(found) == wanted ? std::optional(found) : std::nullopt;
}

std::optional<std::uint32_t> View::find_field(std::string_view wanted) const {
  for (std::uint64_t i = 0; i < field_count_; ++i) {
    if (field(i) == wanted) return static_cast<std::uint32_t>(i);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> View::find_in_sample(std::uint64_t number, std::uint32_t field) const {
  const SampleRef found = sample(number);
  for (std::uint64_t i = 0; i < found.member_count; ++i) {
    const MemberRef candidate = member(found.first_member + i);
    if (candidate.sample == number && candidate.field == field) return found.first_member + i;
  }
  return std::nullopt;
}

}  // namespace leat::shard
