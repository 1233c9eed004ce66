// Database and Statement: SQLite with our errors and nothing else of its own.
//
// The file is in WAL mode, every COMMIT is synced, and it is this process's alone as long as it is
// open. SQLite does its own calls on the file system: the one library that does not go through
// io::Disk. Its interface stays in this file and its source.
//
// Thread: one at a time, any; every call may block.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace leat::control {

// Lifetime: its database outlives it.
class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  // Fills the next `?`. Lifetime: the bytes outlive the statement.
  Statement& bind(std::int64_t number);
  Statement& bind(std::string_view bytes);

  // True: there is a row. Errors: no_space, corrupt, conflict, denied, io.
  Result<bool> step();
  // Steps to the end.
  Status run();

  // Columns of the row, from 0.
  std::int64_t number(int column) const;
  std::string bytes(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
  int bind_error_ = 0;
};

class Database {
 public:
  // Opens the file, which must exist; an empty one is an empty database.
  // Errors: conflict (another process has it), corrupt, denied, no_space, io.
  static Result<Database> open(const std::string& path);

  // Errors: those of Statement::step().
  Result<Statement> prepare(std::string_view sql) const;
  Status run(std::string_view sql) const;
  // The first column of the first row. Errors: corrupt, when there is none.
  Result<std::int64_t> number(std::string_view sql) const;
  Result<std::string> text(std::string_view sql) const;

  bool in_transaction() const;
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Database(std::string path) : path_(std::move(path)) {}
  Status configure() const;

  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace leat::control
