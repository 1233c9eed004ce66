// View::verify_all(): what reading never needs to know, for `fsck` and tests.
#include <algorithm>

#include "hash/digest.h"
#include "snapshot/view.h"
#include "snapshot/writer.h"

namespace leat::snapshot {
namespace {

Status expect(bool is_so, const char* what) {
  if (is_so) return {};
  return fail(Errc::corrupt, what);
}

}  // namespace

Status View::verify_all() const {
  LEAT_DO(verify_bytes());
  LEAT_DO(verify_shards());
  LEAT_DO(verify_keys());
  return verify_samples();
}

Status View::verify_bytes() const {
  FingerprintMaker maker;
  for (const Section& section : catalog_.footer().sections) {
    LEAT_TRY(const Bytes bytes, catalog_.pages().read(section, 0, section.size_bytes));
    maker.update(bytes);
    maker.end_section(section.kind, section.size_bytes);
  }
  return expect(maker.finish() == fingerprint(), "the fingerprint of a snapshot is another");
}

Status View::verify_shards() const {
  Row row = 0;
  std::uint32_t block = 0;
  for (std::uint32_t number = 0; number <= shard_count(); ++number) {
    LEAT_TRY(const Row first_row, catalog_.first_row_of_shard(number));
    LEAT_TRY(const std::uint32_t first_block, catalog_.first_block_of_shard(number));
    LEAT_DO(expect(first_row >= row && first_block >= block && (number > 0 || first_row == 0),
                   "the shards of a snapshot are out of order"));
    row = first_row;
    block = first_block;
    if (number == shard_count()) break;
    LEAT_DO(shard(number));
  }
  return expect(row == sample_count() && block == block_count(), "a snapshot lacks shards");
}

Status View::verify_keys() const {
  std::vector<bool> seen(sample_count());
  std::string before;
  Row row_before = 0;
  std::uint32_t rank = 0;
  KeyCursor cursor(*this);
  LEAT_TRY(bool is_there, cursor.next());
  while (is_there) {
    const bool is_behind =
        rank == 0 || cursor.key() > before || (cursor.key() == before && cursor.row() > row_before);
    LEAT_DO(expect(is_behind && !seen[cursor.row()], "the keys of a snapshot are out of order"));
    LEAT_TRY(const std::string by_row, key(cursor.row()));
    LEAT_DO(expect(by_row == cursor.key(), "the ranks of a snapshot are wrong"));
    if (cursor.key() != before || rank == 0) {
      LEAT_TRY(const auto found, find(cursor.key()));
      LEAT_DO(expect(found == cursor.row(), "the directory of a snapshot's keys is wrong"));
    }
    before = cursor.key();
    row_before = cursor.row();
    seen[cursor.row()] = true;
    ++rank;
    LEAT_TRY(is_there, cursor.next());
  }
  return expect(rank == sample_count(), "a snapshot lacks keys");
}

Status View::verify_samples() const {
  std::optional<Sample> before;
  std::uint32_t block = 0;
  for (Row row = 0; row < sample_count(); ++row) {
    LEAT_TRY(Sample one, sample(row));
    const bool is_behind = !before || one.shard > before->shard ||
                           (one.shard == before->shard && one.start >= before->end);
    LEAT_DO(expect(is_behind, "the samples of a snapshot are out of order"));
    LEAT_TRY(const Row next_block, first_row_of_block(block + (row == 0 ? 0 : 1)));
    const bool begins_block = next_block == row;
    if (begins_block && row > 0) ++block;
    const bool must_begin = !before || one.shard != before->shard;
    LEAT_DO(expect(begins_block || !must_begin, "a block of a snapshot crosses shards"));
    if (must_begin) {
      LEAT_TRY(const std::uint32_t first, catalog_.first_block_of_shard(one.shard));
      LEAT_DO(expect(first == block, "the blocks of a snapshot's shards are wrong"));
    }
    LEAT_TRY(const ShardEntry entry, shard(one.shard));
    LEAT_DO(expect(one.end <= entry.size_bytes, "a sample of a snapshot is outside its shard"));
    before = std::move(one);
  }
  const std::uint32_t blocks = sample_count() == 0 ? 0 : block + 1;
  return expect(blocks == block_count(), "a snapshot has too many blocks");
}

}  // namespace leat::snapshot
