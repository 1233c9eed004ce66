#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "io/stream.h"

namespace leat::io {
namespace {

Result<std::uint16_t> parse_port(std::string_view digits, std::string_view text) {
  unsigned port = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, port);
  if (digits.empty() || error != std::errc() || stop != end || port > 65535) {
    return fail(Errc::bad_request, fmt::format("address '{}': port must be 0 to 65535", text));
  }
  return static_cast<std::uint16_t>(port);
}

// What may stand in a name or a dotted address; everything else would surprise a log or a header.
bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

bool is_ipv6(const std::string& host) {
  in6_addr ignored{};
  const std::string without_zone = host.substr(0, host.find('%'));
  return ::inet_pton(AF_INET6, without_zone.c_str(), &ignored) == 1;
}

}  // namespace

std::string Address::to_string() const {
  const bool needs_brackets = host.find(':') != std::string::npos;
  return needs_brackets ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Result<Address> Address::parse(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find("]:");
    if (close == std::string_view::npos) {
      return fail(Errc::bad_request, fmt::format("address '{}': want [IPv6]:port", text));
    }
    Address address{std::string(text.substr(1, close - 1)), 0};
    if (!is_ipv6(address.host)) {
      return fail(Errc::bad_request, fmt::format("address '{}': not an IPv6 address", text));
    }
    LEAT_TRY(address.port, parse_port(text.substr(close + 2), text));
    return address;
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return fail(Errc::bad_request, fmt::format("address '{}': want host:port", text));
  }
  if (text.find(':', colon + 1) != std::string_view::npos) {
    return fail(Errc::bad_request,
                fmt::format("address '{}': write IPv6 addresses as [address]:port", text));
  }
  const std::string_view host = text.substr(0, colon);
  if (host.empty() || !std::ranges::all_of(host, is_host_character)) {
    return fail(Errc::bad_request, fmt::format("address '{}': not a host name", text));
  }
  LEAT_TRY(const std::uint16_t port, parse_port(text.substr(colon + 1), text));
  return Address{std::string(host), port};
}

bool Address::is_loopback() const {
  std::array<unsigned char, 16> bytes{};
  if (::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1) return bytes[0] == 127;
  if (::inet_pton(AF_INET6, host.c_str(), bytes.data()) != 1) return false;
  constexpr std::array<unsigned char, 16> kOne = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  constexpr std::array<unsigned char, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  if (bytes == kOne) return true;
  return std::memcmp(bytes.data(), kMapped.data(), kMapped.size()) == 0 && bytes[12] == 127;
}

}  // namespace leat::io
