#include "tls/client_tls.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/check.h"
#include "tls/pem.h"
#include "tls/tls_stream.h"

namespace leat::tls {
namespace {

constexpr std::string_view kHttp11 = "\x08http/1.1";

ContextPtr make_client_context() {
  ContextPtr context = make_context(Role::client);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const auto* protocols = reinterpret_cast<const unsigned char*>(kHttp11.data());
  // Unlike its neighbours this one returns 0 when all is well.
  LEAT_CHECK(SSL_CTX_set_alpn_protos(context.get(), protocols, kHttp11.size()) == 0);
  return context;
}

// Stands in for OpenSSL's own verification of the chain.
int verify_pinned(X509_STORE_CTX* store, void* pinned) {
  const X509* shown = X509_STORE_CTX_get0_cert(store);
  const auto* expected = static_cast<const Fingerprint*>(pinned);
  if (shown != nullptr && Fingerprint::of(*shown) == *expected) {
    X509_STORE_CTX_set_error(store, X509_V_OK);
    return 1;
  }
  X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_UNTRUSTED);
  return 0;
}

// True if the certificate must name an IP address: `host` is one.
bool expect_address(X509_VERIFY_PARAM& rules, const std::string& host) {
  return X509_VERIFY_PARAM_set1_ip_asc(&rules, host.c_str()) == 1;
}

}  // namespace

Result<ClientTls> ClientTls::trusting_authorities(std::string_view authorities_pem,
                                                  const io::Clock& clock) {
  LEAT_TRY(const auto authorities, read_certificates(authorities_pem));
  ContextPtr context = make_client_context();
  X509_STORE* store = SSL_CTX_get_cert_store(context.get());
  for (const CertificatePtr& authority : authorities) {
    LEAT_CHECK(X509_STORE_add_cert(store, authority.get()) == 1);
  }
  // A certificate in the list is trusted itself, not only as an authority: self-signed ones are.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  return ClientTls(std::move(context), &clock, nullptr);
}

ClientTls ClientTls::trusting_fingerprint(const Fingerprint& fingerprint) {
  ContextPtr context = make_client_context();
  auto pinned = std::make_unique<Fingerprint>(fingerprint);
  SSL_CTX_set_cert_verify_callback(context.get(), verify_pinned, pinned.get());
  return {std::move(context), nullptr, std::move(pinned)};
}

rt::Task<std::unique_ptr<io::Stream>> ClientTls::connect(std::unique_ptr<io::Stream> stream,
                                                         std::string host) const {
  // OpenSSL takes an empty name for "any name will do".
  if (host.empty()) co_return fail(Errc::bad_request, "TLS needs the name of the server");
  SslPtr ssl(SSL_new(context_.get()));
  LEAT_CHECK(ssl != nullptr);
  SSL_set_connect_state(ssl.get());
  X509_VERIFY_PARAM* rules = SSL_get0_param(ssl.get());
  // An address is never sent as the server's name (RFC 6066 §3).
  const bool is_address = expect_address(*rules, host);
  if (!is_address) {
    X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (X509_VERIFY_PARAM_set1_host(rules, host.data(), host.size()) != 1 ||
        SSL_ctrl(ssl.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, host.data()) !=
            1) {
      co_return fail(openssl_error(Errc::bad_request, "host name '" + host + "'"));
    }
  }
  if (clock_ != nullptr) {
    const auto now = std::chrono::floor<std::chrono::seconds>(clock_->wall_now());
    X509_VERIFY_PARAM_set_time(rules, now.time_since_epoch().count());
  }
  auto secured = std::make_unique<TlsStream>(std::move(ssl), std::move(stream));
  LEAT_CO_DO(co_await secured->handshake(Errc::io));
  co_return secured;
}

}  // namespace leat::tls
