// Who a request says it is from, and under which signature. Nothing in a Claim is true before
// verify() said so.
//
// All of a claim comes from one place, the Authorization header or the query, and through one
// parser for each: identity from here and signature from there is how others were broken into
// (abuse case 7). Which place it is, is decided by an exhaustive enum whose every other value is a
// refusal (abuse case 9).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "sigv4/payload.h"
#include "sigv4/request.h"
#include "sigv4/signing_key.h"

namespace leat::sigv4 {

enum class AuthKind : std::uint8_t {
  anonymous,  // no credentials at all
  v4_header,
  v4_query,  // a presigned URL
  v4a,       // asymmetric SigV4: not implemented
  v2,        // the old signature, in header or query: refused
  several,   // more than one of them: refused
  unknown,   // an Authorization header of another scheme: refused
};

AuthKind auth_kind_of(const Request& request);

enum class Place : std::uint8_t { header, query };

struct Claim {
  Place place = Place::header;
  std::string access_key{};
  Scope scope{};
  std::string timestamp{};  // 20130524T000000Z
  WallTime time{};
  std::vector<std::string> signed_headers{};
  std::string signature{};
  std::optional<std::chrono::seconds> expires{};  // of a presigned URL
  std::optional<std::string> security_token{};
  Payload payload{};
};

// The claim of a request, or nothing if it is anonymous. Only its form is judged here; rules and
// time are judged by check_rules() (verify.h).
// Errors: AuthorizationHeaderMalformed, AuthorizationQueryParametersError, InvalidArgument (several
// mechanisms, unknown scheme), InvalidRequest (SigV2, payload word), NotImplemented (SigV4A),
// AccessDenied (no date, empty Authorization).
S3Result<std::optional<Claim>> claim_of(const Request& request);

// The refusal of a claim that is malformed, in the code of its place.
std::unexpected<S3Error> malformed(Place place, std::string why);

// The two parsers that claim_of() chooses from.
S3Result<Claim> claim_from_header(const Request& request, std::string_view authorization);
S3Result<Claim> claim_from_query(const Request& request);

// What both share: "AKID/20130524/us-east-1/s3/aws4_request" and "host;x-amz-date".
// Errors: malformed().
S3Status read_credential(std::string_view text, Claim& claim);
S3Status read_signed_headers(std::string_view text, Claim& claim);

}  // namespace leat::sigv4
