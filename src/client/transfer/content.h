// Contents of files compared with what a service says of an object.
#pragma once

#include <memory>
#include <string>

#include "s3client/operations.h"
#include "transfer/tools.h"

namespace leat::transfer {

// An open file and what it was like then.
struct OpenFile {
  std::shared_ptr<io::File> file{};
  io::FileInfo info{};
};

// Errors: bad_request, for a folder; as Disk::open().
rt::Task<OpenFile> open_file(Tools& tools, std::string path);

// The checksum of `size` bytes of a file from its start, read on a pool thread.
// Errors: conflict, when the file is shorter; io. Lifetime: the file outlives the task.
rt::Task<hash::ChecksumValue> checksum_of(Tools& tools, const io::File& file, std::uint64_t size,
                                          hash::ChecksumAlgorithm algorithm);

// True if nobody has changed the file between both looks at it, nor put another in its place.
bool is_same_version(const io::FileInfo& one, const io::FileInfo& other);

// True if the file has the object's bytes: the same size, and the same checksum, or for lack of one
// the MD5 that an ETag may be. False also when nobody can tell.
rt::Task<bool> has_content(Tools& tools, OpenFile open, const s3client::ObjectHead& head);

}  // namespace leat::transfer
