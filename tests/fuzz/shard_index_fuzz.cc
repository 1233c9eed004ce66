// Fuzzes the reader of a shard's index. The first byte says whether the checksums are made right,
// so that a search gets past them. Checked of every input:
//   1. it opens or is corrupt;
//   2. of an index that opens every accessor answers within its counts and its bytes (the
//   sanitizers
//      watch), members lie one behind the other within the archive, samples span their members.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/check.h"
#include "hash/crc32c.h"
#include "shard/index.h"
#include "shard/layout.h"

namespace {

using namespace leat;
using namespace leat::shard;

void put(std::string& bytes, std::uint64_t at, std::uint32_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

void seal(std::string& index) {
  if (index.size() < kHeaderBytes) return;
  std::uint64_t size = index.size();
  std::memcpy(index.data() + kIndexBytesAt, &size, sizeof(size));
  put(index, kSectionsSumAt, hash::crc32c(as_bytes(index).subspan(kHeaderBytes)));
  const std::uint32_t sum = hash::crc32c(as_bytes(index).first(kHeaderSumAt));
  const Bytes rest = as_bytes(index).subspan(kHeaderSumAt + 4, kHeaderBytes - kHeaderSumAt - 4);
  put(index, kHeaderSumAt, hash::crc32c(rest, sum));
}

std::uint64_t sum_of(std::string_view text) {
  return hash::crc32c(as_bytes(text));
}

std::uint64_t walk(const View& view) {
  std::uint64_t seen = 0;
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < view.member_count(); ++i) {
    const MemberRef member = view.member(i);
    LEAT_CHECK(member.start >= end && member.end() <= view.shard_bytes());
    end = member.end();
    seen += sum_of(member.name) + static_cast<std::uint64_t>(member.kind);
    LEAT_CHECK(member.field.has_value() == member.sample.has_value());
    if (member.field) seen += sum_of(view.field(*member.field));
    if (member.sample) seen += sum_of(view.sample(*member.sample).key);
    if (const auto found = view.find_member(member.name)) {
      LEAT_CHECK(view.member(*found).name == member.name);
    }
  }
  for (std::uint64_t i = 0; i < view.sample_count(); ++i) {
    const SampleRef sample = view.sample(i);
    LEAT_CHECK(sample.start <= sample.end && sample.member_count > 0);
    LEAT_CHECK(sample.first_member + sample.member_count <= view.member_count());
    if (const auto found = view.find_sample(sample.key)) {
      LEAT_CHECK(view.sample(*found).key == sample.key);
    }
    seen += view.find_in_sample(i, 0).value_or(0);
  }
  for (const std::string_view field : view.fields())
    LEAT_CHECK(view.find_field(field).has_value());
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string index(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] % 2 == 1) seal(index);
  const auto view = View::open(as_bytes(index));
  if (!view) {
    LEAT_CHECK(view.error().code() == Errc::corrupt);
    return 0;
  }
  walk(*view);
  return 0;
}
