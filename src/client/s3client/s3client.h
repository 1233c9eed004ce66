// S3Client: signed requests to one S3 service, sent again when that may help.
//
//   s3client::Request request{.method = "HEAD", .name = {"photos", "cat.jpg"}};
//   LEAT_CO_TRY(const Answer answer, co_await client.ask(request));
//
// Bodies are not hashed for the signature (UNSIGNED-PAYLOAD): their checksum is a signed header
// (x-amz-checksum-*), which the service compares with what arrives. Buckets are in the path, never
// in the host's name. What the operations are called is in operations.h.
//
// Shard: one. Lifetime: stop() has returned before it is destroyed.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http1/uri.h"
#include "httpclient/client.h"
#include "io/rng.h"
#include "s3client/endpoint.h"
#include "s3client/refusal.h"
#include "s3client/retry.h"
#include "sigv4/sign.h"

namespace leat::s3client {

struct ObjectName {
  std::string bucket{};
  std::string key{};  // empty: the bucket itself

  std::string text() const { return key.empty() ? bucket : bucket + '/' + key; }
  bool operator==(const ObjectName&) const = default;
};

// Lifetime: the bytes of the body outlive the task it is sent by.
struct Request {
  std::string method = "GET";
  ObjectName name{};  // empty: the service itself
  std::vector<http1::QueryPair> query{};
  std::vector<httpclient::Field> fields{};
  std::optional<Bytes> body{};
};

// A good answer and all of its body.
struct Answer {
  httpclient::Response response;
  std::string body;

  // The value of a field, or nothing.
  std::string field(std::string_view name) const {
    return std::string(response.headers().find(name).value_or(""));
  }
};

struct ServiceOptions {
  Endpoint endpoint{};
  sigv4::Signer signer{};
  const tls::ClientTls* tls = nullptr;  // for https. Lifetime: outlives the client
  httpclient::Options http{};
  RetryOptions retry{};
  // That somebody was answered, known to all clients that share these options: a service that was
  // there is waited for, one that never was is not.
  std::shared_ptr<std::atomic<bool>> was_answered = std::make_shared<std::atomic<bool>>(false);
};

class S3Client {
 public:
  static constexpr std::size_t kAnswerMaxBytes = 16 * kMiB;

  // What it stands on. Lifetime: outlives it. Requires: the watchdog runs.
  struct Ground {
    rt::Shard& shard;
    io::Network& network;
    io::Clock& clock;
    io::Watchdog& watchdog;
    io::Rng& rng;
  };

  S3Client(const Ground& ground, ServiceOptions options);

  // Returns when the head of a good answer is there; its body is the caller's to read.
  // Lifetime: `request` outlives the task.
  // Errors: what the service said (refusal.h), or what kept us from asking it.
  rt::Task<httpclient::Response> open(const Request& request);

  // The same with the whole body, which is also read again if it breaks off.
  // Errors: too_large, for more than kAnswerMaxBytes.
  rt::Task<Answer> ask(const Request& request);

  // Spawn it once; ends after stop().
  rt::Task<void> run() { return http_.run(); }
  rt::Task<void> stop() { return http_.stop(); }

  const Endpoint& endpoint() const { return options_.endpoint; }
  io::Clock& clock() const { return clock_; }
  io::Rng& rng() const { return rng_; }

 private:
  httpclient::Request signed_request(const Request& request);
  rt::Task<httpclient::Response> attempt(const Request& request, bool& may_retry);
  // When no attempt begins any more for who asks now.
  Instant give_up() const;
  // Whether the attempt with this number is followed by another; pays for that.
  bool may_follow(std::uint32_t attempt, Instant give_up);
  rt::Task<void> wait(std::uint32_t attempt);

  ServiceOptions options_;
  io::Clock& clock_;
  io::Rng& rng_;
  httpclient::Client http_;
  RetryBudget budget_;
};

}  // namespace leat::s3client
