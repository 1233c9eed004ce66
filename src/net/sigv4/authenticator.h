// Authenticator: the one door from a request to who sent it, with every check behind it in the
// right order. What it does not know is what anybody may do: the caller authorises.
//
//   LEAT_TRY(const Request request, request_of(head));
//   LEAT_TRY(const auto identity, authenticator.authenticate(request, clock.wall_now()));
//   if (!identity) …anonymous: allowed only what strangers are…
//
// Shard: belongs to one; it remembers signing keys.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "sigv4/verify.h"

namespace leat::sigv4 {

struct Identity {
  Claim claim;       // verified
  ChunkChain chain;  // of the signatures that the chunks of its body must have
};

class Authenticator {
 public:
  // The secret of an access key; nothing if there is no such key.
  using SecretOf = std::function<std::optional<std::string>(std::string_view access_key)>;

  Authenticator(Rules rules, SecretOf secret_of)
      : rules_(std::move(rules)), secret_of_(std::move(secret_of)) {}

  // Nothing if the request has no credentials at all. Whether claim.security_token belongs to the
  // key is for the caller to say, who gave it out.
  // Errors: those of claim_of(), check_rules() and verify(); InvalidAccessKeyId.
  S3Result<std::optional<Identity>> authenticate(const Request& request, WallTime now);

 private:
  Rules rules_;
  SecretOf secret_of_;
  SigningKeys keys_;
};

}  // namespace leat::sigv4
