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

// What a listing said of an object. It tells milliseconds, an object itself only seconds.
struct Listed {
  std::string etag{};
  WallTime modified{};
};
// The time for a file that has the object's bytes: the listed one, if that was the same object.
WallTime file_time(const Listed& listed, const s3client::ObjectHead& head);

struct DownloadJob {
  s3client::ObjectName source{};
  std::uint64_t size_bytes = 0;  // when it was listed
  std::string path{};
  bool is_durable = false;  // the file is there after a power cut: its object is to be removed
  Listed listed{};          // if it was listed
};

// What was fetched.
struct Fetched {
  std::uint64_t size_bytes = 0;
  std::string etag{};
};

// Makes the folders above the file.
// Errors: corrupt, when the bytes do not give the checksum; precondition_failed, when the object is
// replaced meanwhile; what disk and service say.
rt::Task<Fetched> download_file(Tools& tools, DownloadJob job);

// A file that is there stays there after a power cut, with its bytes. Blocks.
Status make_durable(io::Disk& disk, const std::string& path);

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
