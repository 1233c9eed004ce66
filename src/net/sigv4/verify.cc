#include "sigv4/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "http1/grammar.h"
#include "sigv4/canonical.h"
#include "sigv4/timestamp.h"

namespace leat::sigv4 {
namespace {

S3Status check_scope(const Claim& claim, const Rules& rules) {
  const Scope& scope = claim.scope;
  if (scope.date != std::string_view(claim.timestamp).substr(0, 8)) {
    return malformed(claim.place,
                     fmt::format("Invalid credential date \"{}\". This date is not the same as "
                                 "X-Amz-Date: \"{}\".",
                                 scope.date, claim.timestamp));
  }
  if (scope.service != rules.service) {
    return malformed(claim.place,
                     fmt::format("incorrect service \"{}\". This endpoint belongs to \"{}\".",
                                 scope.service, rules.service));
  }
  if (scope.region == rules.region || scope.region == "us-east-1") return {};
  auto refusal = malformed(claim.place, fmt::format("the region '{}' is wrong; expecting '{}'",
                                                    scope.region, rules.region));
  refusal.error().details.emplace_back("Region", rules.region);
  return refusal;
}

S3Status check_skew(const Claim& claim, const Rules& rules, WallTime now) {
  if (std::chrono::abs(now - claim.time) <= rules.skew_max) return {};
  auto refusal = refuse(S3Code::request_time_too_skewed,
                        "The difference between the request time and the current time is too "
                        "large.");
  const auto skew_max_ms = std::chrono::milliseconds(rules.skew_max).count();
  refusal.error().details = {{"RequestTime", claim.timestamp},
                             {"ServerTime", format_timestamp(now)},
                             {"MaxAllowedSkewMilliseconds", std::to_string(skew_max_ms)}};
  return refusal;
}

S3Status check_expiry(const Claim& claim, const Rules& rules, WallTime now) {
  if (claim.time > now + rules.skew_max) {
    return refuse(S3Code::access_denied, "Request is not valid yet");
  }
  const WallTime end = claim.time + *claim.expires;
  if (now <= end) return {};
  auto refusal = refuse(S3Code::access_denied, "Request has expired");
  refusal.error().details = {{"X-Amz-Expires", std::to_string(claim.expires->count())},
                             {"Expires", format_timestamp(end)},
                             {"ServerTime", format_timestamp(now)}};
  return refusal;
}

bool must_be_signed(std::string_view name) {
  constexpr std::string_view kPrefix = "x-amz-";
  return http1::equals_ignore_case(name.substr(0, kPrefix.size()), kPrefix) ||
         http1::equals_ignore_case(name, "content-md5");
}

S3Status check_signed_headers(const Request& request, const Claim& claim) {
  const auto is_signed = [&claim](std::string_view name) {
    return std::ranges::any_of(claim.signed_headers, [name](const std::string& signed_name) {
      return http1::equals_ignore_case(signed_name, name);
    });
  };
  std::string unsigned_names;
  const auto add = [&unsigned_names](std::string_view name) {
    if (!unsigned_names.empty()) unsigned_names.append(", ");
    for (const char c : name)
      unsigned_names.push_back(http1::to_lower(c));
  };
  if (!is_signed("host")) add("host");
  for (const http1::HeaderField& field : request.headers) {
    if (must_be_signed(field.name) && !is_signed(field.name)) add(field.name);
  }
  if (unsigned_names.empty()) return {};
  auto refusal = refuse(S3Code::access_denied,
                        "There were headers present in the request which were not signed");
  refusal.error().details.emplace_back("HeadersNotSigned", std::move(unsigned_names));
  return refusal;
}

bool has_header(const Request& request, std::string_view name) {
  return std::ranges::any_of(request.headers, [name](const http1::HeaderField& field) {
    return http1::equals_ignore_case(field.name, name);
  });
}

}  // namespace

S3Status check_rules(const Request& request, const Claim& claim, const Rules& rules, WallTime now) {
  LEAT_DO(check_scope(claim, rules));
  LEAT_DO(check_signed_headers(request, claim));
  return claim.expires ? check_expiry(claim, rules, now) : check_skew(claim, rules, now);
}

S3Status verify(const Request& request, const Claim& claim, const SigningKey& key) {
  const std::string canonical =
      canonical_request(request, claim.signed_headers, claim.payload.word);
  const std::string text = string_to_sign(claim.timestamp, claim.scope, canonical);
  const std::string expected = key.sign(text);
  // A signed header that is not there must not count as an empty one.
  const bool all_there = std::ranges::all_of(
      claim.signed_headers, [&](const std::string& name) { return has_header(request, name); });
  const bool equal = hash::constant_time_equal(as_bytes(expected), as_bytes(claim.signature));
  if (equal && all_there) return {};
  auto refusal = refuse(S3Code::signature_does_not_match,
                        "The request signature we calculated does not match the signature you "
                        "provided. Check your key and signing method.");
  refusal.error().details = {{"AWSAccessKeyId", claim.access_key},
                             {"StringToSign", text},
                             {"SignatureProvided", claim.signature},
                             {"CanonicalRequest", canonical}};
  return refusal;
}

std::unexpected<S3Error> unknown_key(const Claim& claim) {
  auto refusal = refuse(S3Code::invalid_access_key_id,
                        "The AWS Access Key Id you provided does not exist in our records.");
  refusal.error().details.emplace_back("AWSAccessKeyId", claim.access_key);
  return refusal;
}

}  // namespace leat::sigv4
