// Response: what a handler answers. The connection adds what belongs to the wire: the status line,
// Date, framing, Connection and the request id.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/bytes.h"
#include "base/result.h"
#include "io/disk.h"
#include "rt/task.h"

namespace leat::http {

// Bytes that somebody keeps alive: a cache entry, a string. Sent together with the head.
struct MemoryBody {
  std::shared_ptr<const void> owner;
  Bytes bytes;
};

// A range of a file. On plain connections the bytes never enter the process while they are cached;
// cold bytes are read ahead, from `uncached` when it is there so that a scan does not flush the
// cache.
struct FileBody {
  std::shared_ptr<const io::File> file;
  std::shared_ptr<const io::File> uncached;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool is_warm = false;  // known to be in the page cache: the sender need not look
};

// Bytes that are made while they are sent. If next() fails after the head went out, the connection
// is broken off: a client never mistakes a cut body for a whole one.
class BodySource {
 public:
  virtual ~BodySource() = default;

  // The next bytes, valid until the next call; empty at the end.
  virtual rt::Task<Bytes> next() = 0;

  // Where the last bytes stand in a file, if its pages are sure to be in memory and unchanged: they
  // may then be sent without a copy.
  struct InFile {
    std::shared_ptr<const io::File> file;
    std::uint64_t offset = 0;
  };
  virtual std::optional<InFile> in_file() const { return std::nullopt; }
};

struct StreamBody {
  std::unique_ptr<BodySource> source;
  std::optional<std::uint64_t> length;  // without it the body is sent in chunks
};

using Body = std::variant<std::monostate, MemoryBody, FileBody, StreamBody>;

class Response {
 public:
  explicit Response(int status) : status_(status) {}

  // A body of text that is made on the spot.
  static Response text(int status, std::string_view content_type, std::string body);

  // {"error": code, "message": detail} with the status of the code.
  static Response of_error(const Error& error);

  // Adds a header field. Control bytes in `value` would split the head: such a field is refused.
  // Requires: `name` is a token. Errors: bad_request.
  Status add(std::string_view name, std::string_view value);

  // Adds fields that are already formatted and checked, each ending in CRLF.
  void add_checked(std::string_view fields) { fields_.append(fields); }

  int status() const { return status_; }
  std::string_view fields() const { return fields_; }

  // The Content-Length of a HEAD answer or of a body-less one, when it is not the body's own.
  std::optional<std::uint64_t> declared_length;
  Body body;

 private:
  int status_;
  std::string fields_;
};

}  // namespace leat::http
