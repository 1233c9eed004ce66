#include "segment/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace leat::segment {
namespace {

using record::BatchHeader;
using record::kBatchHeaderBytes;
using record::kRecordHeaderBytes;

// How much is read at least: by whoever reads on, and by who wants one record.
constexpr std::uint64_t kAheadBytes = 256 * kKiB;
constexpr std::uint64_t kRecordBytes = 512;

// Reads through a window, so that small records do not cost a call each.
class Window {
 public:
  Window(const io::File& file, std::uint64_t file_bytes, std::uint64_t ahead_bytes)
      : file_(file), file_bytes_(file_bytes), ahead_bytes_(ahead_bytes) {}

  // `length` bytes at `offset`; fewer at the end of the file. Valid until the next call.
  Result<Bytes> at(std::uint64_t offset, std::uint64_t length) {
    if (offset >= file_bytes_) return Bytes{};
    length = std::min(length, file_bytes_ - offset);
    if (offset < begin_ || offset + length > begin_ + bytes_.size()) {
      bytes_.resize(std::min(std::max(length, ahead_bytes_), file_bytes_ - offset));
      begin_ = offset;
      LEAT_TRY(const std::size_t got, file_.read_at(offset, bytes_));
      if (got < bytes_.size()) return fail(Errc::io, "a segment became shorter while it was read");
    }
    return Bytes(bytes_).subspan(offset - begin_, length);
  }

 private:
  const io::File& file_;
  std::uint64_t file_bytes_;
  std::uint64_t ahead_bytes_;
  std::uint64_t begin_ = 0;
  std::vector<std::byte> bytes_;
};

class Scanner {
 public:
  Scanner(const io::File& file, const record::Site& site, std::uint64_t file_bytes,
          std::uint64_t ahead_bytes = kAheadBytes)
      : window_(file, file_bytes, ahead_bytes), site_(site), file_bytes_(file_bytes) {}

  Result<ScanEnd> run(ScanRange range, const Visit& visit) {
    std::uint64_t durable = file_bytes_;
    if (!range.is_sealed) {
      LEAT_TRY(durable, find_durable(range.begin));
    }
    ScanEnd end{.offset = range.begin};
    while (end.offset < file_bytes_) {
      LEAT_TRY(const auto batch, batch_at(end.offset));
      const bool may_be_torn = end.offset >= durable;
      if (may_be_torn) {
        LEAT_TRY(const bool whole, is_whole(batch));
        if (!whole) break;
      } else if (!batch && !range.pass_over_damage) {
        return damaged(end.offset);
      } else if (!batch) {
        LEAT_TRY(const std::uint64_t next, find_batch(end.offset + record::kRecordAlignment));
        end.damaged_bytes += next - end.offset;
        end.offset = next;
        continue;
      }
      LEAT_DO(visit_batch(*batch, range, end, visit));
      end.offset += batch->length_bytes;
    }
    end.torn_bytes = file_bytes_ - end.offset;
    end.durable_offset = std::min(durable, end.offset);
    return end;
  }

  Result<record::Record> record_at(std::uint64_t offset) {
    LEAT_TRY(const Bytes head, window_.at(offset, kRecordHeaderBytes));
    if (head.size() < kRecordHeaderBytes) return damaged(offset);
    const std::uint64_t covered = record::peek_record_header(head).covered_bytes();
    if (covered > file_bytes_ - offset) return damaged(offset);
    LEAT_TRY(const Bytes bytes, window_.at(offset, covered));
    auto decoded = record::decode_record(site_, offset, bytes);
    if (!decoded) return damaged(offset);
    return decoded;
  }

 private:
  std::unexpected<Error> damaged(std::uint64_t offset) const {
    return fail(Errc::corrupt, fmt::format("segment {:016x} is damaged at offset {}",
                                           site_.segment.value(), offset));
  }

