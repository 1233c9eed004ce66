// Disk and File: every call Leat makes on a file system, as an interface.
//
// PosixDisk is the real one; sim::SimDisk keeps files in memory, forgets what was not synced when
// it "crashes", and fails on request. Calls may block, so they run on an rt::BlockingPool or at
// start-up, never on a shard; bytes on the data path go through io::FileIo instead.
//
// Nothing is durable until it is synced: a file's bytes by sync_data(), its name by
// sync_directory() of the folder that holds it. A failed sync is final for that disk
// (docs/adr/0007-durable-by-default.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/time.h"
#include "io/descriptor.h"

namespace leat::io {

struct FileInfo {
  std::uint64_t size_bytes = 0;
  WallTime modified{};
  WallTime changed{};  // when bytes or names last changed; nobody can set it back
  std::uint64_t inode = 0;
  bool is_directory = false;
};

enum class EntryKind : std::uint8_t { file, folder, link, other };

// One name in a folder, as it stands there: a link is a link, wherever it leads.
struct FolderEntry {
  std::string name{};
  EntryKind kind = EntryKind::other;
  FileInfo info{};
};

// Bytes of a file, and which version of it they are: what info() says after they were read.
struct FileRead {
  std::size_t count = 0;
  FileInfo info{};
};

struct DiskSpace {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;
};

// Bytes of a file, mapped and held in memory until it is destroyed: they cannot go and be read
// again.
class Mapping {
 public:
  virtual ~Mapping() = default;
  virtual Bytes bytes() const = 0;
};

// One open file. Reads may run from several threads at once; writes are the owner's to order.
class File {
 public:
  virtual ~File() = default;

  // Reads up to target.size() bytes; fewer only at the end of the file.
  virtual Result<std::size_t> read_at(std::uint64_t offset, MutableBytes target) const = 0;

  // The same without waiting for the disk. Errors: would_block, when not all is in memory.
  virtual Result<std::size_t> try_read_at(std::uint64_t offset, MutableBytes target) const = 0;

  // Writes some of `source`, at least one byte; write_all_at() goes on until all is written.
  virtual Result<std::size_t> write_at(std::uint64_t offset, Bytes source) = 0;

  // Errors: never busy, which would say that it was not tried (failed_sync).
  virtual Status sync_data() = 0;
  virtual Status truncate(std::uint64_t size_bytes) = 0;
  virtual Result<FileInfo> info() const = 0;

  // Sets FileInfo::modified. Disks that keep no such time of their own ignore it.
  virtual Status set_modified(WallTime /*time*/) { return {}; }

  // Takes the file for this process until it is closed. Errors: conflict, when another holds it.
  virtual Status lock() = 0;

  // True when reading the range would not wait for the disk. A hint: pages may go at any time.
  virtual bool is_cached(std::uint64_t offset, std::uint64_t length) const = 0;

  // Maps the first `length` bytes and locks them in memory; reads what is not there yet, so it may
  // block. Requires: nobody shortens the file. Errors: busy, when the process may not lock so much;
  // not_implemented; io.
  virtual Result<std::unique_ptr<Mapping>> map_locked(std::uint64_t length) const = 0;

  // The kernel's descriptor for sendfile and io_uring; -1 when there is none (simulated files).
  virtual int descriptor() const = 0;

  Status write_all_at(std::uint64_t offset, Bytes source);
};

enum class OpenMode : std::uint8_t {
  read,            // must exist
  read_write,      // must exist
  create,          // made if missing, kept if there
  create_new,      // must not exist
  create_private,  // must not exist; nobody but its owner may read it
  read_uncached,   // must exist; reads bypass the page cache (aligned offsets, sizes and buffers)
};

class Disk {
 public:
  virtual ~Disk() = default;

  // Errors: not_found, conflict (create_new), denied, no_space, busy (out of descriptors), io.
  virtual Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) = 0;

  virtual Result<FileInfo> info(const std::string& path) = 0;
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  virtual Status remove(const std::string& path) = 0;

  // Makes the folder and its parents; fine if it is there.
  virtual Status make_directories(const std::string& path) = 0;

  // The same, and the new ones are there after a power cut.
  Status make_durable_directories(const std::string& path);

  // Names in a folder, sorted, without "." and "..".
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;

  // The same with what each of them is; links are not followed, and not told apart by disks that
  // have none. Who was removed meanwhile is not among them.
  virtual Result<std::vector<FolderEntry>> look(const std::string& path);

  // Opens a file, reads up to target.size() bytes of it, closes it: for many small ones.
  // Errors: as open(); not_found, for what is no file.
  virtual Result<FileRead> read_file(const std::string& path, std::uint64_t offset,
                                     MutableBytes target);

  // Errors: busy, when it was not tried since descriptors or memory are short: nothing is lost
  // then.
  virtual Status sync_directory(const std::string& path) = 0;
  virtual Result<DiskSpace> space(const std::string& path) = 0;
};

// What a sync that was tried came to. The kernel tells of it once, so it is never taken for one
// that was not tried: what would be busy is io.
Error failed_sync(int posix_errno, std::string_view what);

// All bytes of a small file. Errors: those of open() and read_at().
Result<std::string> read_text(Disk& disk, const std::string& path);

// Puts a small file in the place of the one that is there: written beside it, synced and renamed,
// so that a crash leaves the old text or the new one. The caller syncs the directory.
Status replace_text(Disk& disk, const std::string& path, std::string_view text);

// A file that somebody else opened and passed to this process. `name` is for messages.
// Errors: bad_request, when it is no regular file; io.
Result<std::unique_ptr<File>> adopt_file(Descriptor fd, std::string name);

// The kernel's file systems. Safe to share between threads.
class PosixDisk final : public Disk {
 public:
  // Paths are the machine's own.
  PosixDisk() = default;

  // Paths are relative to `root` and cannot leave it, neither by ".." nor by symbolic links; this
  // is the kernel's promise (openat2), not a check of text. Errors: not_found, denied, io.
  static Result<PosixDisk> below(const std::string& root);

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
  Result<FileInfo> info(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status make_directories(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Result<std::vector<FolderEntry>> look(const std::string& path) override;
  Result<FileRead> read_file(const std::string& path, std::uint64_t offset,
                             MutableBytes target) override;
  Status sync_directory(const std::string& path) override;
  Result<DiskSpace> space(const std::string& path) override;

 private:
  explicit PosixDisk(Descriptor root) : root_(std::move(root)) {}

  Result<Descriptor> open_descriptor(const std::string& path, int flags,
                                     std::uint64_t permissions = 0) const;

  // The folder that holds the last name of a path, opened.
  Result<Descriptor> open_parent(const std::string& path) const;

  Descriptor root_;  // empty: the whole machine
};

}  // namespace leat::io
