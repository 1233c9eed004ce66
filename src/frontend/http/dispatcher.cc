#include "http/dispatcher.h"

#include <fmt/format.h>

namespace leat::http {

void Dispatcher::set_handler(Operation operation, Handler& handler) {
  handlers_[static_cast<std::size_t>(operation)] = &handler;
}

Response Router::refuse(const Refusal& refusal, const http1::RequestHead& head,
                        std::uint64_t /*request_id*/) const {
  const Errc code = refusal.error.code();
  Response response = Response::of_error(refusal.error);
  if (code == Errc::unauthenticated) response.add_checked("WWW-Authenticate: Bearer\r\n");
  if (code == Errc::method_not_allowed) {
    response.add_checked(fmt::format("Allow: {}\r\n", allowed(head)));
  }
  return response;
}

std::expected<Dispatcher::Decision, Refusal> Dispatcher::decide(const http1::RequestHead& head,
                                                                const io::Address& peer) const {
  if (head.method == http1::Method::other) {
    return fail(Errc::not_implemented, fmt::format("method {}", head.method_text));
  }
  Result<std::optional<Operation>> routed;
  for (const Router* router : routers_) {
    routed = router->route(head);
    if (!routed || *routed) break;
  }
  // What is served, and how, is only told after the credentials were found good.
  LEAT_TRY(Credentials credentials, authenticator_->authenticate(head, peer));
  LEAT_TRY(const std::optional<Operation> operation, std::move(routed));
  if (!operation) return fail(Errc::not_found, fmt::format("nothing is served at {}", head.path));
  if (!permits(*operation, credentials.kind)) {
    const bool is_known =
        credentials.kind == AuthKind::admin_token || credentials.kind == AuthKind::access_key;
    const Errc code = is_known ? Errc::denied : Errc::unauthenticated;
    return fail(code, fmt::format("{} needs credentials", name_of(*operation)));
  }
  Handler* handler = handlers_[static_cast<std::size_t>(*operation)];
  if (handler == nullptr) return fail(Errc::not_implemented, std::string(name_of(*operation)));
  return Decision{*operation, std::move(credentials), handler};
}

namespace {

// Answers for paths that are no router's.
class Nobody final : public Router {
 public:
  Result<std::optional<Operation>> route(const http1::RequestHead&) const override {
    return std::nullopt;
  }
  std::string_view allowed(const http1::RequestHead&) const override { return ""; }
};

}  // namespace

Response Dispatcher::refuse(const Refusal& refusal, const http1::RequestHead& head,
                            std::uint64_t request_id) const {
  for (const Router* router : routers_) {
    const auto route = router->route(head);
    if (!route || *route) return router->refuse(refusal, head, request_id);
  }
  return Nobody().refuse(refusal, head, request_id);
}

}  // namespace leat::http
