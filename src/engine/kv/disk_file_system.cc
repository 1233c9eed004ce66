#include "kv/disk_file_system.h"

#include <chrono>
#include <utility>

#include "base/check.h"
#include "kv/sealed_file.h"
#include "kv/status.h"

namespace leat::kv {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

MutableBytes writable(char* bytes, std::size_t count) {
  return std::as_writable_bytes(std::span(bytes, count));
}

IOStatus read(const io::File& file, std::uint64_t offset, std::size_t n, Slice* result,
              char* scratch) {
  const auto count = file.read_at(offset, writable(scratch, n));
  *result = Slice(scratch, count ? *count : 0);
  return to_io_status(count);
}

class RandomAccessFile final : public rocksdb::FSRandomAccessFile {
 public:
  explicit RandomAccessFile(std::unique_ptr<io::File> file) : file_(std::move(file)) {}

  IOStatus Read(std::uint64_t offset, std::size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return read(*file_, offset, n, result, scratch);
  }

 private:
  std::unique_ptr<io::File> file_;
};

// RocksDB opens CURRENT once more to see whether it can, and hides the reason if it cannot. It does
// not read it that way.
class Probe final : public rocksdb::FSRandomAccessFile {
 public:
  IOStatus Read(std::uint64_t, std::size_t, const IOOptions&, Slice*, char*,
                IODebugContext*) const override {
    return IOStatus::NotSupported("random access to a sealed file");
  }
};

// RocksDB's log, which it makes and never writes: a file that is not there.
class NoLog final : public rocksdb::FSWritableFile {
 public:
  using rocksdb::FSWritableFile::Append;
  IOStatus Append(const Slice&, const IOOptions&, IODebugContext*) override {
    return IOStatus::NotSupported("there is no log");
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
};

class Directory final : public rocksdb::FSDirectory {
 public:
  Directory(io::Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return to_io_status(disk_.sync_directory(path_));
  }

  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  io::Disk& disk_;
  const std::string path_;
};

bool is_options_file(std::string_view path) {
  return path.substr(path.rfind('/') + 1).starts_with("OPTIONS-");
}

// RocksDB tells a missing thing from a failing disk by this code when it only asks.
IOStatus to_answer(const Error& error) {
  if (error.code() != Errc::not_found) return to_io_status(error);
  return IOStatus::NotFound(Slice(error.detail().data(), error.detail().size()));
}

}  // namespace

class DiskFileSystem::Lock final : public rocksdb::FileLock {
 public:
  explicit Lock(std::unique_ptr<io::File> file) : file_(std::move(file)) {}
  Status check() const {
    LEAT_DO(file_->info());
    return {};
  }

 private:
  std::unique_ptr<io::File> file_;
};

IOStatus DiskFileSystem::NewSequentialFile(const std::string& path, const rocksdb::FileOptions&,
                                           std::unique_ptr<rocksdb::FSSequentialFile>* result,
                                           IODebugContext*) {
  if (!is_sealed(path)) {
    return IOStatus::NotSupported("a file of an unknown kind", path);
  }
  auto content = read_sealed(disk_, path);
  // Nobody needs the old identity: RocksDB gives the map a new one when it finds none.
  if (!content && content.error().code() == Errc::corrupt && path.ends_with("/IDENTITY")) {
    return IOStatus::NotFound();
  }
  if (!content) return to_io_status(content.error());
  *result = make_sealed_reader(*std::move(content));
  return IOStatus::OK();
}

IOStatus DiskFileSystem::NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions&,
                                             std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                             IODebugContext*) {
  if (is_sealed(path)) {
    *result = std::make_unique<Probe>();
    return IOStatus::OK();
  }
  auto table = open_table(path);
  if (!table) return to_io_status(table.error());
  *result = std::make_unique<RandomAccessFile>(*std::move(table));
  return IOStatus::OK();
}

Result<std::unique_ptr<io::File>> DiskFileSystem::open_table(const std::string& path) {
  LEAT_TRY(auto file, disk_.open(path, io::OpenMode::read));
  LEAT_DO(check_table(*file, path));
  return file;
}

IOStatus DiskFileSystem::NewWritableFile(const std::string& path, const rocksdb::FileOptions&,
                                         std::unique_ptr<rocksdb::FSWritableFile>* result,
                                         IODebugContext*) {
  if (is_options_file(path)) return IOStatus::NotSupported("options are not stored");
  if (path.ends_with(".log")) {
    *result = std::make_unique<NoLog>();
    return IOStatus::OK();
  }
  if (!is_sealed(path) && !is_table(path)) {
    return IOStatus::NotSupported("a file of an unknown kind", path);
  }
  auto file = make_file(path);
  if (!file) return to_io_status(file.error());
  *result =
      is_table(path) ? make_table_writer(*std::move(file)) : make_sealed_writer(*std::move(file));
  return IOStatus::OK();
}

Result<std::unique_ptr<io::File>> DiskFileSystem::make_file(const std::string& path) {
  LEAT_DO(check_lock());
  auto made = disk_.open(path, io::OpenMode::create_new);
  if (made || made.error().code() != Errc::conflict) return made;
  LEAT_DO(disk_.remove(path));
  return disk_.open(path, io::OpenMode::create_new);
}

IOStatus DiskFileSystem::NewDirectory(const std::string& path, const IOOptions&,
                                      std::unique_ptr<rocksdb::FSDirectory>* result,
                                      IODebugContext*) {
  *result = std::make_unique<Directory>(disk_, path);
  return IOStatus::OK();
}

