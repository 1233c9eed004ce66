// Certificates and keys out of PEM text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tls/openssl_handle.h"

namespace leat::tls {

// All certificates of a text, at least one; other PEM blocks and text between them are skipped.
// Errors: bad_request, saying which certificate cannot be read.
Result<std::vector<CertificatePtr>> read_certificates(std::string_view pem);

// Errors: bad_request (no private key, or one that needs a passphrase).
Result<KeyPtr> read_key(std::string_view pem);

std::string write_certificate(const X509& certificate);

// PKCS #8, not encrypted.
std::string write_key(const EVP_PKEY& key);

}  // namespace leat::tls
