#include "sigv4/authenticator.h"

namespace leat::sigv4 {

S3Result<std::optional<Identity>> Authenticator::authenticate(const Request& request,
                                                              WallTime now) {
  LEAT_TRY(std::optional<Claim> claim, claim_of(request));
  if (!claim) return std::optional<Identity>();
  LEAT_DO(check_rules(request, *claim, rules_, now));
  const std::optional<std::string> secret = secret_of_(claim->access_key);
  if (!secret) return unknown_key(*claim);
  const SigningKey key = keys_.get(claim->access_key, *secret, claim->scope);
  LEAT_DO(verify(request, *claim, key));
  ChunkChain chain(key, claim->timestamp, claim->scope, claim->signature);
  return std::optional(Identity{.claim = *std::move(claim), .chain = std::move(chain)});
}

}  // namespace leat::sigv4
