// Reading a segment from front to back: recovery, rebuilding, compaction and fsck.
//
// What was durable must be whole; what was not yet may be torn by a power cut, and ends the segment
// there. Which is which stands in the batches themselves: each says up to where everything was on
// the disk when it was written (record/frame.h).
#pragma once

#include <functional>

#include "io/disk.h"
#include "record/frame.h"

namespace leat::segment {

struct ScanRange {
  std::uint64_t begin = record::kSegmentHeaderBytes;
  // Nothing more can be written to it: it was closed, so all of it was durable.
  bool is_sealed = false;
  // What was durable and is damaged is passed over and counted instead of being an error.
  bool pass_over_damage = false;
};

struct ScanEnd {
  std::uint64_t offset = 0;  // behind the last whole batch
  record::Sequence last{};   // the highest sequence seen; 0 if none
  std::uint64_t records = 0;
  std::uint64_t torn_bytes = 0;     // behind `offset`, not durable, to be cut off
  std::uint64_t damaged_bytes = 0;  // passed over
  // Up to where a batch of the segment says that everything was on the disk. What is whole behind
  // it may be in the kernel's memory alone.
  std::uint64_t durable_offset = 0;
};

using Visit = std::function<Status(const record::Record&)>;

// Calls `visit` for each record, in order. Blocks.
// Data is checked only where it may be torn: damage in durable data is found when it is read.
// Errors: corrupt, when something that was durable is damaged; what `visit` returned; io.
Result<ScanEnd> scan(const io::File& file, const record::Site& site, ScanRange range,
                     const Visit& visit);

// One record whose offset is known. Errors: corrupt, io.
Result<record::Record> read_record(const io::File& file, const record::Site& site,
                                   std::uint64_t offset);

}  // namespace leat::segment
