#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "codec/codec.h"
#include "hash/crc32c.h"
#include "shard/index.h"
#include "shard/layout.h"
#include "shard/sample_name.h"
#include "tar/writer.h"

namespace leat::shard {
namespace {

constexpr std::size_t kShownBytes = 50;

std::uint32_t u32(std::uint64_t value) {
  LEAT_CHECK(value <= kCountMax);
  return static_cast<std::uint32_t>(value);
}

void put_u32(std::string& bytes, std::uint64_t at, std::uint32_t value) {
  std::string number;
  codec::Encoder(number).u32(value);
  bytes.replace(at, number.size(), number);
}

void pad_to_eight(std::string& bytes) {
  bytes.resize(to_eight(bytes.size()), '\0');
}

void append_numbers(std::string& bytes, const std::vector<std::uint32_t>& numbers) {
  codec::Encoder out(bytes);
  for (const std::uint32_t number : numbers)
    out.u32(number);
  pad_to_eight(bytes);
}

// Names that WebDataset's samples already have: a field of one is a duplicate.
bool is_reserved(std::string_view field) {
  return field == "__key__" || field == "__url__";
}

// A name as a problem shows it, which ends up in a header field: without bytes that are none of
// ASCII's letters and signs, and not longer than people read.
std::string shown(std::string_view name) {
  std::string text;
  for (const char one : name.substr(0, kShownBytes)) {
    const bool is_plain = one >= ' ' && one <= '~' && one != '\\';
    text +=
        is_plain ? std::string(1, one) : fmt::format("\\x{:02x}", static_cast<std::uint8_t>(one));
  }
  return name.size() > kShownBytes ? text + "..." : text;
}

// 0, 1, 2, … `count` - 1, sorted by `text_of(number)`; equal texts stay in order.
template <class TextOf>
std::vector<std::uint32_t> sorted_numbers(std::size_t count, TextOf text_of) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
  std::ranges::sort(numbers, [&](std::uint32_t a, std::uint32_t b) {
    const auto order = text_of(a) <=> text_of(b);
    return order == 0 ? a < b : order < 0;
  });
  return numbers;
}

}  // namespace

Builder::Builder(std::uint64_t index_max_bytes) : index_max_bytes_(index_max_bytes) {}

std::string_view Builder::text(std::uint32_t at, std::uint32_t bytes) const {
  return std::string_view(heap_).substr(at, bytes);
}

std::string_view Builder::key_of(const SampleRow& sample) const {
  return text(members_[sample.first_member].name_at, sample.key_bytes);
}

std::uint64_t Builder::index_bytes() const {
  return sections_of({.members = members_.size(),
                      .samples = samples_.size(),
                      .fields = fields_.size(),
                      .heap_bytes = heap_.size()})
      .end;
}

void Builder::add(const tar::Member& member) {
  if (is_too_large_) return;
  // At most a member, a sample and a field are new, and both their names.
  const std::uint64_t growth =
      kMemberBytes + kSampleBytes + kFieldBytes + 2 * kNumberBytes + 24 + 2 * member.name.size();
  const std::uint64_t limit = std::min(index_max_bytes_, kCountMax);
  if (growth > limit || index_bytes() > limit - growth) {
    *this = Builder(index_max_bytes_);
    is_too_large_ = true;
    return;
  }
  append(member);
}

void Builder::append(const tar::Member& member) {
  MemberRow row{.data_offset = member.data_offset,
                .size_bytes = member.size_bytes,
                .name_at = u32(heap_.size()),
                .name_bytes = u32(member.name.size()),
                .header_bytes = u32(member.data_offset - member.start),
                .sample = kNoNumber,
                .field = kNoNumber,
                .kind = static_cast<std::uint32_t>(member.kind)};
  heap_ += member.name;
  if (member.kind == tar::Kind::file) add_to_sample(row, member.name);
  members_.push_back(row);
}

void Builder::add_to_sample(MemberRow& row, std::string_view name) {
  const auto split = split_name(name);
  if (!split) return;
  const std::uint32_t number = u32(members_.size());
  if (samples_.empty() || key_of(samples_.back()) != split->key) {
    samples_.push_back({.first_member = number,
                        .member_count = 0,
                        .key_bytes = u32(split->key.size()),
                        .flags = 0});
  }
  SampleRow& sample = samples_.back();
  sample.member_count = number - sample.first_member + 1;
  row.sample = u32(samples_.size() - 1);
  row.field = field_id(split->field);
  FieldRow& field = fields_[row.field];
  if (field.last_sample == row.sample || is_reserved(split->field)) note_duplicate(sample, name);
  field.last_sample = row.sample;
}

