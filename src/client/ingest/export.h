// export_files(): a version of a dataset as files again, as they were packed.
//
// Shards are read as a whole, compared with their checksums and taken apart. Samples that the
// version does not have any more are left out; files that are in no sample are written, too. Plain
// objects that were adopted come as virtual shards.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "dataset/dataset.h"
#include "ingest/grouping.h"
#include "transfer/tools.h"

namespace leat::ingest {

struct ExportOptions {
  bool overwrites = false;    // files that are there
  bool with_classes = false;  // also the field `cls` that an ingest made of folders' names
  std::size_t shards_at_once = 4;
};

struct ExportReport {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t failed = 0;
};

// Where the tar of a shard is to be had: the object, as it is stored, if the version has all of its
// samples; else the virtual shard. Lifetime: both outlive the task.
// Errors: conflict, when the object is another one than was committed; what the service says.
rt::Task<s3client::ObjectName> find_tar(s3client::S3Client& client, const dataset::Dataset& dataset,
                                        std::uint32_t number);

// The disk of `tools` is rooted in the target folder. What cannot be written is told to `complain`
// and counted. Lifetime: all arguments outlive the task.
// Errors: what the service says; corrupt.
rt::Task<ExportReport> export_files(transfer::Tools& tools, const dataset::Dataset& dataset,
                                    const ExportOptions& options, const Complain& complain);

}  // namespace leat::ingest
