// Orphans: files below files/ that the index does not know.
//
// Mostly a crash came before the change that was to name them, and they are removed. After a
// rebuild that passed over damage it may be the change itself that is lost, while the bytes are
// good: then they are put aside, and each says whose it was. Blocks.
#pragma once

#include <functional>
#include <vector>

#include "index/index.h"
#include "io/disk.h"
#include "volume/folders.h"

namespace leat::volume {

// But for those that `is_young`: they may belong to a change that is on its way. When a file was
// made cannot be asked of the file system, whose calendar may jump.
using IsYoung = std::function<bool(record::FileId)>;
Result<std::vector<record::FileId>> find_orphans(io::Disk& disk, const Folders& folders,
                                                 const index::Index& index,
                                                 const IsYoung& is_young);

// A file that no change names any more.
struct LostFile {
  std::string path{};  // where it is now
  // The object that it was written for; an empty key when its end is damaged.
  record::ObjectKey owner{};
  std::uint64_t size_bytes = 0;  // of that object's bytes, or of the file
};

// Moves all orphans to the folder `lost` of the disk. Ensures: their new places are durable.
Result<std::vector<LostFile>> put_orphans_aside(io::Disk& disk, const Folders& folders,
                                                const record::DiskId& disk_id,
                                                const index::Index& index);

}  // namespace leat::volume
