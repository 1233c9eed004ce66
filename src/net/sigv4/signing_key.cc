#include "sigv4/signing_key.h"

#include <fmt/format.h>

#include "base/encoding.h"

namespace leat::sigv4 {
namespace {

constexpr std::string_view kHashOfNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string hex_hash(std::string_view text) {
  return to_hex(hash::Sha256::of(as_bytes(text)));
}

}  // namespace

std::string Scope::text() const {
  return fmt::format("{}/{}/{}/{}", date, region, service, kTerminator);
}

std::string SigningKey::sign(std::string_view text) const {
  return to_hex(hash::hmac_sha256(bytes, as_bytes(text)));
}

SigningKey derive_key(std::string_view secret, const Scope& scope) {
  const std::string start = fmt::format("AWS4{}", secret);
  auto key = hash::hmac_sha256(as_bytes(start), as_bytes(scope.date));
  for (const std::string_view step :
       {std::string_view(scope.region), std::string_view(scope.service), kTerminator}) {
    key = hash::hmac_sha256(key, as_bytes(step));
  }
  return {.bytes = key};
}

std::string string_to_sign(std::string_view timestamp, const Scope& scope,
                           std::string_view canonical_request) {
  return fmt::format("{}\n{}\n{}\n{}", kAlgorithm, timestamp, scope.text(),
                     hex_hash(canonical_request));
}

SigningKey SigningKeys::get(std::string_view access_key, std::string_view secret,
                            const Scope& scope) {
  const std::string name(access_key);
  const auto found = entries_.find(name);
  if (found != entries_.end() && found->second.secret == secret && found->second.scope == scope)
    return found->second.key;
  if (found == entries_.end() && entries_.size() >= entries_max_) entries_.clear();
  const SigningKey key = derive_key(secret, scope);
  entries_.insert_or_assign(name, Entry{.secret = std::string(secret), .scope = scope, .key = key});
  return key;
}

ChunkChain::ChunkChain(const SigningKey& key, std::string timestamp, const Scope& scope,
                       std::string seed_signature)
    : key_(key),
      time_and_scope_(fmt::format("{}\n{}", timestamp, scope.text())),
      last_(std::move(seed_signature)) {}

const std::string& ChunkChain::next(const hash::Sha256::Value& chunk) {
  last_ = key_.sign(fmt::format("{}-PAYLOAD\n{}\n{}\n{}\n{}", kAlgorithm, time_and_scope_, last_,
                                kHashOfNothing, to_hex(chunk)));
  return last_;
}

const std::string& ChunkChain::trailer(std::string_view trailers) {
  last_ = key_.sign(fmt::format("{}-TRAILER\n{}\n{}\n{}", kAlgorithm, time_and_scope_, last_,
                                hex_hash(trailers)));
  return last_;
}

}  // namespace leat::sigv4
