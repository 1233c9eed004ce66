// Errors of Leat to errors of RocksDB and back, with their text.
//
// RocksDB asks a file system only two things about a failure: is the disk full, and is the file
// missing. What is missing from a folder that RocksDB manages alone is damage, so it comes back as
// Errc::corrupt.
#pragma once

#include <rocksdb/io_status.h>

#include "base/result.h"

namespace leat::kv {

rocksdb::IOStatus to_io_status(const Error& error);

template <class T>
rocksdb::IOStatus to_io_status(const Result<T>& result) {
  return result ? rocksdb::IOStatus::OK() : to_io_status(result.error());
}

// Requires: !status.ok().
Error to_error(const rocksdb::Status& status);
Status to_status(const rocksdb::Status& status);

}  // namespace leat::kv
