#include "leat/tls_setup.h"

#include <fmt/format.h>

#include "leat/settings.h"
#include "tls/server_identity.h"
#include "tls/server_tls.h"

namespace leat::programs {
namespace {

constexpr std::string_view kIdentityName = "tls.pem";  // the key, then the certificate
constexpr std::string_view kCertificateBegin = "-----BEGIN CERTIFICATE-----";

// TLS for the connections of all shards: OpenSSL's context may be shared between threads.
class TlsUpgrade final : public http::StreamUpgrade {
 public:
  explicit TlsUpgrade(const tls::ServerIdentity& identity) : server_(identity) {}
  rt::Task<std::unique_ptr<io::Stream>> upgrade(std::unique_ptr<io::Stream> stream) override {
    return server_.accept(std::move(stream));
  }

 private:
  tls::ServerTls server_;
};

Result<tls::ServerIdentity> make_identity(const io::Address& address, ServerProcess& process) {
  std::vector<std::string> names = {"localhost", "127.0.0.1", "::1"};
  const bool is_any = address.host == "0.0.0.0" || address.host == "::";
  if (!address.is_loopback() && !is_any) names.push_back(address.host);
  return tls::ServerIdentity::make_self_signed(names, process.clock().wall_now(), process.rng());
}

Result<tls::ServerIdentity> auto_identity(const config::Config& settings, ServerProcess& process,
                                          DataDirectory* directory) {
  LEAT_TRY(const io::Address address, listen_address(settings));
  if (directory == nullptr) return make_identity(address, process);
  auto make = [&]() -> Result<std::string> {
    LEAT_TRY(const auto fresh, make_identity(address, process));
    return fresh.key_pem() + fresh.certificate_pem();
  };
  LEAT_TRY(const std::string kept, directory->secret_file(std::string(kIdentityName), make));
  const std::size_t certificate = kept.find(kCertificateBegin);
  const std::string_view text = kept;
  auto identity = certificate == kept.npos ? fail(Errc::bad_request, "no certificate in it")
                                           : tls::ServerIdentity::load(text.substr(certificate),
                                                                       text.substr(0, certificate),
                                                                       process.clock().wall_now());
  if (identity) return identity;
  return fail(identity.error().code(),
              fmt::format("{}/{}: {}; remove the file to get a new certificate", directory->path(),
                          kIdentityName, identity.error().detail()));
}

Result<tls::ServerIdentity> identity_from_files(const config::Config& settings,
                                                ServerProcess& process) {
  const std::string& certificate_file = settings.text("tls_cert");
  const std::string& key_file = settings.text("tls_key");
  if (certificate_file.empty() || key_file.empty()) {
    return fail(Errc::bad_request, "--tls files needs --tls-cert and --tls-key");
  }
  LEAT_TRY(const std::string certificate, read_text(certificate_file));
  LEAT_TRY(const std::string key, read_text(key_file));
  auto identity = tls::ServerIdentity::load(certificate, key, process.clock().wall_now());
  if (identity) return identity;
  return fail(identity.error().code(),
              fmt::format("{} and {}: {}", certificate_file, key_file, identity.error().detail()));
}

}  // namespace

std::string TlsSetup::url(const io::Address& address) const {
  return fmt::format("{}://{}", upgrade != nullptr ? "https" : "http", address.to_string());
}

Result<TlsSetup> set_up_tls(const config::Config& settings, ServerProcess& process,
                            DataDirectory* directory) {
  const std::string& mode = settings.text("tls");
  if (mode == "off") return TlsSetup{};
  if (mode != "auto" && mode != "files") {
    return fail(Errc::bad_request, fmt::format("tls: {} is not off, auto or files", mode));
  }
  LEAT_TRY(const auto identity, mode == "auto" ? auto_identity(settings, process, directory)
                                               : identity_from_files(settings, process));
  TlsSetup setup;
  setup.upgrade = std::make_unique<TlsUpgrade>(identity);
  setup.fingerprint = identity.fingerprint().to_string();
  return setup;
}

}  // namespace leat::programs
