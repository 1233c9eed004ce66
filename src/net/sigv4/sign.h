// The other side: signing requests that Leat itself sends to an S3 store. The same canonical form
// as verify.h, so signer and verifier cannot drift apart. Pure: time is an argument.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "sigv4/request.h"

namespace leat::sigv4 {

struct Signer {
  std::string access_key{};
  std::string secret{};
  std::string session_token{};  // empty without one
  std::string region = "us-east-1";
  std::string service = "s3";
};

// The fields to add to `request`: x-amz-date, x-amz-content-sha256 (`payload_word`),
// x-amz-security-token if there is one, Authorization. Signed are host, content-md5, content-type,
// range and every x-amz-* field, which no proxy has a reason to change.
// Requires: the request has a Host field and none of those that are added.
std::vector<std::pair<std::string, std::string>> sign_headers(const Request& request,
                                                              const Signer& signer,
                                                              std::string_view payload_word,
                                                              WallTime now);

// The query of a presigned URL for `request`, encoded, with its own parameters included. Only the
// headers that the request has are signed; whoever uses the URL must send the same.
// Requires: the request has a Host field and no x-amz-content-sha256; 1 s ≤ expires ≤ 7 days.
std::string presign_query(const Request& request, const Signer& signer,
                          std::chrono::seconds expires, WallTime now);

}  // namespace leat::sigv4
