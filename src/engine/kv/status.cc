#include "kv/status.h"

namespace leat::kv {
namespace {

Errc code_of(const rocksdb::Status& status) {
  if (status.IsNoSpace()) return Errc::no_space;
  if (status.IsPathNotFound() || status.IsNotFound()) return Errc::corrupt;
  switch (status.code()) {
    case rocksdb::Status::kCorruption: return Errc::corrupt;
    case rocksdb::Status::kIOError: return Errc::io;
    case rocksdb::Status::kIncomplete: return Errc::would_block;
    case rocksdb::Status::kBusy: return Errc::conflict;
    default: return Errc::internal;
  }
}

}  // namespace

rocksdb::IOStatus to_io_status(const Error& error) {
  const rocksdb::Slice text(error.detail().data(), error.detail().size());
  switch (error.code()) {
    case Errc::no_space: return rocksdb::IOStatus::NoSpace(text);
    case Errc::not_found: return rocksdb::IOStatus::PathNotFound(text);
    case Errc::corrupt: return rocksdb::IOStatus::Corruption(text);
    case Errc::conflict: return rocksdb::IOStatus::Busy(text);
    default: return rocksdb::IOStatus::IOError(text);
  }
}

Error to_error(const rocksdb::Status& status) {
  return Error(code_of(status), status.ToString());
}

Status to_status(const rocksdb::Status& status) {
  if (status.ok()) return {};
  return fail(to_error(status));
}

}  // namespace leat::kv
