// Admin: the small pages every server has — health, readiness, version, metrics — and the
// credentials that open them.
//
//   GET /_/v1/health    200 while the process runs
//   GET /_/v1/ready     200 while it takes requests; 503 if it drains by the time it is answered
//   GET /_/v1/version   what it is, as JSON
//   GET /_/v1/metrics   Prometheus text; /metrics is the same, because every scraper asks there
//   first
//
// Shard: one of each a shard. Lifetime: what they refer to outlives them.
#pragma once

#include <string>

#include "http/dispatcher.h"
#include "log/field.h"
#include "metrics/registry.h"

namespace leat::admin {

class AdminRouter final : public http::Router {
 public:
  Result<std::optional<http::Operation>> route(const http1::RequestHead& head) const override;
  std::string_view allowed(const http1::RequestHead&) const override { return "GET, HEAD"; }
};

// Knows one secret, the admin token; who has none may still come from this machine.
class TokenAuthenticator final : public http::Authenticator {
 public:
  explicit TokenAuthenticator(const log::Secret& token) : token_(token) {}
  std::expected<http::Credentials, http::Refusal> authenticate(
      const http1::RequestHead& head, const io::Address& peer) const override;

 private:
  const log::Secret& token_;
};

class Health final : public http::Handler {
 public:
  rt::Task<http::Response> handle(http::Exchange& exchange) override;
};

class Ready final : public http::Handler {
 public:
  explicit Ready(const bool& draining) : draining_(draining) {}
  rt::Task<http::Response> handle(http::Exchange& exchange) override;

 private:
  const bool& draining_;
};

class Version final : public http::Handler {
 public:
  explicit Version(std::string_view version) : version_(version) {}
  rt::Task<http::Response> handle(http::Exchange& exchange) override;

 private:
  std::string version_;
};

class Metrics final : public http::Handler {
 public:
  explicit Metrics(metrics::Registry& registry) : registry_(registry) {}
  rt::Task<http::Response> handle(http::Exchange& exchange) override;

 private:
  metrics::Registry& registry_;
};

// All of them, as every server has them.
class AdminPages {
 public:
  AdminPages(const bool& draining, std::string_view version, metrics::Registry& registry)
      : ready_(draining), version_(version), metrics_(registry) {}

  // Lifetime: the pages outlive the dispatcher.
  void install(http::Dispatcher& dispatcher);

 private:
  AdminRouter router_;
  Health health_;
  Ready ready_;
  Version version_;
  Metrics metrics_;
};

}  // namespace leat::admin
