// ServerIdentity::make_self_signed: a certificate for those who have none.
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "tls/pem.h"
#include "tls/server_identity.h"

namespace leat::tls {
namespace {

constexpr int kValidDays = 3653;  // ten years
constexpr long kHourSeconds = 3600;
constexpr std::size_t kNameMaxBytes = 253;
constexpr std::string_view kCommonName = "Leat self-signed";

bool is_dns_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameMaxBytes && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '*';
  });
}

// The list owns what was added; `into` owns the entry from then on.
Status add_name(GENERAL_NAMES& into, const std::string& name) {
  GENERAL_NAME* entry = GENERAL_NAME_new();
  LEAT_CHECK(entry != nullptr && sk_GENERAL_NAME_push(&into, entry) > 0);
  if (ASN1_OCTET_STRING* address = a2i_IPADDRESS(name.c_str())) {
    GENERAL_NAME_set0_value(entry, GEN_IPADD, address);
    return {};
  }
  if (!is_dns_name(name)) {
    return fail(Errc::bad_request, "neither a host name nor an IP address: '" + name + "'");
  }
  ASN1_IA5STRING* text = ASN1_IA5STRING_new();
  LEAT_CHECK(text != nullptr);
  LEAT_CHECK(ASN1_STRING_set(text, name.data(), static_cast<int>(name.size())) == 1);
  GENERAL_NAME_set0_value(entry, GEN_DNS, text);
  return {};
}

Status add_names(X509& certificate, std::span<const std::string> names) {
  if (names.empty()) return fail(Errc::bad_request, "a certificate needs at least one name");
  GENERAL_NAMES* list = GENERAL_NAMES_new();
  LEAT_CHECK(list != nullptr);
  Status added;
  for (const std::string& name : names) {
    if (added) added = add_name(*list, name);
  }
  if (added) {
    LEAT_CHECK(X509_add1_ext_i2d(&certificate, NID_subject_alt_name, list, 0, 0) == 1);
  }
  GENERAL_NAMES_free(list);
  return added;
}

void add_extension(X509& certificate, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, &certificate, &certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  LEAT_CHECK(extension != nullptr && X509_add_ext(&certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

// 127 random bits: positive, and far fewer than the 20 bytes that a serial number may have.
void set_serial(X509& certificate, io::Rng& rng) {
  std::array<std::byte, 16> bytes;
  rng.fill(bytes);
  bytes[0] = (bytes[0] & std::byte{0x7f}) | std::byte{0x40};
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  BIGNUM* number = BN_bin2bn(data, static_cast<int>(bytes.size()), nullptr);
  LEAT_CHECK(number != nullptr);
  LEAT_CHECK(BN_to_ASN1_INTEGER(number, X509_get_serialNumber(&certificate)) != nullptr);
  BN_free(number);
}

void set_dates(X509& certificate, WallTime now) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  // An hour earlier, for clients whose clock is behind.
  LEAT_CHECK(ASN1_TIME_adj(X509_getm_notBefore(&certificate), seconds, 0, -kHourSeconds));
  LEAT_CHECK(ASN1_TIME_adj(X509_getm_notAfter(&certificate), seconds, kValidDays, 0));
}

void set_subject(X509& certificate) {
  X509_NAME* name = X509_get_subject_name(&certificate);
  const auto* text = reinterpret_cast<const unsigned char*>(kCommonName.data());
  LEAT_CHECK(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text,
                                        static_cast<int>(kCommonName.size()), -1, 0) == 1);
  LEAT_CHECK(X509_set_issuer_name(&certificate, name) == 1);
}

}  // namespace

Result<ServerIdentity> ServerIdentity::make_self_signed(std::span<const std::string> names,
                                                        WallTime now, io::Rng& rng) {
  KeyPtr key(EVP_EC_gen("P-256"));
  CertificatePtr certificate(X509_new());
  LEAT_CHECK(key != nullptr && certificate != nullptr);
  LEAT_CHECK(X509_set_version(certificate.get(), X509_VERSION_3) == 1);
  set_serial(*certificate, rng);
  set_dates(*certificate, now);
  set_subject(*certificate);
  LEAT_CHECK(X509_set_pubkey(certificate.get(), key.get()) == 1);
  LEAT_DO(add_names(*certificate, names));
  add_extension(*certificate, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(*certificate, NID_key_usage, "critical,digitalSignature");
  add_extension(*certificate, NID_ext_key_usage, "serverAuth");
  add_extension(*certificate, NID_subject_key_identifier, "hash");
  LEAT_CHECK(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0);
  return load(write_certificate(*certificate), write_key(*key), now);
}

}  // namespace leat::tls
