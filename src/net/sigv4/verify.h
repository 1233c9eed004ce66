// Whether a claim holds: the rules that need no secret, then the signature. authenticator.h puts
// them in order; nothing else should call them.
//
// Pure: time is an argument.
#pragma once

#include <chrono>
#include <string>

#include "base/time.h"
#include "sigv4/claim.h"

namespace leat::sigv4 {

struct Rules {
  // What this store calls its region. us-east-1 is taken as well: it is what clients sign with
  // that were told none.
  std::string region = "us-east-1";
  std::string service = "s3";
  std::chrono::seconds skew_max = std::chrono::minutes(15);
};

// Scope, time, and that everything is signed that must be: host, every x-amz-* header that is there
// (else a stranger adds one to somebody's presigned URL), and Content-MD5.
// Errors: AuthorizationHeaderMalformed or AuthorizationQueryParametersError (scope),
// RequestTimeTooSkewed, AccessDenied (expired, not valid yet, unsigned headers).
S3Status check_rules(const Request& request, const Claim& claim, const Rules& rules, WallTime now);

// Errors: SignatureDoesNotMatch, with both texts that were compared.
S3Status verify(const Request& request, const Claim& claim, const SigningKey& key);

std::unexpected<S3Error> unknown_key(const Claim& claim);

}  // namespace leat::sigv4
