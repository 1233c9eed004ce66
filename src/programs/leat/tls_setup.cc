#include "leat/tls_setup.h"

#include <fmt/format.h>

namespace leat::programs {

std::string TlsSetup::url(const io::Address& address) const {
  return fmt::format("{}://{}", upgrade != nullptr ? "https" : "http", address.to_string());
}

Result<TlsSetup> set_up_tls(const config::Config& settings, ServerProcess&, DataDirectory*) {
  if (settings.text("tls") == "off") return TlsSetup{};
  return fail(Errc::not_implemented, "tls");
}

}  // namespace leat::programs
