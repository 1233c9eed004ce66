#include "s3client/endpoint.h"

#include <fmt/format.h>

namespace leat::s3client {
namespace {

constexpr std::string_view kPlain = "http://";
constexpr std::string_view kEncrypted = "https://";

// True if the port is written out: "host:9000", "[::1]:9000".
bool has_port(std::string_view authority) {
  const std::size_t colon = authority.rfind(':');
  if (colon == authority.npos) return false;
  const std::size_t bracket = authority.rfind(']');
  return bracket == authority.npos || colon > bracket;
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view url) {
  Endpoint endpoint;
  std::string_view rest = url;
  if (rest.starts_with(kEncrypted)) {
    endpoint.is_encrypted = true;
    rest.remove_prefix(kEncrypted.size());
  } else if (rest.starts_with(kPlain)) {
    rest.remove_prefix(kPlain.size());
  } else if (rest.find("://") != rest.npos) {
    return fail(Errc::bad_request, fmt::format("endpoint {}: not http:// or https://", url));
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.empty() || rest.find_first_of("/?#@ ") != rest.npos) {
    return fail(Errc::bad_request,
                fmt::format("endpoint {}: expected a URL such as http://127.0.0.1:9000", url));
  }
  const std::uint16_t usual = endpoint.is_encrypted ? 443 : 80;
  std::string authority(rest);
  if (!has_port(rest)) authority += fmt::format(":{}", usual);
  auto address = io::Address::parse(authority);
  if (!address) {
    return fail(Errc::bad_request, fmt::format("endpoint {}: {}", url, address.error().detail()));
  }
  endpoint.address = *std::move(address);
  endpoint.host = endpoint.address.to_string();
  if (endpoint.address.port == usual) endpoint.host.resize(endpoint.host.rfind(':'));
  endpoint.url = fmt::format("{}{}", endpoint.is_encrypted ? kEncrypted : kPlain, endpoint.host);
  return endpoint;
}

}  // namespace leat::s3client
