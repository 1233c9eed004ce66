// S3Authenticator: whose request this is, for a server that speaks S3 at / and its own API at /_/.
//
// What is S3's, or Leat's own for training jobs, is judged by sigv4::Authenticator with the keys of
// this shard, or by the operators' token if it has that; everything else is the token's. A request
// for S3 without credentials is anonymous wherever it comes from: same_machine opens nothing of S3.
// So is every OPTIONS: browsers ask by it about requests that they have yet to send, which may be
// signed, and no operation but that answer can be had by it.
//
// Shard: one. Lifetime: what it is given outlives it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "http/dispatcher.h"
#include "io/clock.h"
#include "keys/key_store.h"
#include "lifecycle/lifecycle.h"
#include "sigv4/authenticator.h"

namespace leat::s3 {

enum class Who : std::uint8_t {
  nobody,     // nothing was presented: may what a policy or an ACL opens to everybody
  key,        // an access key: may what its rules, policies and ACLs say
  operators,  // the operators' token: may all
};

// The proof of a request for S3 (http::Credentials::proof).
struct Caller {
  sigv4::Request request{};
  Who who = Who::nobody;
  std::shared_ptr<const keys::Key> key{};    // of Who::key
  std::optional<sigv4::ChunkChain> chain{};  // of a signed request
  sigv4::Payload payload{};
};

struct S3Options {
  std::string region = "leat";  // what clients are told to sign with
  std::string domain{};         // "s3.example": buckets as photos.s3.example; empty for none
  std::int64_t day_ms = lifecycle::kDayMs;  // of lifecycle rules; tests make it short
  // Whether a body that no signature covers is refused where nothing else protects it.
  bool requires_signed_payload = false;
};

class S3Authenticator final : public http::Authenticator {
 public:
  S3Authenticator(const http::Authenticator& token, const keys::ShardKeys& keys,
                  const io::Clock& clock, S3Options options);

  std::expected<http::Credentials, http::Refusal> authenticate(
      const http1::RequestHead& head, const io::Address& peer) const override;

 private:
  std::optional<std::string> secret_of(std::string_view id) const;
  std::expected<http::Credentials, http::Refusal> by_token(const http1::RequestHead& head,
                                                           const io::Address& peer,
                                                           sigv4::Request request) const;
  std::expected<http::Credentials, http::Refusal> anonymous(sigv4::Request request) const;

  const http::Authenticator& token_;
  const keys::ShardKeys& keys_;
  const io::Clock& clock_;
  const S3Options options_;
  std::unique_ptr<sigv4::Authenticator> signatures_;
};

}  // namespace leat::s3
