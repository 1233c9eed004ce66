// Sealed files: what RocksDB trusts without a checksum gets one.
//
// RocksDB reads its MANIFEST as a log that a crash may have cut: a flipped bit in the length of a
// record looks like such a cut, and all later records, which are flushed data, would be lost
// without a word. CURRENT has no checksum at all. Leat makes RocksDB write a new MANIFEST for each
// change (options.cc), so that both are written once, synced, and only then named; a seal at their
// end then tells damage from anything a crash can do.
//
// The blocks of a table have checksums, but its footer has none, and the block of properties before
// it is parsed before its checksum is compared, by code whose assertions end the process. So the
// last bytes of a table are sealed, too, and checked when the table is opened.
//
// Layout: the content, then 16 bytes: the text "leatseal", the number of bytes before it that the
// seal covers and their CRC32C (four bytes each, little-endian). Sync() writes the seal. RocksDB is
// told sizes without it.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>
#include <string>
#include <string_view>

#include "io/disk.h"

namespace leat::kv {

inline constexpr std::uint64_t kSealBytes = 16;

// CURRENT, IDENTITY, MANIFEST-*, and the temporary files that become them: sealed as a whole.
bool is_sealed(std::string_view path);
// *.sst: sealed at the end.
bool is_table(std::string_view path);

// The content without the seal. Errors: not_found, corrupt (naming the file), io.
Result<std::string> read_sealed(io::Disk& disk, const std::string& path);

// Errors: corrupt (naming the file), io.
Status check_table(const io::File& file, const std::string& path);

std::unique_ptr<rocksdb::FSSequentialFile> make_sealed_reader(std::string content);
std::unique_ptr<rocksdb::FSWritableFile> make_sealed_writer(std::unique_ptr<io::File> file);
std::unique_ptr<rocksdb::FSWritableFile> make_table_writer(std::unique_ptr<io::File> file);

}  // namespace leat::kv
