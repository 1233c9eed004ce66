// Fuzzes the tar scanner and what is built on it. The first byte chooses how the input is cut; the
// headers of the rest get right checksums if it is odd, so that a search gets past them. Checked of
// every input:
//   1. fed in pieces, with data skipped or not, it gives the same as fed whole;
//   2. members lie one behind the other, within the archive, and their names within the limits;
//   3. an archive that ended has an index that opens and holds the same members; samples lie in it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "shard/index.h"
#include "shard/sample_name.h"
#include "shard/scanner.h"
#include "tar/scanner.h"

namespace {

using namespace leat;
using State = tar::Scanner::State;

constexpr tar::Limits kLimits{.extension_max_bytes = 2048, .name_max_bytes = 1024};

// The checksum of every block, made right where a header could be.
void seal(std::string& archive) {
  for (std::size_t at = 0; at + tar::kBlockBytes <= archive.size(); at += tar::kBlockBytes) {
    const std::string_view block = std::string_view(archive).substr(at, tar::kBlockBytes);
    if (block.substr(257, 5) != "ustar") continue;
    unsigned sum = 8 * ' ';
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (i < 148 || i >= 156) sum += static_cast<unsigned char>(block[i]);
    }
    for (std::size_t digit = 0; digit < 6; ++digit)
      archive[at + 148 + digit] = static_cast<char>('0' + (sum >> 3 * (5 - digit) & 7));
    archive[at + 154] = '\0';
    archive[at + 155] = ' ';
  }
}

struct Scanned {
  State state = State::undecided;
  std::string problem{};
  std::vector<tar::Member> members{};
  bool operator==(const Scanned&) const = default;
};

Scanned scan(std::string_view archive, std::size_t piece_bytes, bool skips) {
  Scanned result;
  tar::Scanner scanner([&](const tar::Member& member) { result.members.push_back(member); },
                       kLimits);
  while (!archive.empty()) {
    std::size_t bytes = std::min(piece_bytes, archive.size());
    if (skips && scanner.skippable() > 0) {
      bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, scanner.skippable()));
      scanner.skip(bytes);
    } else {
      scanner.feed(as_bytes(archive.substr(0, bytes)));
    }
    archive.remove_prefix(bytes);
  }
  scanner.finish();
  result.state = scanner.state();
  result.problem = scanner.problem();
  LEAT_CHECK((result.state == State::broken) == !result.problem.empty());
  return result;
}

void check_members(const Scanned& scanned, std::uint64_t size) {
  std::uint64_t end = 0;
  for (const tar::Member& member : scanned.members) {
    LEAT_CHECK(member.start >= end && member.data_offset >= member.start + tar::kBlockBytes);
    LEAT_CHECK(member.data_offset % tar::kBlockBytes == 0);
    LEAT_CHECK(!member.name.empty() && member.name.size() <= kLimits.name_max_bytes);
    end = member.data_offset + member.size_bytes;
    if (scanned.state == State::ended) LEAT_CHECK(end <= size);
    const auto split = shard::split_name(member.name);
    if (split) LEAT_CHECK(member.name.starts_with(split->key) && !split->key.empty());
  }
}

void check_index(std::string_view archive, const Scanned& scanned) {
  shard::ShardScanner scanner(shard::kIndexMaxBytes, kLimits);
  scanner.feed(as_bytes(archive));
  LEAT_CHECK(scanner.finish().is_shard == (scanned.state == State::ended));
  if (scanned.state != State::ended) return;
  const std::string index = scanner.take_index();
  const auto view = shard::View::open(as_bytes(index));
  LEAT_CHECK(view.has_value() && view->member_count() == scanned.members.size());
  for (std::uint64_t i = 0; i < view->member_count(); ++i) {
    const shard::MemberRef member = view->member(i);
    const tar::Member& wanted = scanned.members[i];
    LEAT_CHECK(member.name == wanted.name && member.kind == wanted.kind &&
               member.start == wanted.start && member.data_offset == wanted.data_offset &&
               member.size_bytes == wanted.size_bytes);
    LEAT_CHECK(view->find_member(member.name).value() >= i);
    if (!member.sample) continue;
    const shard::SampleRef sample = view->sample(*member.sample);
    LEAT_CHECK(sample.start <= member.start && member.end() <= sample.end);
    LEAT_CHECK(view->find_sample(sample.key).value() <= *member.sample);
    LEAT_CHECK(view->find_in_sample(*member.sample, *member.field).value() <= i);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece_bytes = 1 + std::size_t{data[0]} * 3;
  std::string archive(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] % 2 == 1) seal(archive);
  const Scanned whole = scan(archive, archive.size(), /*skips=*/false);
  LEAT_CHECK(scan(archive, piece_bytes, /*skips=*/false) == whole);
  LEAT_CHECK(scan(archive, piece_bytes, /*skips=*/true) == whole);
  check_members(whole, archive.size());
  check_index(archive, whole);
  return 0;
}
