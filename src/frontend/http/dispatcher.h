// Dispatcher: route, authenticate, authorise, handle — the only way to a handler.
//
// A request that no router knows is not found; one whose credentials are wrong is refused before
// its body is read; one whose pair of operation and credentials is not permitted is denied; an
// operation without a handler is not implemented. There is no other path, so none can be forgotten.
//
// Shard: one. Lifetime: routers, authenticator and handlers outlive it.
#pragma once

#include <array>
#include <expected>
#include <memory>
#include <optional>

#include "http/exchange.h"
#include "http/operation.h"
#include "http/response.h"

namespace leat::http {

// What a request proved about its sender.
struct Credentials {
  // Implicit: most authenticators know the kind and nothing else.
  Credentials(AuthKind proved) : kind(proved) {}  // NOLINT(google-explicit-constructor)
  Credentials(AuthKind proved, std::shared_ptr<const void> with)
      : kind(proved), proof(std::move(with)) {}

  AuthKind kind;
  // What the authenticator found out, for the handlers of the same protocol: they know its type.
  std::shared_ptr<const void> proof{};
};

// Why a request was refused before its handler was reached.
struct Refusal {
  Refusal(Error why) : error(std::move(why)) {}  // NOLINT(google-explicit-constructor)
  Refusal(Error why, std::shared_ptr<const void> with)
      : error(std::move(why)), words(std::move(with)) {}

  Error error;
  // The same in the words of the protocol, for the router that makes the answer.
  std::shared_ptr<const void> words{};
};

// Which operation a request head asks for. Pure: looks at the head only.
class Router {
 public:
  virtual ~Router() = default;

  // Nothing when the path is not this router's.
  // Errors: method_not_allowed, not_implemented, bad_request for a path that is.
  virtual Result<std::optional<Operation>> route(const http1::RequestHead& head) const = 0;

  // The methods that route() would not have refused, for the Allow field: "GET, HEAD".
  // Requires: route() has answered method_not_allowed.
  virtual std::string_view allowed(const http1::RequestHead& head) const = 0;

  // The answer to a request for a path of this router's that was refused, in the words of its
  // protocol: JSON and the fields that belong to the status, unless a router has others.
  virtual Response refuse(const Refusal& refusal, const http1::RequestHead& head,
                          std::uint64_t request_id) const;
};

class Authenticator {
 public:
  virtual ~Authenticator() = default;

  // Errors: unauthenticated, denied, bad_request: credentials were presented and are no good.
  virtual std::expected<Credentials, Refusal> authenticate(const http1::RequestHead& head,
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
  explicit Dispatcher(const Authenticator& authenticator) : authenticator_(&authenticator) {}

  // Another one in its place, for a site that knows more kinds of credentials.
  void set_authenticator(const Authenticator& authenticator) { authenticator_ = &authenticator; }

  // Asked in the order they were added.
  void add_router(const Router& router) { routers_.push_back(&router); }
  void set_handler(Operation operation, Handler& handler);

  struct Decision {
    Operation operation;
    Credentials credentials;
    Handler* handler;
  };

  // Everything that is decided before a byte of the body is read.
  // Errors: those of Router and Authenticator; not_found, denied, unauthenticated, not_implemented.
  std::expected<Decision, Refusal> decide(const http1::RequestHead& head,
                                          const io::Address& peer) const;

  // The answer to a request that decide() refused, by the router whose path it is.
  Response refuse(const Refusal& refusal, const http1::RequestHead& head,
                  std::uint64_t request_id) const;

 private:
  const Authenticator* authenticator_;
  std::vector<const Router*> routers_;
  std::array<Handler*, kOperationCount> handlers_{};
};

}  // namespace leat::http
