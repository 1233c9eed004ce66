// Dispatcher: route, authenticate, authorise, handle — the only way to a handler.
//
// A request that no router knows is not found; one whose credentials are wrong is refused before
// its body is read; one whose pair of operation and credentials is not permitted is denied; an
// operation without a handler is not implemented. There is no other path, so none can be forgotten.
//
// Shard: one. Lifetime: routers, authenticator and handlers outlive it.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "http/exchange.h"
#include "http/operation.h"
#include "http/response.h"

namespace leat::http {

// Which operation a request head asks for. Pure: looks at method and path only.
class Router {
 public:
  virtual ~Router() = default;

  // Nothing when the path is not this router's.
  // Errors: method_not_allowed, not_implemented, bad_request for a path that is.
  virtual Result<std::optional<Operation>> route(const http1::RequestHead& head) const = 0;

  // The methods that route() would not have refused, for the Allow field: "GET, HEAD".
  // Requires: route() has answered method_not_allowed.
  virtual std::string_view allowed(const http1::RequestHead& head) const = 0;
};

class Authenticator {
 public:
  virtual ~Authenticator() = default;

  // Errors: unauthenticated, denied, bad_request: credentials were presented and are no good.
  virtual Result<AuthKind> authenticate(const http1::RequestHead& head,
                                        const io::Address& peer) const = 0;
};

class Handler {
 public:
  virtual ~Handler() = default;

  // Lifetime: the exchange outlives the task. Errors become error answers.
  virtual rt::Task<Response> handle(Exchange& exchange) = 0;
};

class Dispatcher {
 public:
  explicit Dispatcher(const Authenticator& authenticator) : authenticator_(authenticator) {}

  // Asked in the order they were added.
  void add_router(const Router& router) { routers_.push_back(&router); }
  void set_handler(Operation operation, Handler& handler);

  struct Decision {
    Operation operation;
    AuthKind auth;
    Handler* handler;
  };

  // Everything that is decided before a byte of the body is read.
  // Errors: those of Router and Authenticator; not_found, denied, unauthenticated, not_implemented.
  Result<Decision> decide(const http1::RequestHead& head, const io::Address& peer) const;

  // The answer to a request that decide() refused, with the fields that belong to its status.
  Response refuse(const Error& error, const http1::RequestHead& head) const;

 private:
  const Authenticator& authenticator_;
  std::vector<const Router*> routers_;
  std::array<Handler*, kOperationCount> handlers_{};
};

}  // namespace leat::http
