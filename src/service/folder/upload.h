// Upload: a file that is being written, invisible until it is whole and durable.
//
// The bytes go to a temporary name in the root; publish() syncs them, gives them their name in one
// step and syncs that name. Readers see the old file or the new one, never a part. An upload that
// is not published leaves nothing: its file is removed, at the latest when the folder is shared
// again.
//
// Shard: one. Lifetime: state, FileIo and shard outlive it; the state's disk outlives the pool's
// jobs.
#pragma once

#include <memory>
#include <string>

#include "folder/folder.h"
#include "io/rng.h"
#include "io/write_behind.h"

namespace leat::folder {

struct UploadTools {
  rt::Shard& shard;
  io::FileIo& file_io;
  io::BufferPool& buffers;
  io::Rng& rng;
};

class Upload {
 public:
  // Errors: denied, no_space, busy, io, unavailable (after a failed sync).
  static rt::Task<std::unique_ptr<Upload>> begin(FolderState& state, UploadTools tools);
  ~Upload();

  // Where the bytes go: fill and commit its buffers.
  io::WriteBehind& writer() { return writer_; }

  // True if a file of that name was replaced.
  // Errors: conflict (the name is a folder, or a folder's name is a file), no_space, io.
  rt::Task<bool> publish(std::string path);

  // Removes the leftovers of uploads that a crash interrupted. Blocks: for start-up.
  static Status clean(io::Disk& disk);

 private:
  Upload(FolderState& state, UploadTools tools, std::shared_ptr<io::File> file, std::string name);

  FolderState& state_;
  io::FileIo& file_io_;
  std::shared_ptr<io::File> file_;
  std::string temporary_;
  io::WriteBehind writer_;
  bool published_ = false;
};

}  // namespace leat::folder
