// SegmentFolder: the segments of one disk as files: which there are, making, opening, removing.
//
// All calls block: they run at start-up or on a pool. Lifetime: the disk outlives it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/disk.h"
#include "record/frame.h"

namespace leat::segment {

class SegmentFolder {
 public:
  // `folder` is there. Its segments belong to the disk with this identity.
  SegmentFolder(io::Disk& disk, std::string folder, const record::DiskId& id)
      : disk_(disk), folder_(std::move(folder)), id_(id) {}

  record::Site site(record::SegmentId segment) const { return {.disk = id_, .segment = segment}; }

  // In order. Names that are no segments are left out.
  Result<std::vector<record::SegmentId>> list() const;

  // Makes an empty segment, durable with its name when this returns. What a crash left of an
  // earlier try under the same number is replaced.
  Result<std::unique_ptr<io::File>> create(record::SegmentId segment, std::int64_t now_ms);

  // Errors: not_found; corrupt, when the header is not this segment's.
  Result<std::unique_ptr<io::File>> open(record::SegmentId segment, io::OpenMode mode) const;

  Result<std::uint64_t> size_bytes(record::SegmentId segment) const;

  // The names of all segments are on the disk when this returns.
  Status sync_names();

  // Gone for good when this returns. Fine if it is not there.
  Status remove(record::SegmentId segment);

 private:
  std::string path(record::SegmentId segment) const;

  io::Disk& disk_;
  std::string folder_;
  record::DiskId id_;
};

}  // namespace leat::segment