IOStatus DiskFileSystem::FileExists(const std::string& path, const IOOptions&, IODebugContext*) {
  const auto info = disk_.info(path);
  return info ? IOStatus::OK() : to_answer(info.error());
}

IOStatus DiskFileSystem::GetChildren(const std::string& path, const IOOptions&,
                                     std::vector<std::string>* result, IODebugContext*) {
  auto names = disk_.list(path);
  if (!names) return to_answer(names.error());
  *result = *std::move(names);
  return IOStatus::OK();
}

// RocksDB compares a MANIFEST's size with what it wrote; the seal is not its. When it opens a map
// and cannot learn the size of a table it calls the table corrupt, whatever the reason was, so a
// failing disk is noted here.
IOStatus DiskFileSystem::GetFileSize(const std::string& path, const IOOptions&,
                                     std::uint64_t* size_bytes, IODebugContext*) {
  const auto info = disk_.info(path);
  if (!info && info.error().code() != Errc::not_found) failure_->note(info.error().clone());
  if (!info) return to_io_status(info.error());
  const std::uint64_t seal_bytes = is_sealed(path) || is_table(path) ? kSealBytes : 0;
  *size_bytes = info->size_bytes - std::min(info->size_bytes, seal_bytes);
  return IOStatus::OK();
}

IOStatus DiskFileSystem::GetFileModificationTime(const std::string& path, const IOOptions&,
                                                 std::uint64_t* seconds, IODebugContext*) {
  const auto info = disk_.info(path);
  if (!info) return to_io_status(info.error());
  const auto since = std::chrono::floor<std::chrono::seconds>(info->modified.time_since_epoch());
  *seconds = static_cast<std::uint64_t>(since.count());
  return IOStatus::OK();
}

IOStatus DiskFileSystem::GetFreeSpace(const std::string& path, const IOOptions&,
                                      std::uint64_t* free_bytes, IODebugContext*) {
  const auto space = disk_.space(path);
  if (!space) return to_io_status(space.error());
  *free_bytes = space->available_bytes;
  return IOStatus::OK();
}

IOStatus DiskFileSystem::IsDirectory(const std::string& path, const IOOptions&, bool* is_directory,
                                     IODebugContext*) {
  const auto info = disk_.info(path);
  if (!info) return to_io_status(info.error());
  *is_directory = info->is_directory;
  return IOStatus::OK();
}

// Paths are the disk's, which may be anywhere or nowhere on the machine.
IOStatus DiskFileSystem::GetAbsolutePath(const std::string& path, const IOOptions&,
                                         std::string* result, IODebugContext*) {
  *result = path;
  return IOStatus::OK();
}

IOStatus DiskFileSystem::GetTestDirectory(const IOOptions&, std::string*, IODebugContext*) {
  return IOStatus::NotSupported("test directory");
}

IOStatus DiskFileSystem::RenameFile(const std::string& from, const std::string& to,
                                    const IOOptions&, IODebugContext*) {
  return to_io_status(rename(from, to));
}

// RocksDB syncs the folder after it renamed CURRENT, and trusts that the MANIFEST it names, made
// before, is then there as well. A disk that keeps the rename alone would have lost the map.
Status DiskFileSystem::rename(const std::string& from, const std::string& to) {
  LEAT_DO(check_lock());
  if (to.ends_with("/CURRENT")) {
    LEAT_DO(disk_.sync_directory(to.substr(0, to.rfind('/'))));
  }
  return disk_.rename(from, to);
}

IOStatus DiskFileSystem::DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) {
  return to_io_status(remove(path));
}

Status DiskFileSystem::remove(const std::string& path) {
  LEAT_DO(check_lock());
  return disk_.remove(path);
}

IOStatus DiskFileSystem::CreateDir(const std::string& path, const IOOptions&, IODebugContext*) {
  return to_io_status(disk_.make_directories(path));
}

IOStatus DiskFileSystem::CreateDirIfMissing(const std::string& path, const IOOptions&,
                                            IODebugContext*) {
  return to_io_status(disk_.make_directories(path));
}

IOStatus DiskFileSystem::DeleteDir(const std::string& path, const IOOptions&, IODebugContext*) {
  return to_io_status(remove(path));
}

Result<std::unique_ptr<DiskFileSystem::Lock>> DiskFileSystem::take_lock(const std::string& path) {
  LEAT_TRY(auto file, disk_.open(path, io::OpenMode::create));
  LEAT_DO(file->lock());
  return std::make_unique<Lock>(std::move(file));
}

IOStatus DiskFileSystem::LockFile(const std::string& path, const IOOptions&,
                                  rocksdb::FileLock** lock, IODebugContext*) {
  LEAT_CHECK(lock_ == nullptr);
  auto taken = take_lock(path);
  if (!taken) return to_io_status(taken.error());
  lock_ = taken->get();
  *lock = taken->release();
  return IOStatus::OK();
}

IOStatus DiskFileSystem::UnlockFile(rocksdb::FileLock* lock, const IOOptions&, IODebugContext*) {
  const std::unique_ptr<rocksdb::FileLock> owned(lock);
  lock_ = nullptr;
  return IOStatus::OK();
}

Status DiskFileSystem::check_lock() const {
  return lock_ == nullptr ? Status() : lock_->check();
}

}  // namespace leat::kv
