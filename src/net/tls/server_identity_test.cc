#include "tls/server_identity.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <string>
#include <vector>

namespace leat::tls {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNow{1735689600s};  // 2025-01-01

ServerIdentity make(const std::vector<std::string>& names, std::uint64_t seed = 1) {
  io::SeededRng rng(seed);
  return ServerIdentity::make_self_signed(names, kNow, rng).value();
}

std::string error_of(const std::string& certificate, const std::string& key, WallTime now = kNow) {
  auto loaded = ServerIdentity::load(certificate, key, now);
  if (loaded) return "loaded";
  EXPECT_EQ(loaded.error().code(), Errc::bad_request);
  return std::string(loaded.error().detail());
}

TEST(ServerIdentity, ASelfSignedCertificateNamesItsHostsAndAddressesAndNothingElse) {
  const ServerIdentity identity = make({"localhost", "node-1.example", "127.0.0.1", "::1"});
  X509* certificate = identity.chain().front().get();
  EXPECT_EQ(X509_check_host(certificate, "localhost", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_host(certificate, "node-1.example", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_host(certificate, "example", 0, 0, nullptr), 0);
  EXPECT_EQ(X509_check_ip_asc(certificate, "127.0.0.1", 0), 1);
  EXPECT_EQ(X509_check_ip_asc(certificate, "::1", 0), 1);
  EXPECT_EQ(X509_check_ip_asc(certificate, "127.0.0.2", 0), 0);
}

TEST(ServerIdentity, ASelfSignedCertificateIsForServersAndNoAuthority) {
  const ServerIdentity identity = make({"localhost"});
  X509* certificate = identity.chain().front().get();
  EXPECT_EQ(X509_check_ca(certificate), 0);
  EXPECT_GE(X509_get_ext_by_NID(certificate, NID_basic_constraints, -1), 0);
  EXPECT_EQ(X509_get_extended_key_usage(certificate), static_cast<std::uint32_t>(XKU_SSL_SERVER));
  EXPECT_EQ(X509_get_key_usage(certificate), static_cast<std::uint32_t>(KU_DIGITAL_SIGNATURE));
  EXPECT_EQ(X509_verify(certificate, X509_get0_pubkey(certificate)), 1);
  EXPECT_EQ(EVP_PKEY_get_bits(X509_get0_pubkey(certificate)), 256);
}

TEST(ServerIdentity, TheSerialNumberComesFromTheGivenRandomness) {
  const auto serial = [](const ServerIdentity& identity) {
    const ASN1_INTEGER* number = X509_get0_serialNumber(identity.chain().front().get());
    return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(number)),
                       static_cast<std::size_t>(ASN1_STRING_length(number)));
  };
  const std::string first = serial(make({"a"}, 1));
  EXPECT_EQ(first.size(), 16U);
  EXPECT_EQ(first, serial(make({"a"}, 1)));
  EXPECT_NE(first, serial(make({"a"}, 2)));
}

TEST(ServerIdentity, NamesThatAreNoneAreRefused) {
  io::SeededRng rng(1);
  const std::string long_name(300, 'a');
  for (const std::string& name : {std::string(), std::string("two words"), std::string("a,DNS:b"),
                                  std::string("n\0ul", 4), long_name}) {
    const std::vector<std::string> names = {"localhost", name};
    EXPECT_EQ(ServerIdentity::make_self_signed(names, kNow, rng).error().code(), Errc::bad_request);
  }
  EXPECT_FALSE(ServerIdentity::make_self_signed({}, kNow, rng));
}

TEST(ServerIdentity, WhatWasWrittenLoadsAgainAsTheSame) {
  const ServerIdentity made = make({"localhost"});
  const auto loaded = ServerIdentity::load(made.certificate_pem(), made.key_pem(), kNow + 24h);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->fingerprint(), made.fingerprint());
  EXPECT_EQ(loaded->chain().size(), 1U);
}

TEST(ServerIdentity, AChainIsReadInOrder) {
  const ServerIdentity first = make({"first"});
  const ServerIdentity second = make({"second"}, 2);
  const auto loaded = ServerIdentity::load(first.certificate_pem() + second.certificate_pem(),
                                           first.key_pem(), kNow);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->chain().size(), 2U);
  EXPECT_EQ(loaded->fingerprint(), first.fingerprint());
}

TEST(ServerIdentity, EachPartThatIsWrongIsNamed) {
  const ServerIdentity good = make({"localhost"});
  const ServerIdentity other = make({"localhost"}, 2);
  const std::string& certificate = good.certificate_pem();
  const std::string broken = certificate.substr(0, certificate.size() / 2);
  std::string damaged = certificate;
  damaged.replace(damaged.size() / 2, 4, "!!!!");
  EXPECT_TRUE(error_of("garbage", good.key_pem()).starts_with("no certificate"));
  EXPECT_TRUE(error_of("", good.key_pem()).starts_with("no certificate"));
  EXPECT_TRUE(error_of(broken, good.key_pem()).starts_with("certificate 1 of"));
  EXPECT_TRUE(error_of(damaged, good.key_pem()).starts_with("certificate 1 of"));
  EXPECT_TRUE(error_of(certificate + damaged, good.key_pem()).starts_with("certificate 2 of"));
  EXPECT_TRUE(error_of(certificate, "garbage").starts_with("no private key"));
  EXPECT_TRUE(error_of(certificate, certificate).starts_with("no private key"));
  EXPECT_TRUE(error_of(certificate, other.key_pem()).starts_with("the key does not belong"));
}

TEST(ServerIdentity, ACertificateOutsideItsTimeIsRefused) {
  const ServerIdentity good = make({"localhost"});
  const auto at = [&](WallTime now) {
    return error_of(good.certificate_pem(), good.key_pem(), now);
  };
  EXPECT_EQ(at(kNow), "loaded");
  EXPECT_EQ(at(kNow + 24h * 3650), "loaded");
  EXPECT_EQ(at(kNow + 24h * 3660), "the certificate has expired");
  EXPECT_EQ(at(kNow - 24h), "the certificate is not valid yet");
}

TEST(Fingerprint, IsWrittenAsPeopleCompareIt) {
  const Fingerprint fingerprint = make({"localhost"}).fingerprint();
  const std::string text = fingerprint.to_string();
  ASSERT_EQ(text.size(), 95U);
  EXPECT_EQ(text[2], ':');
  std::string bare;
  for (const char c : text) {
    if (c != ':') bare.push_back(c >= 'A' ? static_cast<char>(c + 32) : c);
  }
  EXPECT_EQ(Fingerprint::parse(text).value(), fingerprint);
  EXPECT_EQ(Fingerprint::parse(bare).value(), fingerprint);
}

TEST(Fingerprint, AnythingElseIsRefused) {
  const std::string pairs(64, 'a');
  std::string colons = Fingerprint::parse(pairs).value().to_string();
  EXPECT_TRUE(Fingerprint::parse(colons));
  colons[5] = '-';
  EXPECT_FALSE(Fingerprint::parse(colons));
  EXPECT_FALSE(Fingerprint::parse(""));
  EXPECT_FALSE(Fingerprint::parse(pairs.substr(1)));
  EXPECT_FALSE(Fingerprint::parse(pairs.substr(1) + "g"));
  EXPECT_FALSE(Fingerprint::parse("+" + pairs.substr(1)));
}

}  // namespace
}  // namespace leat::tls
