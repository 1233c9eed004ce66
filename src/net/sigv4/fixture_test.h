// Requests written as text, and the whole way from a head to a verdict, for tests of signatures.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http1/request_head.h"
#include "sigv4/authenticator.h"
#include "sigv4/timestamp.h"

namespace leat::sigv4 {

// The credentials of AWS's published examples.
constexpr std::string_view kAccessKey = "AKIAIOSFODNN7EXAMPLE";
constexpr std::string_view kSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
constexpr std::string_view kThen = "20130524T000000Z";
constexpr std::string_view kEmptyHash =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

inline WallTime at(std::string_view timestamp) {
  return parse_timestamp(timestamp).value();
}

// A request that a client sent, parsed by the server's parser.
class Sent {
 public:
  explicit Sent(const std::string& start, const std::vector<std::string>& fields = {})
      : parts_(std::make_unique<Parts>()) {
    parts_->text = start + " HTTP/1.1\r\n";
    for (const std::string& field : fields)
      parts_->text += field + "\r\n";
    parts_->text += "\r\n";
    const auto size = http1::RequestParser().parse(parts_->text, parts_->head);
    EXPECT_TRUE(size && *size == parts_->text.size()) << parts_->text;
  }

  const http1::RequestHead& head() const { return parts_->head; }
  // Lifetime: views into this object.
  Request request() const { return request_of(parts_->head).value(); }

 private:
  struct Parts {
    std::string text;
    http1::RequestHead head;
  };
  std::unique_ptr<Parts> parts_;
};

// What a server does that knows one key.
struct Judge {
  Rules rules{};
  WallTime now = at(kThen);
  std::string access_key = std::string(kAccessKey);
  std::string secret = std::string(kSecret);

  S3Result<Identity> operator()(const Request& request) const {
    Authenticator authenticator(rules, [this](std::string_view key) {
      return key == access_key ? std::optional(secret) : std::nullopt;
    });
    LEAT_TRY(std::optional<Identity> identity, authenticator.authenticate(request, now));
    if (!identity) return refuse(S3Code::access_denied, "anonymous");
    return *std::move(identity);
  }

  // "ok", or the code of the refusal.
  std::string verdict(const Request& request) const {
    const auto identity = (*this)(request);
    return identity ? "ok" : std::string(s3error::text_of(identity.error().code));
  }
  std::string verdict(const Sent& sent) const { return verdict(sent.request()); }
};

inline std::string authorization(std::string_view signed_headers, std::string_view signature,
                                 std::string_view scope = "20130524/us-east-1/s3/aws4_request") {
  std::string text = "Authorization: AWS4-HMAC-SHA256 Credential=";
  text.append(kAccessKey).append("/").append(scope);
  text.append(",SignedHeaders=").append(signed_headers);
  return text.append(",Signature=").append(signature);
}

}  // namespace leat::sigv4
