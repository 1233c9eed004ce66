#include "tls/server_tls.h"

#include <openssl/ssl.h>

#include <array>

#include "base/check.h"
#include "tls/tls_stream.h"

namespace leat::tls {
namespace {

// A length byte and the name, as ALPN writes it.
constexpr std::array<unsigned char, 9> kHttp11 = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned offered_size, void*) {
  unsigned char* chosen = nullptr;
  const int found = SSL_select_next_proto(&chosen, out_size, kHttp11.data(), kHttp11.size(),
                                          offered, offered_size);
  if (found != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

ServerTls::ServerTls(const ServerIdentity& identity) : context_(make_context(Role::server)) {
  SSL_CTX* context = context_.get();
  const auto chain = identity.chain();
  // The identity has been checked when it was made; it cannot be refused here.
  LEAT_CHECK(SSL_CTX_use_certificate(context, chain.front().get()) == 1);
  LEAT_CHECK(SSL_CTX_use_PrivateKey(context, identity.key()) == 1);
  for (const CertificatePtr& authority : chain.subspan(1)) {
    LEAT_CHECK(SSL_CTX_add1_chain_cert(context, authority.get()) == 1);
  }
  SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
}

rt::Task<std::unique_ptr<io::Stream>> ServerTls::accept(std::unique_ptr<io::Stream> stream) const {
  SslPtr ssl(SSL_new(context_.get()));
  LEAT_CHECK(ssl != nullptr);
  SSL_set_accept_state(ssl.get());
  auto secured = std::make_unique<TlsStream>(std::move(ssl), std::move(stream));
  LEAT_CO_DO(co_await secured->handshake(Errc::bad_request));
  co_return secured;
}

}  // namespace leat::tls
