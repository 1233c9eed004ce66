// Shards: objects that are archives of samples, and what the store notes of them.
//
// Every archive that comes in is looked at as it passes. What was seen is an attribute of its
// version; the index of a large one stands in its files, behind its bytes (record::appendix_bytes).
// A small one has none: reading it whole takes less time. Objects that are no archives pay one look
// at their first bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shard/scanner.h"
#include "volume/reader.h"

namespace leat::store {

struct ShardNote {
  bool is_indexed = false;
  std::uint64_t samples = 0;
  std::uint64_t members = 0;
  // Why the archive has no index; or, of one that has, what readers of samples will not like.
  std::string problem{};
};

// Sets the attribute that says what was seen, in place of one that came from elsewhere.
void note_shard(std::vector<record::Attribute>& attributes, const shard::Summary& seen);
// Nothing for what was no archive when it came in.
std::optional<ShardNote> shard_note(const record::Version& version);

// Shows the headers of an archive that lies in files to the scanner, and passes over data that it
// does not look at. Errors: not_found (gone meanwhile), corrupt, io.
rt::Task<void> scan_files(volume::VolumeReader& reader, const record::Version& version,
                          shard::ShardScanner& scanner);

}  // namespace leat::store
