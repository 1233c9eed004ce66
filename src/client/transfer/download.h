// Downloads: an object becomes a file or a stream.
//
// A file appears under its name when all of its bytes are there and give the object's checksum, or
// not at all. Small objects come in one request; large ones in ranges, several at a time, into a
// file that a later run goes on with (part_file.h).
#pragma once

#include <cstdint>
#include <string>

#include "s3client/operations.h"
#include "transfer/tools.h"

namespace leat::transfer {

struct DownloadJob {
  s3client::ObjectName source{};
  std::uint64_t size_bytes = 0;  // when it was listed
  std::string path{};
};

// Returns the size. Makes the folders above the file.
// Errors: corrupt, when the bytes do not give the checksum; precondition_failed, when the object is
// replaced meanwhile; what disk and service say.
rt::Task<std::uint64_t> download_file(Tools& tools, DownloadJob job);

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual rt::Task<void> write(Bytes bytes) = 0;
};

// In order, as it arrives; goes on where it broke off. That the bytes were good is known at the
// end.
// Errors: corrupt, as above, after all was written.
rt::Task<std::uint64_t> download_stream(Tools& tools, s3client::ObjectName source, ByteSink& sink);

}  // namespace leat::transfer
