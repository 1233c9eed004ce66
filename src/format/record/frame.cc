#include "record/frame.h"

#include <fmt/format.h>

#include <algorithm>

#include "codec/codec.h"
#include "hash/crc32c.h"

namespace leat::record {
namespace {

using codec::Decoder;
using codec::Encoder;

constexpr std::string_view kSegmentMagic = "LEATSEG\n";
constexpr std::uint32_t kBatchMagic = 0x3142'544C;  // "LTB1"
constexpr std::uint8_t kMovedFlag = 1;

std::string_view text_of(const DiskId& disk) {
  return as_text(disk);
}

std::uint32_t seed(const Site& site, std::uint64_t offset) {
  std::string identity;
  Encoder out(identity);
  out.raw(text_of(site.disk));
  out.u64(site.segment.value());
  out.u64(offset);
  return hash::crc32c(as_bytes(identity));
}

// The checksum stands in the first four bytes of what it covers.
constexpr std::size_t kSumBytes = 4;

void write_sum(std::string& bytes, std::size_t at, std::size_t length, std::uint32_t start) {
  const Bytes covered = as_bytes(bytes).subspan(at + kSumBytes, length - kSumBytes);
  std::string sum;
  Encoder(sum).u32(hash::crc32c(covered, start));
  bytes.replace(at, kSumBytes, sum);
}

bool sum_is_right(Bytes bytes, std::uint32_t start) {
  return Decoder(bytes.first(kSumBytes)).u32() == hash::crc32c(bytes.subspan(kSumBytes), start);
}

constexpr std::uint64_t align(std::uint64_t value) {
  return (value + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
}

}  // namespace

std::string encode(const SegmentHeader& header) {
  std::string bytes;
  Encoder out(bytes);
  out.u32(0);
  out.u32(kSegmentFormat);
  out.raw(kSegmentMagic);
  out.raw(text_of(header.site.disk));
  out.u64(header.site.segment.value());
  out.u64(static_cast<std::uint64_t>(header.created_ms));
  bytes.resize(kSegmentHeaderBytes, '\0');
  write_sum(bytes, 0, bytes.size(), 0);
  return bytes;
}

Result<SegmentHeader> decode_segment_header(Bytes bytes) {
  if (bytes.size() < kSegmentHeaderBytes) return fail(Errc::corrupt, "a segment without a header");
  Decoder in(bytes.first(kSegmentHeaderBytes));
  in.u32();
  const std::uint32_t format = in.u32();
  if (in.raw(kSegmentMagic.size()) != kSegmentMagic) {
    return fail(Errc::corrupt, "not a segment of Leat");
  }
  if (!sum_is_right(bytes.first(kSegmentHeaderBytes), 0)) {
    return fail(Errc::corrupt, "the header of a segment is damaged");
  }
  if (format > kSegmentFormat) {
    return fail(Errc::not_implemented,
                fmt::format("a segment of format {}; this Leat knows {}", format, kSegmentFormat));
  }
  SegmentHeader header;
  const std::string_view disk = in.raw(header.site.disk.size());
  std::ranges::copy(as_bytes(disk), header.site.disk.begin());
  header.site.segment = SegmentId(in.u64());
  header.created_ms = static_cast<std::int64_t>(in.u64());
  return header;
}

Result<BatchHeader> decode_batch_header(const Site& site, std::uint64_t offset, Bytes bytes) {
  if (bytes.size() < kBatchHeaderBytes) return fail(Errc::corrupt, "a batch is cut off");
  const Bytes head = bytes.first(kBatchHeaderBytes);
  Decoder in(head);
  in.u32();
  const std::uint32_t magic = in.u32();
  BatchHeader header;
  header.offset = in.u64();
  header.length_bytes = in.u32();
  header.records = in.u32();
  header.first_sequence = Sequence(in.u64());
  header.durable_offset = in.u64();
  const bool fits = magic == kBatchMagic && header.offset == offset &&
                    header.length_bytes >= kBatchHeaderBytes && header.durable_offset <= offset;
  if (!fits || !sum_is_right(head, seed(site, offset))) {
    return fail(Errc::corrupt, "the header of a batch is damaged");
  }
  return header;
}

std::uint64_t RecordHeader::length_bytes() const {
  return align(covered_bytes() + data_bytes);
}

RecordHeader peek_record_header(Bytes bytes) {
  Decoder in(bytes);
  RecordHeader header;
  in.u32();
  header.change_bytes = in.u32();
  header.data_bytes = in.u32();
  header.sequence = Sequence(in.u64());
  header.kind = in.u8();
  header.is_moved = (in.u8() & kMovedFlag) != 0;
  return header;
}

Result<Record> decode_record(const Site& site, std::uint64_t offset, Bytes bytes) {
  if (bytes.size() < kRecordHeaderBytes) return fail(Errc::corrupt, "a record is cut off");
  Record record{.header = peek_record_header(bytes), .change = {}, .offset = offset};
  const std::uint64_t covered = record.header.covered_bytes();
  if (covered > bytes.size() || !sum_is_right(bytes.first(covered), seed(site, offset))) {
    return fail(Errc::corrupt, "a record is damaged");
  }
  const Bytes change = bytes.subspan(kRecordHeaderBytes, record.header.change_bytes);
  LEAT_TRY(record.change, decode_change(record.header.kind, as_text(change)));
  if (Version* version = version_in(record.change)) {
    if (auto* place = std::get_if<SegmentPlace>(&version->place)) {
      place->segment = site.segment;
      place->offset = record.sums_offset();
    }
  }
  return record;
}

std::uint32_t SummedData::sums_crc() const {
  return hash::crc32c(as_bytes(sums));
}

std::uint64_t SummedData::size_bytes() const {
  std::uint64_t size = 0;
  for (const Bytes piece : pieces)
    size += piece.size();
  return size;
}

SummedData sum_blocks(std::vector<Bytes> pieces) {
  SummedData summed{.pieces = std::move(pieces), .sums = {}};
  Encoder out(summed.sums);
  for (const Bytes piece : summed.pieces) {
    for (Bytes rest = piece; !rest.empty();) {
      const Bytes block = rest.first(std::min<std::size_t>(rest.size(), kBlockBytes));
      out.u32(hash::crc32c(block));
      rest = rest.subspan(block.size());
    }
  }
  return summed;
}

Status verify_blocks(std::string_view sums, Bytes data) {
  Decoder in(sums);
  std::uint64_t number = 0;
  for (Bytes rest = data; !rest.empty(); ++number) {
    const Bytes block = rest.first(std::min<std::size_t>(rest.size(), kBlockBytes));
    const std::uint32_t expected = in.u32();
    if (in.failed() || hash::crc32c(block) != expected) {
      return fail(Errc::corrupt, fmt::format("block {} fails its checksum", number));
    }
    rest = rest.subspan(block.size());
  }
  return {};
}

BatchBuilder::BatchBuilder(const Site& site, std::uint64_t offset, std::uint64_t durable_offset)
    : site_(site), offset_(offset), durable_offset_(durable_offset) {
  bytes_.resize(kBatchHeaderBytes, '\0');
}

std::uint64_t BatchBuilder::bound(std::size_t change_bytes, std::size_t data_bytes) {
  // A version grows by its sequence and its place when it is added.
  constexpr std::uint64_t kLateFields = 32;
  return kBatchHeaderBytes + kRecordHeaderBytes + change_bytes + kLateFields +
         block_count(data_bytes) * 4 + data_bytes + kRecordAlignment;
}

void BatchBuilder::add(Sequence sequence, Change& change, const SummedData& data, bool is_moved) {
  if (records_ == 0) first_ = sequence;
  ++records_;
  const std::size_t begin = bytes_.size();
  Version* version = version_in(change);
  SegmentPlace* place = version ? std::get_if<SegmentPlace>(&version->place) : nullptr;
  if (place != nullptr) *place = SegmentPlace{.sums_crc = data.sums_crc()};
  const std::string encoded = encode(change);
  Encoder out(bytes_);
  out.u32(0);
  out.u32(static_cast<std::uint32_t>(encoded.size()));
  out.u32(static_cast<std::uint32_t>(data.size_bytes()));
  out.u64(sequence.value());
  out.u8(static_cast<std::uint8_t>(change.index()));
  out.u8(is_moved ? kMovedFlag : 0);
  out.raw(std::string_view("\0\0", 2));
  out.raw(encoded);
  if (place != nullptr) {
    place->segment = site_.segment;
    place->offset = end_offset();
  }
  out.raw(data.sums);
  write_sum(bytes_, begin, bytes_.size() - begin, seed(site_, offset_ + begin));
  for (const Bytes piece : data.pieces)
    out.raw(as_text(piece));
  bytes_.resize(align(bytes_.size()), '\0');
}

Bytes BatchBuilder::finish() {
  std::string header;
  Encoder out(header);
  out.u32(0);
  out.u32(kBatchMagic);
  out.u64(offset_);
  out.u32(static_cast<std::uint32_t>(bytes_.size()));
  out.u32(records_);
  out.u64(first_.value());
  out.u64(durable_offset_);
  write_sum(header, 0, header.size(), seed(site_, offset_));
  bytes_.replace(0, header.size(), header);
  return as_bytes(bytes_);
}

Version* version_in(Change& change) {
  if (auto* put = std::get_if<PutObject>(&change)) return &put->version;
  if (auto* part = std::get_if<PutPart>(&change)) return &part->part.content;
  if (auto* trashed = std::get_if<KeepTrashed>(&change)) return &trashed->version;
  return nullptr;
}

const Version* version_in(const Change& change) {
  return version_in(const_cast<Change&>(change));
}

}  // namespace leat::record
