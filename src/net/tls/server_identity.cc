#include "tls/server_identity.h"

#include <openssl/x509.h>

#include "tls/pem.h"

namespace leat::tls {
namespace {

Status check_dates(const X509& certificate, WallTime now) {
  auto seconds = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(now));
  if (X509_cmp_time(X509_get0_notBefore(&certificate), &seconds) > 0) {
    return fail(Errc::bad_request, "the certificate is not valid yet");
  }
  if (X509_cmp_time(X509_get0_notAfter(&certificate), &seconds) <= 0) {
    return fail(Errc::bad_request, "the certificate has expired");
  }
  return {};
}

}  // namespace

Result<ServerIdentity> ServerIdentity::load(std::string_view certificate_pem,
                                            std::string_view key_pem, WallTime now) {
  ServerIdentity identity{std::string(certificate_pem), std::string(key_pem)};
  LEAT_TRY(identity.chain_, read_certificates(certificate_pem));
  LEAT_TRY(identity.key_, read_key(key_pem));
  if (X509_check_private_key(identity.chain_.front().get(), identity.key_.get()) != 1) {
    return fail(openssl_error(Errc::bad_request, "the key does not belong to the certificate"));
  }
  LEAT_DO(check_dates(*identity.chain_.front(), now));
  return identity;
}

}  // namespace leat::tls
