// Audit: everything an index holds, read entry by entry, and whether it agrees with itself.
//
// It shares the decoding of entries with the index but none of its bookkeeping: counters are
// counted again, owners of files looked up again, and the folder of files is listed.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/model.h"
#include "io/disk.h"

namespace leat::model {

struct Holdings {
  // Objects, their trash and uploads; buckets under the empty name.
  std::map<record::ObjectKey, Seen> keys{};
  std::map<record::BucketId, index::Counts> counts{};
  std::map<record::SegmentId, std::uint64_t> live_bytes{};
  std::map<record::FileId, std::uint64_t> named_files{};  // and their size
  std::set<record::FileId> owned_files{};
  std::set<record::FileId> garbage{};
  // What does not fit together in the entries themselves.
  std::vector<std::string> problems{};
};

// Errors: corrupt, io.
Result<Holdings> read_holdings(const kv::Kv& kv, const index::Index& index);

// What is wrong: counters, owners of files, files that are missing. Empty when all is well.
// `with_files`: looks at the folder of files, too.
std::vector<std::string> audit(const Holdings& holdings, const index::Index& index);
std::vector<std::string> audit_files(const Holdings& holdings, io::Disk& disk,
                                     const volume::Folders& folders);

}  // namespace leat::model