  // Nothing when there is no good batch at `offset`.
  Result<std::optional<BatchHeader>> batch_at(std::uint64_t offset) {
    LEAT_TRY(const Bytes bytes, window_.at(offset, kBatchHeaderBytes));
    const auto header = record::decode_batch_header(site_, offset, bytes);
    if (!header || header->length_bytes > file_bytes_ - offset) return std::nullopt;
    return *header;
  }

  // The first place at or behind `offset` where a batch begins; the end of the file if none does.
  Result<std::uint64_t> find_batch(std::uint64_t offset) {
    for (; offset < file_bytes_; offset += record::kRecordAlignment) {
      LEAT_TRY(const auto batch, batch_at(offset));
      if (batch) return offset;
    }
    return file_bytes_;
  }

  // Up to where everything was on the disk, by the batches at and behind `offset`. Behind a hole
  // every place that could hold a batch is tried: one that says that the hole was durable makes it
  // damage.
  Result<std::uint64_t> find_durable(std::uint64_t offset) {
    std::uint64_t durable = offset;
    while (offset < file_bytes_) {
      LEAT_TRY(const auto batch, batch_at(offset));
      if (batch) durable = std::max(durable, batch->durable_offset);
      offset += batch ? batch->length_bytes : record::kRecordAlignment;
    }
    return durable;
  }

  // Every record and every byte of data passes its checksum.
  Result<bool> is_whole(const std::optional<BatchHeader>& batch) {
    if (!batch) return false;
    std::uint64_t offset = batch->offset + kBatchHeaderBytes;
    for (std::uint32_t i = 0; i < batch->records; ++i) {
      const auto record = record_at(offset);
      if (!record) {
        if (record.error().code() == Errc::corrupt) return false;
        return fail(record.error());
      }
      const std::uint64_t data_bytes = record->header.sums_bytes() + record->header.data_bytes;
      LEAT_TRY(const Bytes bytes, window_.at(record->sums_offset(), data_bytes));
      if (bytes.size() < data_bytes) return false;
      const std::string_view sums = as_text(bytes.first(record->header.sums_bytes()));
      if (!record::verify_blocks(sums, bytes.subspan(sums.size()))) return false;
      offset += record->header.length_bytes();
    }
    return offset == batch->offset + batch->length_bytes;
  }

  Status visit_batch(const BatchHeader& batch, ScanRange range, ScanEnd& end, const Visit& visit) {
    std::uint64_t offset = batch.offset + kBatchHeaderBytes;
    for (std::uint32_t i = 0; i < batch.records; ++i) {
      auto decoded = record_at(offset);
      if (!decoded && decoded.error().code() == Errc::corrupt && range.pass_over_damage) {
        // Where the next record begins stands in the damaged one: the rest of the batch is lost.
        end.damaged_bytes += batch.offset + batch.length_bytes - offset;
        return {};
      }
      if (!decoded) return fail(std::move(decoded).error());
      const record::Record& record = *decoded;
      LEAT_DO(visit(record));
      end.last = std::max(end.last, record.header.sequence);
      ++end.records;
      offset += record.header.length_bytes();
    }
    if (offset != batch.offset + batch.length_bytes) return damaged(batch.offset);
    return {};
  }

  Window window_;
  const record::Site& site_;
  std::uint64_t file_bytes_;
};

}  // namespace

Result<record::Record> read_record(const io::File& file, const record::Site& site,
                                   std::uint64_t offset) {
  LEAT_TRY(const io::FileInfo info, file.info());
  // Whoever reads records one by one takes them in an order of its own.
  Scanner scanner(file, site, info.size_bytes, kRecordBytes);
  return scanner.record_at(offset);
}

Result<ScanEnd> scan(const io::File& file, const record::Site& site, ScanRange range,
                     const Visit& visit) {
  LEAT_TRY(const io::FileInfo info, file.info());
  if (info.size_bytes < range.begin) {
    return fail(Errc::corrupt, fmt::format("segment {:016x} has {} bytes, {} were known",
                                           site.segment.value(), info.size_bytes, range.begin));
  }
  Scanner scanner(file, site, info.size_bytes);
  return scanner.run(range, visit);
}

}  // namespace leat::segment
