#include "tls/pem.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "base/check.h"

namespace leat::tls {
namespace {

// Without this OpenSSL would ask for a passphrase on the terminal.
int refuse_passphrase(char*, int, int, void*) {
  return -1;
}

std::string text_of(BIO& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(&bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

BioPtr empty_bio() {
  BioPtr bio(BIO_new(BIO_s_mem()));
  LEAT_CHECK(bio != nullptr);
  return bio;
}

// After the last block of a text, OpenSSL reports that it has found no further one.
bool was_end_of_text() {
  const unsigned long code = ERR_peek_last_error();
  return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

}  // namespace

Result<std::vector<CertificatePtr>> read_certificates(std::string_view pem) {
  ERR_clear_error();
  const BioPtr bio = memory_bio(pem);
  std::vector<CertificatePtr> certificates;
  while (true) {
    CertificatePtr next(PEM_read_bio_X509(bio.get(), nullptr, refuse_passphrase, nullptr));
    if (next == nullptr) break;
    certificates.push_back(std::move(next));
  }
  if (!was_end_of_text()) {
    const std::string what =
        fmt::format("certificate {} of the PEM text cannot be read", certificates.size() + 1);
    return fail(openssl_error(Errc::bad_request, what));
  }
  ERR_clear_error();
  if (certificates.empty()) {
    return fail(Errc::bad_request, "no certificate: expected -----BEGIN CERTIFICATE-----");
  }
  return certificates;
}

Result<KeyPtr> read_key(std::string_view pem) {
  ERR_clear_error();
  const BioPtr bio = memory_bio(pem);
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, refuse_passphrase, nullptr));
  if (key == nullptr) {
    return fail(openssl_error(Errc::bad_request,
                              "no private key: expected -----BEGIN PRIVATE KEY----- "
                              "without a passphrase"));
  }
  return key;
}

std::string write_certificate(const X509& certificate) {
  const BioPtr bio = empty_bio();
  LEAT_CHECK(PEM_write_bio_X509(bio.get(), &certificate) == 1);
  return text_of(*bio);
}

std::string write_key(const EVP_PKEY& key) {
  const BioPtr bio = empty_bio();
  LEAT_CHECK(
      PEM_write_bio_PKCS8PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return text_of(*bio);
}

}  // namespace leat::tls
