// ServerIdentity: the certificate a server shows and the key that proves it is its own.
//
// A value that can be moved, without any I/O: reading and writing files is the caller's. The key is
// a secret; nothing here prints it but key_pem(), which exists to be stored.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "io/rng.h"
#include "tls/fingerprint.h"
#include "tls/openssl_handle.h"

namespace leat::tls {

class ServerIdentity {
 public:
  // The certificate first, then those of the authorities between it and the root, if any.
  // Errors: bad_request with what is wrong: no certificate, no key, a key with a passphrase, a key
  // of another certificate, a certificate that is expired or not yet valid at `now`.
  static Result<ServerIdentity> load(std::string_view certificate_pem, std::string_view key_pem,
                                     WallTime now);

  // A new key (ECDSA P-256) and a certificate for it that nobody else vouches for, good for ten
  // years from `now`. `names` are DNS names and IP addresses as clients will write them. The serial
  // number comes from `rng`; the key comes from OpenSSL's own generator, as keys must.
  // Errors: bad_request (no name, or one that is none).
  static Result<ServerIdentity> make_self_signed(std::span<const std::string> names, WallTime now,
                                                 io::Rng& rng);

  const std::string& certificate_pem() const { return certificate_pem_; }
  const std::string& key_pem() const { return key_pem_; }
  Fingerprint fingerprint() const { return Fingerprint::of(*chain_.front()); }

  // For ServerTls. The chain has at least the server's own certificate, at its front.
  std::span<const CertificatePtr> chain() const { return chain_; }
  EVP_PKEY* key() const { return key_.get(); }

 private:
  ServerIdentity(std::string certificate_pem, std::string key_pem)
      : certificate_pem_(std::move(certificate_pem)), key_pem_(std::move(key_pem)) {}

  std::string certificate_pem_;
  std::string key_pem_;
  std::vector<CertificatePtr> chain_;
  KeyPtr key_;
};

}  // namespace leat::tls
