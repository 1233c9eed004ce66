// How changes lie in a segment: header, then batches of records. docs/formats/segment.md has the
// byte tables.
//
// Every checksum starts from the place it was written for (disk, segment, offset), so that bytes
// which land elsewhere, or on another disk, or are left over from an earlier life, do not pass.
#pragma once

#include "record/change.h"

namespace leat::record {

constexpr std::uint32_t kSegmentFormat = 1;
constexpr std::size_t kSegmentHeaderBytes = 64;
constexpr std::size_t kBatchHeaderBytes = 40;
constexpr std::size_t kRecordHeaderBytes = 24;
constexpr std::size_t kRecordAlignment = 8;

// Where bytes are meant to be.
struct Site {
  DiskId disk{};
  SegmentId segment{};
};

struct SegmentHeader {
  Site site{};
  std::int64_t created_ms = 0;
};

std::string encode(const SegmentHeader& header);
// Errors: corrupt; not_implemented, for a format of a later Leat.
Result<SegmentHeader> decode_segment_header(Bytes bytes);

// A batch is what one write put into the segment.
struct BatchHeader {
  std::uint64_t offset = 0;
  std::uint32_t length_bytes = 0;  // with this header
  std::uint32_t records = 0;
  Sequence first_sequence{};
  // All bytes before this offset were on the disk when the batch was written. A hole below it is
  // damage; one above it is what a power cut leaves.
  std::uint64_t durable_offset = 0;
};

// Errors: corrupt.
Result<BatchHeader> decode_batch_header(const Site& site, std::uint64_t offset, Bytes bytes);

struct RecordHeader {
  std::uint32_t change_bytes = 0;
  std::uint32_t data_bytes = 0;
  Sequence sequence{};
  std::uint8_t kind = 0;
  // Written again by compaction: older than its surroundings.
  bool is_moved = false;

  std::uint64_t sums_bytes() const { return block_count(data_bytes) * 4; }
  // Header, change and checksums: what the record's own checksum covers.
  std::uint64_t covered_bytes() const { return kRecordHeaderBytes + change_bytes + sums_bytes(); }
  std::uint64_t length_bytes() const;
};

// Looks at the header alone, so that the rest of the record can be read.
RecordHeader peek_record_header(Bytes bytes);

struct Record {
  RecordHeader header{};
  Change change{};
  std::uint64_t offset = 0;  // in the segment
  std::uint64_t sums_offset() const { return offset + kRecordHeaderBytes + header.change_bytes; }
  std::uint64_t data_offset() const { return sums_offset() + header.sums_bytes(); }
};

// `bytes` begin with the record and hold at least its covered bytes. The place of a version whose
// data is in the record is filled in. Errors: corrupt.
Result<Record> decode_record(const Site& site, std::uint64_t offset, Bytes bytes);

// Data with the checksums of its blocks. It may lie in several pieces of memory.
struct SummedData {
  std::vector<Bytes> pieces{};
  std::string sums{};  // 4 bytes a block, little-endian

  std::uint64_t size_bytes() const;
  std::uint32_t sums_crc() const;
};
// Requires: every piece but the last is a multiple of kBlockBytes.
SummedData sum_blocks(std::vector<Bytes> pieces);

// Checks blocks against their checksums. Requires: `data` begins with the first block of `sums`.
// Errors: corrupt.
Status verify_blocks(std::string_view sums, Bytes data);

// Collects records for one write.
class BatchBuilder {
 public:
  // A batch that will be written at `offset`.
  BatchBuilder(const Site& site, std::uint64_t offset, std::uint64_t durable_offset);

  // What a record of this change takes at most, data included.
  static std::uint64_t bound(std::size_t change_bytes, std::size_t data_bytes);

  // Adds a record; a version in it whose data comes along gets its place. Gives the version's
  // final place back through `change`.
  void add(Sequence sequence, Change& change, const SummedData& data, bool is_moved);

  bool is_empty() const { return records_ == 0; }
  std::uint64_t end_offset() const { return offset_ + bytes_.size(); }

  // The bytes to write. Requires: not empty.
  Bytes finish();

 private:
  Site site_{};
  std::uint64_t offset_;
  std::uint64_t durable_offset_;
  std::uint32_t records_ = 0;
  Sequence first_{};
  std::string bytes_{};
};

// The version that a change brings with it, if it does.
Version* version_in(Change& change);
const Version* version_in(const Change& change);

}  // namespace leat::record
