// Opening a disk: who it is, what its index knows, what its segments know beyond that.
//
// Start-up reads the index and the changes since its last flush, never the data. A new directory
// gets an identity first. All of it blocks.
#pragma once

#include <memory>
#include <optional>

#include "index/index.h"
#include "io/clock.h"
#include "io/disk.h"
#include "io/rng.h"
#include "record/identity.h"
#include "record/members.h"
#include "segment/segment_folder.h"
#include "volume/committer.h"
#include "volume/folders.h"
#include "volume/options.h"
#include "volume/orphans.h"

namespace leat::volume {

struct RecoveryTools {
  io::Disk& disk;
  io::Clock& clock;
  io::Rng& rng;
};

struct Recovered {
  record::Identity identity{};
  std::unique_ptr<segment::SegmentFolder> segments{};
  std::unique_ptr<kv::Kv> kv{};
  std::unique_ptr<index::Index> index{};
  std::unique_ptr<io::File> active{};  // the segment to go on with
  LogEnd end{};
  std::uint64_t replayed = 0;       // changes that the index had not flushed
  std::uint64_t torn_bytes = 0;     // cut off: never acknowledged as durable
  std::uint64_t damaged_bytes = 0;  // passed over by rebuild() when loss is accepted
  std::vector<LostFile> lost{};     // put aside then
  // Of the active segment: what lies behind was written again and synced.
  std::uint64_t durable_offset = 0;
};

// Reads or makes the identity. `node` is what other disks of this node say; the first one decides.
// Errors: conflict (the disk belongs to another node), corrupt (the identity is lost, but data is
// there), not_implemented (made by a later Leat), denied, io.
Result<record::Identity> identify(const RecoveryTools& tools, const Folders& folders,
                                  const std::optional<record::DiskId>& node);

// Which disks the node has, as this one knows it: nothing when it was never told, or cannot be
// read.
Result<std::optional<record::Members>> read_members(io::Disk& disk, const Folders& folders);
Status write_members(io::Disk& disk, const Folders& folders, const record::Members& members);

// Errors: corrupt, when something durable is damaged: `leat fsck` says what and mends it.
Result<Recovered> recover(const RecoveryTools& tools, const Folders& folders,
                          const record::Identity& identity, const VolumeOptions& options);

// Makes the index anew from the segments alone, in the order of the changes. The folder of the
// index is empty. Gives what recover() gives. Damaged records are an error, unless their loss is
// accepted: then older versions of their objects may come back, or removed ones, and files that no
// change names are put aside, since theirs may be among the lost.
// Errors: corrupt, io.
enum class Loss : std::uint8_t { refused, accepted };
Result<Recovered> rebuild(const RecoveryTools& tools, const Folders& folders,
                          const record::Identity& identity, const VolumeOptions& options,
                          Loss loss = Loss::refused);

}  // namespace leat::volume
