// What the files of this module share about OpenSSL: owning pointers and readable errors.
//
// Internal to the module: no header that others include shows more of OpenSSL than its names.
#pragma once

#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/errc.h"
#include "base/error.h"

namespace leat::tls {

// Frees any of OpenSSL's objects that this module owns.
struct Free {
  void operator()(BIO* bio) const;
  void operator()(EVP_PKEY* key) const;
  void operator()(SSL* ssl) const;
  void operator()(SSL_CTX* context) const;
  void operator()(X509* certificate) const;
};

using BioPtr = std::unique_ptr<BIO, Free>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Free>;
using SslPtr = std::unique_ptr<SSL, Free>;
using ContextPtr = std::unique_ptr<SSL_CTX, Free>;
using CertificatePtr = std::unique_ptr<X509, Free>;

// "<what>: <OpenSSL's reason>". Empties this thread's queue of OpenSSL errors.
Error openssl_error(Errc code, std::string_view what);

enum class Role : std::uint8_t { client, server };

// A new context with what client and server agree on: TLS 1.2 at least, forward secrecy, no
// renegotiation, no compression, and buffers that are freed while a connection is idle.
ContextPtr make_context(Role role);

// Reads PEM text without copying it. Lifetime: `text` outlives it.
BioPtr memory_bio(std::string_view text);

}  // namespace leat::tls
