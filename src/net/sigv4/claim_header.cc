// Claims in the Authorization header:
//   AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…
#include "http1/date.h"
#include "http1/grammar.h"
#include "sigv4/claim.h"
#include "sigv4/timestamp.h"

namespace leat::sigv4 {
namespace {

struct Parts {
  std::optional<std::string_view> credential;
  std::optional<std::string_view> signed_headers;
  std::optional<std::string_view> signature;

  std::optional<std::string_view>* slot(std::string_view name) {
    if (name == "Credential") return &credential;
    if (name == "SignedHeaders") return &signed_headers;
    if (name == "Signature") return &signature;
    return nullptr;
  }
};

S3Result<Parts> parts_of(std::string_view authorization) {
  authorization.remove_prefix(kAlgorithm.size());
  Parts parts;
  bool odd = false;
  http1::for_each_element(authorization, [&](std::string_view element) {
    const std::size_t equals = element.find('=');
    auto* const slot = parts.slot(element.substr(0, equals));
    odd |= slot == nullptr || slot->has_value() || equals == std::string_view::npos;
    if (!odd) *slot = element.substr(equals + 1);
  });
  if (odd) return malformed(Place::header, "it has an odd or repeated component.");
  const auto missing = [](std::string_view name) {
    return malformed(Place::header,
                     "the authorization header requires three components: "
                     "Credential, SignedHeaders, and Signature; there is no " +
                         std::string(name) + ".");
  };
  if (!parts.credential || parts.credential->empty()) return missing("Credential");
  if (!parts.signed_headers || parts.signed_headers->empty()) return missing("SignedHeaders");
  if (!parts.signature || parts.signature->empty()) return missing("Signature");
  return parts;
}

std::unexpected<S3Error> no_date() {
  return refuse(S3Code::access_denied,
                "AWS authentication requires a valid Date or x-amz-date header");
}

S3Status read_time(const Request& request, Claim& claim) {
  LEAT_TRY(const auto amz_date, request.header("x-amz-date"));
  if (amz_date) {
    const auto time = parse_timestamp(*amz_date);
    if (!time) return no_date();
    claim.time = *time;
  } else {
    LEAT_TRY(const auto date, request.header("date"));
    if (!date) return no_date();
    const auto basic = parse_timestamp(*date);
    const auto time = basic ? basic : http1::parse_date(*date);
    if (!time || *time < WallTime()) return no_date();
    claim.time = *time;
  }
  claim.timestamp = format_timestamp(claim.time);
  return {};
}

}  // namespace

S3Result<Claim> claim_from_header(const Request& request, std::string_view authorization) {
  Claim claim{.place = Place::header};
  LEAT_TRY(const Parts parts, parts_of(authorization));
  LEAT_DO(read_credential(*parts.credential, claim));
  LEAT_DO(read_signed_headers(*parts.signed_headers, claim));
  claim.signature = *parts.signature;
  LEAT_DO(read_time(request, claim));

  LEAT_TRY(const auto word, request.header("x-amz-content-sha256"));
  if (!word) {
    return refuse(S3Code::invalid_request,
                  "Missing required header for this request: x-amz-content-sha256");
  }
  LEAT_TRY(claim.payload, payload_from(*word));
  LEAT_TRY(const auto token, request.header("x-amz-security-token"));
  if (token) claim.security_token = std::string(*token);
  return claim;
}

}  // namespace leat::sigv4
