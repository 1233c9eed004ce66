#include "s3/authenticator.h"

#include "s3/answer.h"
#include "s3/target.h"

namespace leat::s3 {
namespace {

using http::AuthKind;

std::unexpected<http::Refusal> refused(S3Error error) {
  Error plain(Errc::denied, error.message);
  return std::unexpected(
      http::Refusal(std::move(plain), std::make_shared<const S3Error>(std::move(error))));
}

bool has_bearer(const http1::RequestHead& head) {
  return head.headers.find(http1::Header::authorization).value_or("").starts_with("Bearer ");
}

std::int64_t ms_of(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

// A caller without a signature; what it says of its body is held against it all the same.
std::expected<http::Credentials, http::Refusal> unsigned_caller(AuthKind kind, Caller caller) {
  auto word = caller.request.header("x-amz-content-sha256");
  if (!word) return refused(std::move(word).error());
  if (*word) {
    auto payload = sigv4::payload_from(**word);
    if (!payload) return refused(std::move(payload).error());
    caller.payload = *std::move(payload);
  }
  return http::Credentials(kind, std::make_shared<const Caller>(std::move(caller)));
}

// What of Leat's own API training jobs ask for, with the keys that they have for S3.
bool is_for_jobs(std::string_view path) {
  return path == "/_/v1/batch" || path == "/_/v1/local" || path == "/_/v1/datasets" ||
         path.starts_with("/_/v1/datasets/");
}

}  // namespace

S3Authenticator::S3Authenticator(const http::Authenticator& token, const keys::ShardKeys& keys,
                                 const io::Clock& clock, S3Options options)
    : token_(token), keys_(keys), clock_(clock), options_(std::move(options)) {
  signatures_ =
      std::make_unique<sigv4::Authenticator>(sigv4::Rules{.region = options_.region},
                                             [this](std::string_view id) { return secret_of(id); });
}

// A key that has expired is none.
std::optional<std::string> S3Authenticator::secret_of(std::string_view id) const {
  const auto key = keys_.table()->find(id);
  if (!key || key->is_expired(ms_of(clock_.wall_now()))) return std::nullopt;
  return key->secret;
}

std::expected<http::Credentials, http::Refusal> S3Authenticator::by_token(
    const http1::RequestHead& head, const io::Address& peer, sigv4::Request request) const {
  LEAT_TRY(const http::Credentials proved, token_.authenticate(head, peer));
  if (proved.kind != AuthKind::admin_token) return anonymous(std::move(request));
  return unsigned_caller(AuthKind::admin_token,
                         {.request = std::move(request), .who = Who::operators});
}

std::expected<http::Credentials, http::Refusal> S3Authenticator::anonymous(
    sigv4::Request request) const {
  return unsigned_caller(AuthKind::anonymous, {.request = std::move(request), .who = Who::nobody});
}

std::expected<http::Credentials, http::Refusal> S3Authenticator::authenticate(
    const http1::RequestHead& head, const io::Address& peer) const {
  if (!is_s3(head, options_.domain) && !is_for_jobs(head.path)) {
    return token_.authenticate(head, peer);
  }
  auto request = sigv4::request_of(head);
  if (!request) return refused(std::move(request).error());
  if (head.method == http1::Method::options) return anonymous(*std::move(request));
  // A token beside a signature is two mechanisms, which the signatures' side refuses.
  const bool is_alone = sigv4::auth_kind_of(*request) == sigv4::AuthKind::unknown;
  if (has_bearer(head) && is_alone) return by_token(head, peer, *std::move(request));
  auto identity = signatures_->authenticate(*request, clock_.wall_now());
  if (!identity) return refused(std::move(identity).error());
  if (!*identity) return anonymous(*std::move(request));
  sigv4::Identity& known = **identity;
  if (known.claim.security_token) {
    return refused({.code = S3Code::access_denied,
                    .message = "Session tokens are not given out here: use an access key alone."});
  }
  Caller caller{.request = *std::move(request),
                .who = Who::key,
                .key = keys_.table()->find(known.claim.access_key),
                .chain = std::move(known.chain),
                .payload = std::move(known.claim.payload)};
  if (!caller.key) return refused({.code = S3Code::invalid_access_key_id});
  return http::Credentials(AuthKind::access_key, std::make_shared<const Caller>(std::move(caller)));
}

}  // namespace leat::s3
