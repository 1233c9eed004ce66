#include "admin/admin.h"

#include <array>
#include <nlohmann/json.hpp>

#include "http1/grammar.h"

namespace leat::admin {
namespace {

using http::AuthKind;
using http::Operation;
using http::Response;

struct Page {
  std::string_view path;
  Operation operation;
};

constexpr std::array kPages = {
    Page{"/_/v1/health", Operation::health},   Page{"/_/v1/ready", Operation::ready},
    Page{"/_/v1/version", Operation::version}, Page{"/_/v1/metrics", Operation::metrics},
    Page{"/metrics", Operation::metrics},
};

// Looks at every byte whatever it finds, so that the time taken tells nothing about the secret.
bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

// A field that only somebody who speaks for others adds: a proxy, or a browser for a web page.
bool is_on_behalf(std::string_view name) {
  constexpr std::string_view kForwarded = "x-forwarded-";
  if (http1::equals_ignore_case(name.substr(0, kForwarded.size()), kForwarded)) return true;
  for (const std::string_view known : {"forwarded", "via", "x-real-ip", "origin"}) {
    if (http1::equals_ignore_case(name, known)) return true;
  }
  return false;
}

// A browser can be tricked into asking this machine in somebody else's name, by a host name that
// resolves to it; it then sends that name. And a proxy on this machine speaks for others; one that
// does not say so is not recognised, which is why nothing that writes relies on this.
bool speaks_for_itself(const http1::RequestHead& head) {
  std::string_view host = head.host;
  const std::size_t colon = host.rfind(':');
  if (colon != host.npos && host.find(']', colon) == host.npos) host = host.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const bool local_name = host == "localhost" || io::Address{std::string(host), 0}.is_loopback();
  if (!local_name) return false;
  for (const http1::HeaderField field : head.headers) {
    if (is_on_behalf(field.name)) return false;
  }
  return true;
}

}  // namespace

Result<std::optional<Operation>> AdminRouter::route(const http1::RequestHead& head) const {
  for (const Page& page : kPages) {
    if (head.path != page.path) continue;
    if (head.method == http1::Method::get || head.method == http1::Method::head) {
      return page.operation;
    }
    return fail(Errc::method_not_allowed, "only GET and HEAD are served here");
  }
  return std::nullopt;
}

std::expected<http::Credentials, http::Refusal> TokenAuthenticator::authenticate(
    const http1::RequestHead& head, const io::Address& peer) const {
  const auto presented = head.headers.find(http1::Header::authorization);
  if (!presented) {
    const bool local = peer.is_loopback() && speaks_for_itself(head);
    return local ? AuthKind::same_machine : AuthKind::anonymous;
  }
  constexpr std::string_view kScheme = "Bearer ";
  if (head.headers.count(http1::Header::authorization) > 1) {
    return fail(Errc::bad_request, "more than one Authorization field");
  }
  if (!presented->starts_with(kScheme)) {
    return fail(Errc::unauthenticated, "only `Authorization: Bearer` is understood here");
  }
  if (!equal_in_constant_time(presented->substr(kScheme.size()), token_.reveal())) {
    return fail(Errc::unauthenticated, "this token is not the server's");
  }
  return AuthKind::admin_token;
}

rt::Task<Response> Health::handle(http::Exchange&) {
  co_return Response::text(200, "application/json", "{\"status\":\"alive\"}\n");
}

rt::Task<Response> Ready::handle(http::Exchange&) {
  if (draining_) co_return fail(Errc::unavailable, "draining");
  co_return Response::text(200, "application/json", "{\"status\":\"ready\"}\n");
}

rt::Task<Response> Version::handle(http::Exchange&) {
  const nlohmann::json page = {{"name", "leat"}, {"version", version_}, {"api", "v1"}};
  co_return Response::text(200, "application/json", page.dump() + "\n");
}

rt::Task<Response> Metrics::handle(http::Exchange&) {
  co_return Response::text(200, "text/plain; version=0.0.4; charset=utf-8", registry_.expose());
}

void AdminPages::install(http::Dispatcher& dispatcher) {
  dispatcher.add_router(router_);
  dispatcher.set_handler(Operation::health, health_);
  dispatcher.set_handler(Operation::ready, ready_);
  dispatcher.set_handler(Operation::version, version_);
  dispatcher.set_handler(Operation::metrics, metrics_);
}

}  // namespace leat::admin
