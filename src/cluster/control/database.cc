#include "control/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace leat::control {
namespace {

Errc code_of(int result) {
  switch (result & 0xff) {
    case SQLITE_FULL: return Errc::no_space;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    // The schema and the types of all columns are ours: what does not fit them is damage.
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
    case SQLITE_FORMAT: return Errc::corrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return Errc::conflict;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH: return Errc::denied;
    case SQLITE_NOMEM: return Errc::busy;
    case SQLITE_TOOBIG: return Errc::too_large;
    default: return Errc::io;
  }
}

std::string_view cure_of(Errc code) {
  switch (code) {
    case Errc::no_space: return "; make room on its file system, then try again";
    case Errc::corrupt: return "; put a backup of the file in its place";
    case Errc::conflict: return "; another process uses it";
    default: return "";
  }
}

Error error_of(sqlite3* handle, int result) {
  const char* name = sqlite3_db_filename(handle, "main");
  const Errc code = code_of(result);
  return Error(code, fmt::format("{}: {} ({}){}", name == nullptr ? "control store" : name,
                                 sqlite3_errmsg(handle), result, cure_of(code)));
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement& Statement::bind(std::int64_t number) {
  const int result = sqlite3_bind_int64(statement_.get(), ++bound_, number);
  if (result != SQLITE_OK) bind_error_ = result;
  return *this;
}

Statement& Statement::bind(std::string_view bytes) {
  // A null pointer would be NULL instead of no bytes.
  const char* data = bytes.data() == nullptr ? "" : bytes.data();
  const int result = sqlite3_bind_blob64(statement_.get(), ++bound_, data, bytes.size(), nullptr);
  if (result != SQLITE_OK) bind_error_ = result;
  return *this;
}

Result<bool> Statement::step() {
  const int result = bind_error_ != 0 ? bind_error_ : sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return fail(error_of(sqlite3_db_handle(statement_.get()), result));
}

Status Statement::run() {
  for (;;) {
    LEAT_TRY(const bool more, step());
    if (!more) return {};
  }
}

std::int64_t Statement::number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (data == nullptr || size <= 0) return {};
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

void Database::Close::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

Result<Database> Database::open(const std::string& path) {
  Database made(path);
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int result = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  made.handle_.reset(handle);
  if (handle == nullptr) return fail(Errc::busy, path + ": no memory");
  if (result != SQLITE_OK) {
    return fail(code_of(result), fmt::format("{}: {}", path, sqlite3_errmsg(handle)));
  }
  LEAT_DO(made.configure());
  return made;
}

Status Database::configure() const {
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  // Exclusive before WAL: so there is no shared memory, and no other process gets in.
  LEAT_DO(run("PRAGMA locking_mode = EXCLUSIVE"));
  LEAT_TRY(const std::string mode, text("PRAGMA journal_mode = WAL"));
  if (mode != "wal") {
    return fail(Errc::corrupt, fmt::format("{}: SQLite's log is '{}' instead of 'wal'{}", path_,
                                           mode, cure_of(Errc::corrupt)));
  }
  LEAT_DO(run("PRAGMA synchronous = FULL"));
  LEAT_DO(run("PRAGMA cell_size_check = ON"));
  LEAT_DO(run("PRAGMA mmap_size = 0"));
  return run("PRAGMA journal_size_limit = 16777216");
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                        &statement, nullptr);
  if (result != SQLITE_OK) return fail(error_of(handle_.get(), result));
  return Statement(statement);
}

Status Database::run(std::string_view sql) const {
  LEAT_TRY(Statement statement, prepare(sql));
  return statement.run();
}

Result<std::int64_t> Database::number(std::string_view sql) const {
  LEAT_TRY(Statement statement, prepare(sql));
  LEAT_TRY(const bool there, statement.step());
  if (!there) return fail(Errc::corrupt, fmt::format("{}: no answer to {}", path_, sql));
  return statement.number(0);
}

Result<std::string> Database::text(std::string_view sql) const {
  LEAT_TRY(Statement statement, prepare(sql));
  LEAT_TRY(const bool there, statement.step());
  if (!there) return fail(Errc::corrupt, fmt::format("{}: no answer to {}", path_, sql));
  return statement.bytes(0);
}

bool Database::in_transaction() const {
  return sqlite3_get_autocommit(handle_.get()) == 0;
}

}  // namespace leat::control
