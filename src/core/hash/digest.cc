#include "hash/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/check.h"

namespace leat::hash {
namespace {

// Fetched once and kept for the life of the process: looking an algorithm up costs more than
// hashing a small request. Failure means a libcrypto without the algorithm: nothing can run then.
const EVP_MD* fetched(const char* name) {
  const EVP_MD* algorithm = EVP_MD_fetch(nullptr, name, nullptr);
  LEAT_CHECK(algorithm != nullptr);
  return algorithm;
}

const EVP_MD* algorithm_of(DigestKind kind) {
  static const EVP_MD* const md5 = fetched("MD5");
  static const EVP_MD* const sha1 = fetched("SHA1");
  static const EVP_MD* const sha256 = fetched("SHA256");
  switch (kind) {
    case DigestKind::md5: return md5;
    case DigestKind::sha1: return sha1;
    case DigestKind::sha256: return sha256;
  }
  LEAT_CHECK(false);
  return nullptr;
}

const unsigned char* data_of(Bytes bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

void DigestState::Free::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

DigestState::DigestState(DigestKind kind) : context_(EVP_MD_CTX_new()), kind_(kind) {
  LEAT_CHECK(context_ != nullptr);
  LEAT_CHECK(EVP_DigestInit_ex2(context_.get(), algorithm_of(kind_), nullptr) == 1);
}

DigestState::DigestState(const DigestState& other)
    : context_(EVP_MD_CTX_new()), kind_(other.kind_) {
  LEAT_CHECK(context_ != nullptr);
  LEAT_CHECK(EVP_MD_CTX_copy_ex(context_.get(), other.context_.get()) == 1);
}

DigestState& DigestState::operator=(const DigestState& other) {
  if (this != &other) *this = DigestState(other);
  return *this;
}

void DigestState::update(Bytes bytes) {
  LEAT_CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

void DigestState::finish(MutableBytes value) {
  LEAT_CHECK(value.size() == static_cast<std::size_t>(EVP_MD_get_size(algorithm_of(kind_))));
  auto* out = reinterpret_cast<unsigned char*>(value.data());
  LEAT_CHECK(EVP_DigestFinal_ex(context_.get(), out, nullptr) == 1);
  LEAT_CHECK(EVP_DigestInit_ex2(context_.get(), algorithm_of(kind_), nullptr) == 1);
}

Sha256::Value hmac_sha256(Bytes key, Bytes message) {
  Sha256::Value value;
  unsigned size = 0;
  // An empty key must not be a null pointer, which means "the key of the call before".
  static constexpr unsigned char kNothing = 0;
  const unsigned char* const key_data = key.empty() ? &kNothing : data_of(key);
  LEAT_CHECK(HMAC(algorithm_of(DigestKind::sha256), key_data, static_cast<int>(key.size()),
                  data_of(message), message.size(), reinterpret_cast<unsigned char*>(value.data()),
                  &size) != nullptr);
  LEAT_CHECK(size == value.size());
  return value;
}

bool constant_time_equal(Bytes a, Bytes b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace leat::hash
