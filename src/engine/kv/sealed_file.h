// Sealed files: RocksDB's few small files, with a checksum over the whole of each.
//
// RocksDB reads its MANIFEST as a log that a crash may have cut: a flipped bit in the length of a
// record looks like such a cut, and all later records, which are flushed data, would be lost
// without a word. CURRENT has no checksum at all. Leat makes RocksDB write a new MANIFEST for each
// change (options.cc), so that both are written once, synced, and only then named; a seal at their
// end then tells damage from anything a crash can do.
//
// Layout: the content, then 16 bytes: the text "leatseal", the content's length and its CRC32C
// (four bytes each, little-endian). A seal is written by Sync(); until then a file has no bytes.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>
#include <string>
#include <string_view>

#include "io/disk.h"

namespace leat::kv {

inline constexpr std::uint64_t kSealBytes = 16;

// CURRENT, IDENTITY, MANIFEST-*, and the temporary files that become them.
bool is_sealed(std::string_view path);

// The content without the seal. Errors: not_found, corrupt (naming the file), io.
Result<std::string> read_sealed(io::Disk& disk, const std::string& path);

std::unique_ptr<rocksdb::FSSequentialFile> make_sealed_reader(std::string content);
std::unique_ptr<rocksdb::FSWritableFile> make_sealed_writer(std::unique_ptr<io::File> file);

}  // namespace leat::kv
