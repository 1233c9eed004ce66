// Exchange: one request on its way through the server, as a handler sees it.
//
// Lifetime: lives until the response has been sent; views into the head live as long.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/bytes.h"
#include "http/operation.h"
#include "http1/request_head.h"
#include "io/stream.h"
#include "rt/task.h"

namespace leat::http {

// The body of the request, pulled by the handler: nothing is read from the client before it is
// wanted, and `100 Continue` is answered when the first read asks for it, so after routing and
// authentication.
class RequestBody {
 public:
  virtual ~RequestBody() = default;

  // Reads at least one byte; 0 at the end of the body.
  // Errors: closed (the client left), timeout (too slow), bad_request (broken framing).
  virtual rt::Task<std::size_t> read(MutableBytes target) = 0;

  // The fields after a chunked body; empty before its end.
  virtual const http1::HeaderBlock& trailers() const = 0;
};

struct Exchange {
  const http1::RequestHead& head;
  const io::Address& peer;
  bool is_encrypted;
  RequestBody& body;
  Operation operation;
  AuthKind auth;
  std::uint64_t request_id = 0;  // as the answer shows it
  // What the authenticator found out; its type is its protocol's (http/dispatcher.h).
  std::shared_ptr<const void> proof{};
};

}  // namespace leat::http
