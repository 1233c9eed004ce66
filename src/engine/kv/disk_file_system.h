// DiskFileSystem: RocksDB's files on an io::Disk.
//
// It is what lets a simulated disk crash, fail and rot under RocksDB. It also keeps two promises
// that RocksDB does not: damage to the small files is found (sealed_file.h), and nothing is made,
// renamed or removed once the lock on the folder is lost, as after the reboot of a simulated disk.
//
// Two of RocksDB's files are not stored. Leat's options are in its code, so their file is refused.
// The log is never written (kv.h), yet RocksDB makes one at each open, and keeps it.
//
// Thread: any, if the disk allows it. Lifetime: the disk outlives it and the files it opened.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/disk.h"
#include "kv/failure.h"

namespace leat::kv {

class DiskFileSystem final : public rocksdb::FileSystem {
 public:
  DiskFileSystem(io::Disk& disk, std::shared_ptr<Failure> failure)
      : disk_(disk), failure_(std::move(failure)) {}

  const char* Name() const override { return "leat"; }

  rocksdb::IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSSequentialFile>* result,
                                      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewRandomAccessFile(const std::string& path,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                        rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& path, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* result,
                                 rocksdb::IODebugContext* debug) override;

  rocksdb::IOStatus FileExists(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus GetChildren(const std::string& path, const rocksdb::IOOptions& options,
                                std::vector<std::string>* result,
                                rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus GetFileSize(const std::string& path, const rocksdb::IOOptions& options,
                                std::uint64_t* size_bytes, rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus GetFileModificationTime(const std::string& path,
                                            const rocksdb::IOOptions& options,
                                            std::uint64_t* seconds,
                                            rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus GetFreeSpace(const std::string& path, const rocksdb::IOOptions& options,
                                 std::uint64_t* free_bytes,
                                 rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus IsDirectory(const std::string& path, const rocksdb::IOOptions& options,
                                bool* is_directory, rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus GetAbsolutePath(const std::string& path, const rocksdb::IOOptions& options,
                                    std::string* result, rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus GetTestDirectory(const rocksdb::IOOptions& options, std::string* path,
                                     rocksdb::IODebugContext* debug) override;

  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus CreateDir(const std::string& path, const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus CreateDirIfMissing(const std::string& path, const rocksdb::IOOptions& options,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteDir(const std::string& path, const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* debug) override;

  rocksdb::IOStatus LockFile(const std::string& path, const rocksdb::IOOptions& options,
                             rocksdb::FileLock** lock, rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus UnlockFile(rocksdb::FileLock* lock, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;

 private:
  class Lock;

  // Fails when the lock was taken and lost since.
  Status check_lock() const;
  Result<std::unique_ptr<io::File>> open_table(const std::string& path);
  Result<std::unique_ptr<io::File>> make_file(const std::string& path);
  Status remove(const std::string& path);
  Status rename(const std::string& from, const std::string& to);
  Result<std::unique_ptr<Lock>> take_lock(const std::string& path);

  io::Disk& disk_;
  const std::shared_ptr<Failure> failure_;
  const Lock* lock_ = nullptr;  // RocksDB owns it from LockFile() to UnlockFile()
};

}  // namespace leat::kv
