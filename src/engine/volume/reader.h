// VolumeReader: finding and reading what a disk holds, from any shard.
//
// Looking up needs no message to the disk's home: the index may be asked by everybody, and answers
// from memory most of the time. Bytes are verified against their checksums before anybody sees
// them: damage is Errc::corrupt, never a wrong byte.
//
// A version that was replaced while it is being opened may be gone: then not_found, and the caller
// looks it up again. What was opened stays readable to its end.
//
// Shard: one reader a shard. Lifetime: the volume and the kit outlive it and what it opened.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "io/read_ahead.h"
#include "record/object_file.h"
#include "volume/file_writer.h"
#include "volume/volume.h"

namespace leat::volume {

// Verified bytes in memory.
struct Content {
  std::shared_ptr<const void> owner{};
  Bytes bytes{};
};

// A file of a large object, open, with its checksums.
struct ObjectFile {
  std::shared_ptr<const io::File> file{};
  record::FileTail tail{};
};
using ObjectFilePtr = std::shared_ptr<const ObjectFile>;

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// A part of a range that is in one file.
struct FilePart {
  ObjectFilePtr file{};
  ByteRange range{};  // within the file
  PinPtr pin{};       // null: the bytes have to be read and verified
};

// The bytes of a range of a large object, in order, verified.
class FilesSource {
 public:
  // Lifetime: the kit's parts and the folders outlive it.
  FilesSource(ShardKit kit, const Folders& folders, std::vector<FilePart> parts)
      : kit_(kit), folders_(folders), parts_(std::move(parts)) {}

  // The next bytes, valid until the next call; empty at the end. Errors: corrupt, io.
  rt::Task<Bytes> next();

  // Where the last bytes stand in a file whose pages are pinned, for sending without a copy; null
  // if they were read.
  struct InFile {
    std::shared_ptr<const io::File> file;
    std::uint64_t offset = 0;
  };
  std::optional<InFile> in_file() const;

 private:
  void start(const FilePart& part);
  void finish(const FilePart& part);

  ShardKit kit_;
  const Folders& folders_;
  std::vector<FilePart> parts_;
  std::size_t at_ = 0;  // the part behind the present one
  std::unique_ptr<io::ReadAhead> reading_;
  std::uint64_t block_ = 0;  // the first block of the next piece
  std::uint64_t skip_ = 0;   // of the next piece, before the range
  std::uint64_t left_ = 0;   // of the present part
};

class VolumeReader {
 public:
  // How many segments and files are kept open.
  static constexpr std::size_t kOpenMax = 256;

  VolumeReader(Volume& volume, ShardKit kit);

  // Looks in the index, and remembers. Nothing when there is no such object.
  // Errors: corrupt, io, busy.
  rt::Task<std::optional<record::Version>> find(record::ObjectKey object);
  // What find() would give now, if that is remembered.
  std::optional<record::Version> recall(const record::ObjectKey& object);

  // A range of an object that is in a segment.
  // Requires: the range is within the object. Errors: not_found (gone meanwhile), corrupt, io.
  rt::Task<Content> read_small(const record::Version& version, ByteRange range);
  // The same without waiting. Errors: would_block, when the bytes are not in the page cache or the
  // segment is not open; corrupt, io.
  Result<Content> try_read_small(const record::Version& version, ByteRange range);

  // A range of an object that is in files. Errors: not_found (gone meanwhile), corrupt, io.
  rt::Task<std::unique_ptr<FilesSource>> open_files(const record::Version& version,
                                                    ByteRange range);

  // The files that hold the bytes of an object, without its appendix, in order and opened anew: for
  // somebody who may do with a descriptor whatever descriptors can do.
  // Requires: the object is in files. Errors: not_found (gone meanwhile), corrupt, io, busy.
  rt::Task<std::vector<ObjectFilePtr>> open_apart(const record::Version& version);

  // The error of reading a version that was found. What is not there although the index still names
  // it is lost: that is corrupt, as other damage is. Files that may not be opened are io. Ensures:
  // an error. Lifetime: the arguments outlive the task.
  rt::Task<void> explain(const record::ObjectKey& object, const record::Version& version,
                         const Error& error);

  // Closes what was removed from the disk: it takes space as long as it is open. Reading does it by
  // itself; whoever writes does it for a disk that nobody reads from any more.
  void let_go_of_removed();
  // Closes everything: what is read next is opened anew, as it is on the disk then.
  void let_go();

  const ShardKit& kit() const { return kit_; }

 private:
  struct SmallRead;
  Result<Content> verify(const SmallRead& read, const record::SegmentPlace& place,
                         std::size_t got) const;
  rt::Task<std::shared_ptr<const io::File>> open_segment(record::SegmentId segment);
  rt::Task<ObjectFilePtr> open_file(record::FileExtent extent);

  Volume& volume_;
  ShardKit kit_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const io::File>> segments_;
  std::unordered_map<std::uint64_t, ObjectFilePtr> files_;
  std::uint64_t removals_ = 0;
  const LookupCache::Owner owner_;  // of what is remembered of this disk
};

// True when the version's bytes are in a segment.
bool is_small(const record::Version& version);

// What stands behind the data of a large object's file. Blocks. Errors: corrupt, io.
Result<record::FileTail> read_file_tail(const io::File& file, const record::DiskId& disk_id,
                                        record::FileId id);

// Opens a file of a large object and reads its tail. Blocks. Errors: not_found, corrupt, io.
Result<ObjectFilePtr> open_object_file(io::Disk& disk, const Folders& folders,
                                       const record::DiskId& disk_id, record::FileExtent extent);

}  // namespace leat::volume
