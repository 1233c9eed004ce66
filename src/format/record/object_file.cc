#include "record/object_file.h"

#include <algorithm>

#include "codec/codec.h"
#include "hash/crc32c.h"

namespace leat::record {
namespace {

using codec::Decoder;
using codec::Encoder;

constexpr std::string_view kMagic = "LEATOBJ\n";
constexpr std::uint32_t kFormat = 1;

constexpr std::uint64_t padding(std::uint64_t data_bytes) {
  return (8 - data_bytes % 8) % 8;
}

// The fields of the fixed tail, in their order.
struct Fixed {
  std::uint64_t data_bytes = 0;
  std::uint32_t owner_bytes = 0;

  std::uint64_t sums_bytes() const { return block_count(data_bytes) * 4; }
  std::uint64_t behind_data() const {
    return padding(data_bytes) + sums_bytes() + owner_bytes + kFileTailBytes;
  }
};

Result<Fixed> decode_fixed(Bytes last, const DiskId* disk, const FileId* file) {
  if (last.size() != kFileTailBytes) return fail(Errc::corrupt, "an object's file has no tail");
  Decoder in(last);
  in.u32();
  const std::uint32_t format = in.u32();
  const bool is_ours = in.raw(kMagic.size()) == kMagic;
  const std::string_view found_disk = in.raw(sizeof(DiskId));
  const FileId found_file(in.u64());
  Fixed fixed;
  fixed.data_bytes = in.u64();
  fixed.owner_bytes = in.u32();
  if (!is_ours || format != kFormat) return fail(Errc::corrupt, "an object's file has no tail");
  if (disk != nullptr && (found_disk != as_text(*disk) || found_file != *file)) {
    return fail(Errc::corrupt, "an object's file is in the place of another");
  }
  return fixed;
}

}  // namespace

std::string encode(const FileTail& tail) {
  std::string owner;
  Encoder owner_out(owner);
  owner_out.varint(tail.owner.bucket.value());
  owner_out.text(tail.owner.key);

  std::string bytes(padding(tail.data_bytes), '\0');
  bytes += tail.sums;
  bytes += owner;
  const std::size_t fixed_at = bytes.size();
  Encoder out(bytes);
  out.u32(0);
  out.u32(kFormat);
  out.raw(kMagic);
  out.raw(as_text(tail.disk));
  out.u64(tail.file.value());
  out.u64(tail.data_bytes);
  out.u32(static_cast<std::uint32_t>(owner.size()));
  bytes.resize(fixed_at + kFileTailBytes, '\0');
  // The checksum covers everything behind the data but its own four bytes.
  std::uint32_t sum = hash::crc32c(as_bytes(bytes).first(fixed_at));
  sum = hash::crc32c(as_bytes(bytes).subspan(fixed_at + 4), sum);
  std::string sum_bytes;
  Encoder(sum_bytes).u32(sum);
  bytes.replace(fixed_at, sum_bytes.size(), sum_bytes);
  return bytes;
}

Result<std::uint64_t> bytes_behind_data(Bytes last, std::uint64_t file_bytes) {
  LEAT_TRY(const Fixed fixed, decode_fixed(last, nullptr, nullptr));
  const std::uint64_t behind = fixed.behind_data();
  if (fixed.data_bytes > file_bytes || behind != file_bytes - fixed.data_bytes) {
    return fail(Errc::corrupt, "an object's file has another size than its tail says");
  }
  return behind;
}

Result<FileTail> decode_file_tail(const DiskId& disk, FileId file, Bytes behind_data) {
  if (behind_data.size() < kFileTailBytes) {
    return fail(Errc::corrupt, "an object's file has no tail");
  }
  const Bytes last = behind_data.last(kFileTailBytes);
  const Bytes before = behind_data.first(behind_data.size() - kFileTailBytes);
  LEAT_TRY(const Fixed fixed, decode_fixed(last, &disk, &file));
  const std::uint32_t sum = hash::crc32c(last.subspan(4), hash::crc32c(before));
  if (Decoder(last).u32() != sum || fixed.behind_data() != behind_data.size()) {
    return fail(Errc::corrupt, "the tail of an object's file is damaged");
  }
  FileTail tail{
      .disk = disk, .file = file, .data_bytes = fixed.data_bytes, .sums = {}, .owner = {}};
  Decoder in(before.subspan(padding(fixed.data_bytes)));
  tail.sums = in.raw(fixed.sums_bytes());
  tail.owner.bucket = BucketId(static_cast<std::uint32_t>(in.varint()));
  tail.owner.key = in.text();
  LEAT_DO(in.finish("the owner of an object's file"));
  return tail;
}

}  // namespace leat::record
