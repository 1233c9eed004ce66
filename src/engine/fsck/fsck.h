// Fsck: looks at everything a disk holds while no server runs on it, and says what is wrong.
//
// It reads the identity, every table of the index, every record of every segment with its data, and
// every file with its blocks; it counts again what the counters say; it finds files that nobody
// names. It changes nothing; rebuild() makes the index anew from the segments.
//
// Blocks, for as long as reading the disk takes; `tell` hears of it now and then.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "volume/recovery.h"

namespace leat::fsck {

struct Finding {
  std::string where{};  // a file, or a bucket and a key
  std::string what{};
};

struct Report {
  std::uint64_t objects = 0;   // current versions
  std::uint64_t versions = 0;  // with those in the trash and the parts of uploads
  std::uint64_t bytes = 0;     // of all versions, read and verified
  std::uint64_t segments = 0;
  std::uint64_t records = 0;
  std::uint64_t files = 0;
  std::uint64_t orphans = 0;  // files that nobody names: harmless, removed after a start
  // Changes that the index does not know yet, since the process was killed: the next start applies
  // them. Objects, versions and orphans are those before them.
  std::uint64_t pending = 0;
  std::vector<Finding> findings{};

  bool is_clean() const { return findings.empty(); }
};

// The object for people to read: control characters are written out.
std::string name_of(const record::ObjectKey& object);

using Tell = std::function<void(const Report&)>;

// Errors: what keeps it from looking at all (conflict, denied, not_implemented, io). Damage is in
// the report.
Result<Report> check(const volume::RecoveryTools& tools, const volume::Folders& folders,
                     const Tell& tell);

struct Rebuilt {
  std::uint64_t changes = 0;
  std::uint64_t objects = 0;
  std::uint64_t damaged_bytes = 0;  // of segments, passed over
  // Files of large objects that no record names any more: they were moved to the folder lost/.
  std::vector<volume::LostFile> lost{};
  std::string old_index{};  // where the index that was there is now; empty if none was
};

// Puts the old index aside and makes a new one.
// Errors: corrupt, when a segment is damaged and loss is refused; no_space, io.
Result<Rebuilt> rebuild(const volume::RecoveryTools& tools, const volume::Folders& folders,
                        volume::Loss loss);

}  // namespace leat::fsck
