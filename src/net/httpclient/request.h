// Request: what Client::send() is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/time.h"
#include "io/stream.h"
#include "rt/task.h"
#include "tls/client_tls.h"

namespace leat::httpclient {

struct Field {
  std::string name;
  std::string value;
};

// A body that is made while it is sent, as fast as the server takes it.
class BodySource {
 public:
  virtual ~BodySource() = default;

  // The next bytes, valid until the next call; empty at the end.
  virtual rt::Task<Bytes> next() = 0;
};

struct StreamedBody {
  BodySource* source = nullptr;
  std::optional<std::uint64_t> length;  // without it the body is sent in chunks
};

// None, bytes, or a stream. Lifetime: bytes and source outlive the task of send().
using RequestBody = std::variant<std::monostate, Bytes, StreamedBody>;

struct Request {
  std::string method = "GET";
  io::Address address;
  // Null for a plain connection. Lifetime: outlives the client.
  const tls::ClientTls* tls = nullptr;
  std::string target = "/";
  // Host is added if it is missing. Framing and Connection are the client's own and refused here.
  std::vector<Field> fields{};
  RequestBody body{};
  // Asks the server before the body is sent. If it answers with a final status, no body is sent.
  bool expect_continue = false;
  // By then the response has been read to its end, or the request fails with Errc::timeout.
  Instant deadline = Instant::max();
};

// The head as it is sent.
// Errors: bad_request (a method, target or field that HTTP cannot carry, or a field of our own).
Result<std::string> write_head(const Request& request);

// True if the request can be sent a second time without the server doing more than once asked.
bool is_replayable(const Request& request);

}  // namespace leat::httpclient
