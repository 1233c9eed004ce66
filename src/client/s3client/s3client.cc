#include "s3client/s3client.h"

#include <fmt/format.h>

#include "sigv4/canonical.h"

namespace leat::s3client {
namespace {

constexpr std::string_view kUnsigned = "UNSIGNED-PAYLOAD";

std::string path_of(const ObjectName& name) {
  std::string path = "/" + name.bucket;
  if (!name.key.empty()) path += "/" + name.key;
  return path;
}

}  // namespace

S3Client::S3Client(const Ground& ground, ServiceOptions options)
    : options_(std::move(options)),
      clock_(ground.clock),
      rng_(ground.rng),
      http_(ground.shard, ground.network, ground.clock, ground.watchdog, options_.http),
      budget_(options_.retry) {}

httpclient::Request S3Client::signed_request(const Request& request) {
  const std::string path = path_of(request.name);
  httpclient::Request sent{.method = request.method,
                           .address = options_.endpoint.address,
                           .tls = options_.tls,
                           .target = sigv4::canonical_path(path),
                           .fields = request.fields};
  if (!request.query.empty()) sent.target += "?" + sigv4::canonical_query(request.query);
  sent.fields.push_back({"Host", options_.endpoint.host});
  if (request.body) sent.body = *request.body;

  sigv4::Request seen{.method = request.method, .path = path, .query = request.query};
  for (const httpclient::Field& field : sent.fields)
    seen.headers.push_back({.name = field.name, .value = field.value});
  auto added = sigv4::sign_headers(seen, options_.signer, kUnsigned, clock_.wall_now());
  for (auto& [name, value] : added)
    sent.fields.push_back({std::move(name), std::move(value)});
  return sent;
}

rt::Task<httpclient::Response> S3Client::attempt(const Request& request, bool& may_retry) {
  httpclient::Request sent = signed_request(request);
  auto response = co_await http_.send(std::move(sent));
  if (!response) {
    const bool never_there = !options_.was_answered->load(std::memory_order_relaxed) &&
                             response.error().code() == Errc::unavailable;
    may_retry = is_transient(response.error()) && !never_there;
    co_return fail(unreachable(options_.endpoint.url, response.error()));
  }
  options_.was_answered->store(true, std::memory_order_relaxed);
  if (response->status() < 300) {
    budget_.earn();
    co_return std::move(*response);
  }
  auto body = co_await response->read_all(kMiB);
  const RefusalParts parts{.status = response->status(),
                           .body = body ? std::string_view(*body) : std::string_view(),
                           .bucket = request.name.bucket,
                           .key = request.name.key};
  Refusal refusal = refusal_of(parts);
  may_retry = refusal.may_retry;
  co_return fail(std::move(refusal.error));
}

Instant S3Client::give_up() const {
  const auto& patience = options_.retry.patience;
  return patience ? clock_.now() + *patience : Instant::max();
}

bool S3Client::may_follow(std::uint32_t attempt, Instant give_up) {
  return clock_.now() < give_up && budget_.may_follow(attempt);
}

rt::Task<void> S3Client::wait(std::uint32_t attempt) {
  const Instant until = clock_.now() + budget_.wait_after(attempt, rng_);
  co_return co_await clock_.sleep_until(until);
}

rt::Task<httpclient::Response> S3Client::open(const Request& request) {
  const Instant until = give_up();
  for (std::uint32_t number = 1;; ++number) {
    bool may_retry = false;
    auto response = co_await attempt(request, may_retry);
    if (response) co_return std::move(*response);
    if (!may_retry || !may_follow(number, until)) co_return fail(std::move(response).error());
    LEAT_CO_DO(co_await wait(number));
  }
}

rt::Task<Answer> S3Client::ask(const Request& request) {
  const Instant until = give_up();
  for (std::uint32_t number = 1;; ++number) {
    LEAT_CO_TRY(auto response, co_await open(request));
    auto body = co_await response.read_all(kAnswerMaxBytes);
    if (body) co_return Answer{std::move(response), std::move(*body)};
    if (!is_transient(body.error()) || !may_follow(number, until)) {
      co_return fail(unreachable(options_.endpoint.url, body.error()));
    }
    LEAT_CO_DO(co_await wait(number));
  }
}

}  // namespace leat::s3client
