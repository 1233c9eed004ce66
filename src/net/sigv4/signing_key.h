// What a signature is made with: the scope it holds for, the key of that scope, and the chain of
// signatures through a streamed body. The arithmetic of SigV4; who may do what is verify.h.
//
// Pure but for SigningKeys, which belongs to one shard.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "hash/digest.h"

namespace leat::sigv4 {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kTerminator = "aws4_request";

struct Scope {
  std::string date{};  // 20130524
  std::string region{};
  std::string service{};

  std::string text() const;  // 20130524/us-east-1/s3/aws4_request
  bool operator==(const Scope&) const = default;
};

struct SigningKey {
  hash::Sha256::Value bytes{};

  // HMAC-SHA-256 in lower case hexadecimal: 64 characters.
  std::string sign(std::string_view text) const;
  bool operator==(const SigningKey&) const = default;
};

SigningKey derive_key(std::string_view secret, const Scope& scope);

// What a signature signs: the hash of the canonical request, its time and scope.
std::string string_to_sign(std::string_view timestamp, const Scope& scope,
                           std::string_view canonical_request);

// Signing keys by access key, because deriving one takes four HMACs and they change once a day.
// Bounded: when it is full it starts again.
class SigningKeys {
 public:
  explicit SigningKeys(std::size_t entries_max = 1024) : entries_max_(entries_max) {}

  // The key of that secret in that scope.
  // Requires: `access_key` exists, so that strangers cannot fill the cache.
  SigningKey get(std::string_view access_key, std::string_view secret, const Scope& scope);

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string secret{};
    Scope scope{};
    SigningKey key{};
  };
  std::size_t entries_max_;
  std::unordered_map<std::string, Entry> entries_;
};

// The signatures of the chunks of one body, each made of the one before; the first is the
// request's.
class ChunkChain {
 public:
  ChunkChain(const SigningKey& key, std::string timestamp, const Scope& scope,
             std::string seed_signature);

  // The signature of the next chunk, which has this hash.
  const std::string& next(const hash::Sha256::Value& chunk);
  // The signature of the trailers ("name:value\n" each) after the last chunk.
  const std::string& trailer(std::string_view trailers);

 private:
  SigningKey key_;
  std::string time_and_scope_;
  std::string last_;
};

}  // namespace leat::sigv4
