#include "sigv4/sign.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "http1/grammar.h"
#include "sigv4/canonical.h"
#include "sigv4/signing_key.h"
#include "sigv4/timestamp.h"

namespace leat::sigv4 {
namespace {

std::string lower(std::string_view name) {
  std::string out(name);
  std::ranges::transform(out, out.begin(), http1::to_lower);
  return out;
}

bool is_worth_signing(std::string_view name) {
  return name.starts_with("x-amz-") || name == "host" || name == "content-md5" ||
         name == "content-type" || name == "range";
}

std::vector<std::string> names_to_sign(const Request& request) {
  std::vector<std::string> names;
  for (const http1::HeaderField& field : request.headers) {
    if (std::string name = lower(field.name); is_worth_signing(name))
      names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  LEAT_CHECK(std::ranges::binary_search(names, std::string_view("host")));
  return names;
}

Scope scope_of(const Signer& signer, std::string_view timestamp) {
  return {.date = std::string(timestamp.substr(0, 8)),
          .region = signer.region,
          .service = signer.service};
}

std::string signature_of(const Signer& signer, std::string_view timestamp,
                         std::string_view canonical) {
  const Scope scope = scope_of(signer, timestamp);
  return derive_key(signer.secret, scope).sign(string_to_sign(timestamp, scope, canonical));
}

std::string credential_of(const Signer& signer, std::string_view timestamp) {
  return fmt::format("{}/{}", signer.access_key, scope_of(signer, timestamp).text());
}

}  // namespace

std::vector<std::pair<std::string, std::string>> sign_headers(const Request& request,
                                                              const Signer& signer,
                                                              std::string_view payload_word,
                                                              WallTime now) {
  const std::string timestamp = format_timestamp(now);
  std::vector<std::pair<std::string, std::string>> added = {
      {"x-amz-content-sha256", std::string(payload_word)}, {"x-amz-date", timestamp}};
  if (!signer.session_token.empty())
    added.emplace_back("x-amz-security-token", signer.session_token);

  Request complete = request;
  for (const auto& [name, value] : added)
    complete.headers.push_back({.name = name, .value = value});
  const auto names = names_to_sign(complete);
  const std::string signature =
      signature_of(signer, timestamp, canonical_request(complete, names, payload_word));
  added.emplace_back("Authorization",
                     fmt::format("{} Credential={}, SignedHeaders={}, Signature={}", kAlgorithm,
                                 credential_of(signer, timestamp), join_names(names), signature));
  return added;
}

std::string presign_query(const Request& request, const Signer& signer,
                          std::chrono::seconds expires, WallTime now) {
  LEAT_CHECK(expires >= std::chrono::seconds(1) && expires <= std::chrono::days(7));
  const std::string timestamp = format_timestamp(now);
  const auto names = names_to_sign(request);
  Request complete = request;
  const auto add = [&complete](std::string name, std::string value) {
    complete.query.push_back({.name = std::move(name), .value = std::move(value)});
  };
  add("X-Amz-Algorithm", std::string(kAlgorithm));
  add("X-Amz-Credential", credential_of(signer, timestamp));
  add("X-Amz-Date", timestamp);
  add("X-Amz-Expires", std::to_string(expires.count()));
  add("X-Amz-SignedHeaders", join_names(names));
  if (!signer.session_token.empty()) add("X-Amz-Security-Token", signer.session_token);
  const std::string signature =
      signature_of(signer, timestamp, canonical_request(complete, names, "UNSIGNED-PAYLOAD"));
  return fmt::format("{}&X-Amz-Signature={}", canonical_query(complete.query), signature);
}

}  // namespace leat::sigv4
