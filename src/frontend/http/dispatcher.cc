#include "http/dispatcher.h"

#include <fmt/format.h>

namespace leat::http {

void Dispatcher::set_handler(Operation operation, Handler& handler) {
  handlers_[static_cast<std::size_t>(operation)] = &handler;
}

Result<Dispatcher::Decision> Dispatcher::decide(const http1::RequestHead& head,
                                                const io::Address& peer) const {
  if (head.method == http1::Method::other) {
    return fail(Errc::not_implemented, fmt::format("method {}", head.method_text));
  }
  std::optional<Operation> operation;
  for (const Router* router : routers_) {
    LEAT_TRY(operation, router->route(head));
    if (operation) break;
  }
  // Unknown paths are only told apart from forbidden ones after the credentials were found good.
  LEAT_TRY(const AuthKind kind, authenticator_.authenticate(head, peer));
  if (!operation) return fail(Errc::not_found, fmt::format("nothing is served at {}", head.path));
  if (!permits(*operation, kind)) {
    const Errc code = kind == AuthKind::admin_token ? Errc::denied : Errc::unauthenticated;
    return fail(code, fmt::format("{} needs credentials", name_of(*operation)));
  }
  Handler* handler = handlers_[static_cast<std::size_t>(*operation)];
  if (handler == nullptr) return fail(Errc::not_implemented, std::string(name_of(*operation)));
  return Decision{*operation, kind, handler};
}

Response Dispatcher::refuse(const Error& error, const http1::RequestHead& head) const {
  Response response = Response::of_error(error);
  if (error.code() == Errc::unauthenticated) response.add_checked("WWW-Authenticate: Bearer\r\n");
  if (error.code() != Errc::method_not_allowed) return response;
  for (const Router* router : routers_) {
    const auto route = router->route(head);
    if (route || route.error().code() != Errc::method_not_allowed) continue;
    response.add_checked(fmt::format("Allow: {}\r\n", router->allowed(head)));
    break;
  }
  return response;
}

}  // namespace leat::http
