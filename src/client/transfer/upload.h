// Uploads: a file or a stream becomes an object.
//
// Small ones are sent in one request, with their checksum. Large ones are sent in parts, several at
// a time; a run that was interrupted left its parts with the service and goes on there
// (upload_state.h). The object appears when all of it has arrived, or not at all.
#pragma once

#include <cstdint>
#include <string>

#include "s3client/operations.h"
#include "transfer/tools.h"

namespace leat::transfer {

struct UploadJob {
  std::string path{};
  std::uint64_t size_bytes = 0;  // when it was looked at
  s3client::ObjectName target{};
  s3client::Content content{};
};

// What was sent.
struct Sent {
  std::uint64_t size_bytes = 0;
  io::FileInfo info{};  // of the file that has these bytes
};

// Errors: conflict, when the file changes meanwhile; what disk and service say.
rt::Task<Sent> upload_file(Tools& tools, UploadJob job);

// Bytes that come one after the other.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills `target`; fewer bytes only at the end.
  virtual rt::Task<std::size_t> read(MutableBytes target) = 0;
};

// Up to its end, however long it is. An upload that fails is ended: nobody can go on with it.
rt::Task<std::uint64_t> upload_stream(Tools& tools, ByteSource& source, s3client::ObjectName target,
                                      s3client::Content content);

}  // namespace leat::transfer
