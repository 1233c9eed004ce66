// The end of a large object's file: what makes it verifiable and self-describing.
//
// The object's bytes come first, so that byte n of the file is byte n of the object; behind them
// stand the block checksums, who the bytes belong to, and a fixed tail.
// docs/formats/object_file.md.
#pragma once

#include "base/result.h"
#include "record/types.h"

namespace leat::record {

constexpr std::size_t kFileTailBytes = 64;

struct FileTail {
  DiskId disk{};
  FileId file{};
  std::uint64_t data_bytes = 0;
  std::string sums{};  // 4 bytes a block, little-endian
  ObjectKey owner{};   // for whoever finds the file alone
};

// What to write behind the data, beginning at offset data_bytes.
std::string encode(const FileTail& tail);

// Reads it back in two steps, as a reader must: how many bytes stand behind the data, from the last
// kFileTailBytes of the file; then all of them.
// Errors: corrupt, also when the file is another one than `disk` and `file` say.
Result<std::uint64_t> bytes_behind_data(Bytes last, std::uint64_t file_bytes);
Result<FileTail> decode_file_tail(const DiskId& disk, FileId file, Bytes behind_data);

}  // namespace leat::record
