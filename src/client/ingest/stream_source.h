// A tar that comes as a stream, into a Writer.
#pragma once

#include "ingest/gathering.h"
#include "ingest/writer.h"
#include "transfer/upload.h"

namespace leat::ingest {

// Up to the stream's end, with the fields that the gathering chose; what is found is told to it.
// Whole samples are held in memory, one at a time. Errors: bad_request, when it is no sound tar;
// too_large, for a sample above 4 GiB; as the writer. Lifetime: all arguments outlive the task.
rt::Task<void> write_archive(transfer::Tools& tools, transfer::ByteSource& source, Writer& writer,
                             Gathering& gathering);

}  // namespace leat::ingest
