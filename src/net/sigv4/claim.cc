#include "sigv4/claim.h"

#include <algorithm>
#include <array>

#include "http1/grammar.h"

namespace leat::sigv4 {
namespace {

constexpr std::string_view kAlgorithmV4a = "AWS4-ECDSA-P256-SHA256";
constexpr std::size_t kSignedHeadersMax = http1::HeaderBlock::kCapacity;

bool asks(const Request& request, std::string_view name) {
  return std::ranges::any_of(request.query, [name](const auto& pair) { return pair.name == name; });
}

std::vector<std::string_view> authorizations(const Request& request) {
  std::vector<std::string_view> found;
  for (const http1::HeaderField& field : request.headers) {
    if (http1::header_from(field.name) == http1::Header::authorization)
      found.push_back(field.value);
  }
  return found;
}

AuthKind kind_of_header(std::string_view authorization) {
  const std::string_view scheme = authorization.substr(0, authorization.find(' '));
  if (scheme == kAlgorithm) return AuthKind::v4_header;
  if (scheme == kAlgorithmV4a) return AuthKind::v4a;
  if (scheme == "AWS") return AuthKind::v2;
  return AuthKind::unknown;
}

AuthKind kind_of_query(const Request& request) {
  const bool v4a = std::ranges::any_of(request.query, [](const auto& pair) {
    return pair.name == "X-Amz-Algorithm" && pair.value == kAlgorithmV4a;
  });
  return v4a ? AuthKind::v4a : AuthKind::v4_query;
}

// The text up to the last '/', which is cut off with what follows it.
std::string_view take_last(std::string_view& text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return {};
  const std::string_view last = text.substr(slash + 1);
  text = text.substr(0, slash);
  return last;
}

bool is_signed_name(std::string_view name) {
  return http1::is_token(name) &&
         std::ranges::none_of(name, [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

std::unexpected<S3Error> malformed(Place place, std::string why) {
  if (place == Place::query)
    return refuse(S3Code::authorization_query_parameters_error, std::move(why));
  return refuse(S3Code::authorization_header_malformed,
                "The authorization header is malformed; " + why);
}

AuthKind auth_kind_of(const Request& request) {
  const auto headers = authorizations(request);
  const bool v4_query = asks(request, "X-Amz-Algorithm") || asks(request, "X-Amz-Credential") ||
                        asks(request, "X-Amz-Signature");
  const bool v2_query = asks(request, "AWSAccessKeyId") || asks(request, "Signature");
  const std::size_t mechanisms = headers.size() + (v4_query ? 1 : 0) + (v2_query ? 1 : 0);
  if (mechanisms > 1) return AuthKind::several;
  if (!headers.empty()) return kind_of_header(headers.front());
  if (v4_query) return kind_of_query(request);
  return v2_query ? AuthKind::v2 : AuthKind::anonymous;
}

S3Result<std::optional<Claim>> claim_of(const Request& request) {
  switch (auth_kind_of(request)) {
    case AuthKind::anonymous: return std::optional<Claim>();
    case AuthKind::v4_header: {
      LEAT_TRY(Claim claim, claim_from_header(request, authorizations(request).front()));
      return std::optional(std::move(claim));
    }
    case AuthKind::v4_query: {
      LEAT_TRY(Claim claim, claim_from_query(request));
      return std::optional(std::move(claim));
    }
    case AuthKind::v4a:
      return refuse(S3Code::not_implemented, "SigV4A (AWS4-ECDSA-P256-SHA256) is not implemented.");
    case AuthKind::v2:
      return refuse(S3Code::invalid_request,
                    "Signature version 2 is not supported. Please use AWS4-HMAC-SHA256; in boto3: "
                    "Config(signature_version=\"s3v4\").");
    case AuthKind::several:
      return refuse(S3Code::invalid_argument,
                    "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, "
                    "Signature query string parameter or the Authorization header should be "
                    "specified");
    case AuthKind::unknown: break;
  }
  if (authorizations(request).front().empty())
    return refuse(S3Code::access_denied, "The Authorization header is empty.");
  return refuse(S3Code::invalid_argument, "Unsupported Authorization Type");
}

S3Status read_credential(std::string_view text, Claim& claim) {
  const std::string_view terminator = take_last(text);
  const std::string_view service = take_last(text);
  const std::string_view region = take_last(text);
  const std::string_view date = take_last(text);
  if (text.empty() || date.empty()) {
    return malformed(claim.place,
                     "the Credential is mal-formed; expecting "
                     "\"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\".");
  }
  if (terminator != kTerminator) {
    return malformed(claim.place, "incorrect terminal \"" + std::string(terminator) +
                                      "\". This endpoint uses \"aws4_request\".");
  }
  claim.access_key = text;
  claim.scope = {
      .date = std::string(date), .region = std::string(region), .service = std::string(service)};
  return {};
}

S3Status read_signed_headers(std::string_view text, Claim& claim) {
  std::vector<std::string>& names = claim.signed_headers;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::size_t end = rest.find(';');
    more = end != std::string_view::npos;
    const std::string_view name = rest.substr(0, end);
    if (!is_signed_name(name)) return malformed(claim.place, "SignedHeaders has an odd name.");
    if (std::ranges::find(names, name) != names.end())
      return malformed(claim.place, "SignedHeaders has a name twice.");
    if (names.size() == kSignedHeadersMax)
      return malformed(claim.place, "SignedHeaders has too many names.");
    names.emplace_back(name);
    if (more) rest.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace leat::sigv4