void Builder::note_duplicate(SampleRow& sample, std::string_view name) {
  if (problem_.empty()) problem_ = fmt::format("a sample has a field twice: {}", shown(name));
  if ((sample.flags & kHasDuplicates) != 0) return;
  sample.flags |= kHasDuplicates;
  ++duplicates_;
}

std::uint32_t Builder::field_id(std::string_view field) {
  const auto [found, is_new] = field_ids_.try_emplace(std::string(field), u32(fields_.size()));
  if (is_new) {
    fields_.push_back(
        {.name_at = u32(heap_.size()), .name_bytes = u32(field.size()), .last_sample = kNoNumber});
    heap_ += field;
  }
  return found->second;
}

std::vector<std::uint32_t> Builder::members_by_name() const {
  return sorted_numbers(members_.size(), [this](std::uint32_t number) {
    return text(members_[number].name_at, members_[number].name_bytes);
  });
}

std::vector<std::uint32_t> Builder::samples_by_key() const {
  return sorted_numbers(samples_.size(),
                        [this](std::uint32_t number) { return key_of(samples_[number]); });
}

std::string Builder::finish(std::uint64_t shard_bytes) {
  LEAT_CHECK(!is_too_large_);
  std::string bytes;
  const std::uint64_t size = index_bytes();
  bytes.reserve(size);
  codec::Encoder out(bytes);
  out.raw(kIndexMagic);
  out.u32(kIndexFormat);
  out.u32(0);
  for (const std::uint64_t number :
       {size, shard_bytes, members(), samples(), std::uint64_t{fields_.size()}, duplicates_,
        std::uint64_t{heap_.size()}}) {
    out.u64(number);
  }
  out.u64(0);
  for (const MemberRow& row : members_) {
    LEAT_CHECK(row.data_offset + row.size_bytes <= shard_bytes);
    out.u64(row.data_offset);
    out.u64(row.size_bytes);
    for (const std::uint32_t number :
         {row.name_at, row.name_bytes, row.header_bytes, row.sample, row.field, row.kind}) {
      out.u32(number);
    }
  }
  for (const SampleRow& row : samples_) {
    for (const std::uint32_t number :
         {row.first_member, row.member_count, row.key_bytes, row.flags}) {
      out.u32(number);
    }
  }
  for (const FieldRow& row : fields_) {
    out.u32(row.name_at);
    out.u32(row.name_bytes);
  }
  append_numbers(bytes, members_by_name());
  append_numbers(bytes, samples_by_key());
  bytes += heap_;
  pad_to_eight(bytes);
  LEAT_CHECK(bytes.size() == size);

  const Bytes all = as_bytes(bytes);
  put_u32(bytes, kSectionsSumAt, hash::crc32c(all.subspan(kHeaderBytes)));
  const std::uint32_t sum = hash::crc32c(all.first(kHeaderSumAt));
  put_u32(bytes, kHeaderSumAt,
          hash::crc32c(all.subspan(kHeaderSumAt + 4, kHeaderBytes - kHeaderSumAt - 4), sum));
  *this = Builder(index_max_bytes_);
  return bytes;
}

std::string Builder::finish_archive(std::uint64_t start) {
  LEAT_CHECK(start % tar::kBlockBytes == 0 && !is_too_large_);
  // The size of an index does not depend on the numbers in it.
  append({.name = std::string(kIndexName),
          .kind = tar::Kind::file,
          .start = start,
          .data_offset = start + tar::kBlockBytes,
          .size_bytes = 0});
  const std::uint64_t size = index_bytes();
  members_.back().size_bytes = size;
  std::string bytes = tar::header({.name = kIndexName, .size_bytes = size});
  LEAT_CHECK(bytes.size() == tar::kBlockBytes);
  const std::uint64_t zeros = tar::padding(size) + tar::kEndBytes;
  bytes += finish(start + bytes.size() + size + zeros);
  bytes.append(zeros, '\0');
  return bytes;
}

}  // namespace leat::shard
