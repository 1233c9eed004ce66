#include "tls/openssl_handle.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/check.h"

namespace leat::tls {

void Free::operator()(BIO* bio) const {
  BIO_free(bio);
}
void Free::operator()(EVP_PKEY* key) const {
  EVP_PKEY_free(key);
}
void Free::operator()(SSL* ssl) const {
  SSL_free(ssl);
}
void Free::operator()(SSL_CTX* context) const {
  SSL_CTX_free(context);
}
void Free::operator()(X509* certificate) const {
  X509_free(certificate);
}

Error openssl_error(Errc code, std::string_view what) {
  // The last entry is the outermost reason; the ones before it are how the library got there.
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  std::string text(what);
  if (reason != nullptr) text.append(": ").append(reason);
  ERR_clear_error();
  return Error(code, std::move(text));
}

ContextPtr make_context(Role role) {
  const SSL_METHOD* method = role == Role::server ? TLS_server_method() : TLS_client_method();
  ContextPtr context(SSL_CTX_new(method));
  LEAT_CHECK(context != nullptr);
  SSL_CTX* raw = context.get();
  LEAT_CHECK(SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION) == 1);
  // TLS 1.3 brings its own list; this one is for 1.2.
  LEAT_CHECK(SSL_CTX_set_cipher_list(raw, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1);
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
  // A record arrives by one read of the stream, not by one for its five bytes of head and another.
  SSL_CTX_set_read_ahead(raw, 1);
  // Sessions are resumed by tickets alone: nothing is kept here, so shards share nothing.
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  return context;
}

BioPtr memory_bio(std::string_view text) {
  BioPtr bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  LEAT_CHECK(bio != nullptr);
  return bio;
}

}  // namespace leat::tls
