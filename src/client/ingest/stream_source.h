// A tar that comes as a stream, into a Writer.
#pragma once

#include "ingest/gathering.h"
#include "ingest/writer.h"
#include "transfer/upload.h"

namespace leat::ingest {

// Up to the stream's end, with the fields that the gathering chose; what is found is told to it.
// Whole samples are held in memory, one at a time. Errors: bad_request, when it is no sound tar;
// too_large, for a sample of more than `sample_max_bytes`; as the writer. Lifetime: all arguments
// outlive the task.
constexpr std::uint64_t kSampleMaxBytes = 4 * kGiB;
rt::Task<void> write_archive(transfer::Tools& tools, transfer::ByteSource& source, Writer& writer,
                             Gathering& gathering,
                             std::uint64_t sample_max_bytes = kSampleMaxBytes);

}  // namespace leat::ingest
