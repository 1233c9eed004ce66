// Claims in the query: presigned URLs.
#include <array>

#include "http1/grammar.h"
#include "sigv4/claim.h"
#include "sigv4/timestamp.h"

namespace leat::sigv4 {
namespace {

constexpr std::uint64_t kExpiresMax = 7 * 24 * 60 * 60;

// The value of the only parameter of that name, or nothing.
S3Result<std::optional<std::string_view>> parameter(const Request& request, std::string_view name) {
  std::optional<std::string_view> found;
  for (const http1::QueryPair& pair : request.query) {
    if (pair.name != name) continue;
    if (found) return malformed(Place::query, "Several query parameters " + std::string(name));
    found = pair.value;
  }
  return found;
}

S3Result<std::string_view> required(const Request& request, std::string_view name) {
  LEAT_TRY(const auto value, parameter(request, name));
  if (value && !value->empty()) return *value;
  return malformed(Place::query,
                   "Query-string authentication version 4 requires the X-Amz-Algorithm, "
                   "X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and "
                   "X-Amz-Expires parameters.");
}

S3Status read_time(const Request& request, Claim& claim) {
  LEAT_TRY(const std::string_view date, required(request, "X-Amz-Date"));
  const auto time = parse_timestamp(date);
  if (!time) {
    return malformed(Place::query,
                     "X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"");
  }
  claim.time = *time;
  claim.timestamp = date;

  LEAT_TRY(const std::string_view expires, required(request, "X-Amz-Expires"));
  const auto seconds = http1::parse_decimal(expires);
  if (!seconds || *seconds == 0 || *seconds > kExpiresMax) {
    return malformed(Place::query,
                     "X-Amz-Expires must be a number of seconds between 1 and 604800 (a week)");
  }
  claim.expires = std::chrono::seconds(*seconds);
  return {};
}

// Unsigned unless a header or a parameter says otherwise; both must then say the same.
S3Status read_payload(const Request& request, Claim& claim) {
  LEAT_TRY(const auto in_header, request.header("x-amz-content-sha256"));
  LEAT_TRY(const auto in_query, parameter(request, "X-Amz-Content-Sha256"));
  if (in_header && in_query && *in_header != *in_query) {
    return refuse(S3Code::invalid_request,
                  "x-amz-content-sha256 differs between header and query.");
  }
  if (in_header || in_query) {
    LEAT_TRY(claim.payload, payload_from(in_header ? *in_header : *in_query));
  }
  return {};
}

S3Status read_token(const Request& request, Claim& claim) {
  LEAT_TRY(const auto in_query, parameter(request, "X-Amz-Security-Token"));
  LEAT_TRY(const auto in_header, request.header("x-amz-security-token"));
  if (in_query && in_header) return malformed(Place::query, "Several security tokens");
  if (in_query) claim.security_token = std::string(*in_query);
  if (in_header) claim.security_token = std::string(*in_header);
  return {};
}

}  // namespace

S3Result<Claim> claim_from_query(const Request& request) {
  Claim claim{.place = Place::query};
  LEAT_TRY(const std::string_view algorithm, required(request, "X-Amz-Algorithm"));
  if (algorithm != kAlgorithm) {
    return malformed(Place::query, "X-Amz-Algorithm only supports \"AWS4-HMAC-SHA256\"");
  }
  LEAT_TRY(const std::string_view credential, required(request, "X-Amz-Credential"));
  LEAT_DO(read_credential(credential, claim));
  LEAT_TRY(const std::string_view signed_headers, required(request, "X-Amz-SignedHeaders"));
  LEAT_DO(read_signed_headers(signed_headers, claim));
  LEAT_TRY(const std::string_view signature, required(request, "X-Amz-Signature"));
  claim.signature = signature;
  LEAT_DO(read_time(request, claim));
  LEAT_DO(read_payload(request, claim));
  LEAT_DO(read_token(request, claim));
  return claim;
}

}  // namespace leat::sigv4
