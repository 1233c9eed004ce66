#include "sigv4/sign.h"

#include "sigv4/fixture_test.h"

namespace leat::sigv4 {
namespace {

const Signer kSigner{.access_key = std::string(kAccessKey), .secret = std::string(kSecret)};

// `sent` with the fields that the signer adds to it.
class Signed {
 public:
  Signed(const Sent& sent, const Signer& signer)
      : fields_(sign_headers(sent.request(), signer, "UNSIGNED-PAYLOAD", at(kThen))),
        request_(sent.request()) {
    for (const auto& [name, value] : fields_)
      request_.headers.push_back({.name = name, .value = value});
  }
  const Request& request() const { return request_; }
  std::string authorization() const { return fields_.back().second; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
  Request request_;
};

TEST(Sign, WhatIsSignedVerifies) {
  const Sent sent("PUT /b/a%20b%2Bc%C3%A9?partNumber=1&uploadId=x%2Fy",
                  {"Host: s3.local:9000", "Content-Type: text/plain", "X-Amz-Meta-A:  1   2 ",
                   "User-Agent: changes on the way", "Connection: close"});
  const Signed complete(sent, kSigner);
  EXPECT_EQ(Judge().verdict(complete.request()), "ok");
  EXPECT_NE(complete.authorization().find(
                "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-meta-a,"),
            std::string::npos);
}

TEST(Sign, TheSessionTokenIsSentAndSigned) {
  Signer signer = kSigner;
  signer.session_token = "token/with+signs=";
  const Sent sent("GET /b/k", {"Host: h"});
  const Signed complete(sent, signer);
  const auto identity = Judge()(complete.request());
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->claim.security_token, "token/with+signs=");
}

TEST(Sign, AnotherSecretDoesNotVerify) {
  Signer signer = kSigner;
  signer.secret = "guess";
  const Sent sent("GET /b/k", {"Host: h"});
  EXPECT_EQ(Judge().verdict(Signed(sent, signer).request()), "SignatureDoesNotMatch");
}

TEST(Presign, MatchesTheExampleOfAws) {
  const Sent sent("GET /test.txt", {"Host: examplebucket.s3.amazonaws.com"});
  const std::string query =
      presign_query(sent.request(), kSigner, std::chrono::seconds(86400), at(kThen));
  EXPECT_TRUE(
      query.ends_with("&X-Amz-Signature="
                      "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"))
      << query;
}

TEST(Presign, WhatIsPresignedVerifies) {
  Signer signer = kSigner;
  signer.session_token = "a/b+c=";
  const std::vector<std::string> fields = {"Host: h:9000", "x-amz-meta-a: b"};
  const Sent sent("PUT /b/k%20x?versionId=1&uploads", fields);
  const std::string query = presign_query(sent.request(), signer, std::chrono::days(7), at(kThen));
  const auto identity = Judge()(Sent("PUT /b/k%20x?" + query, fields).request());
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->claim.security_token, "a/b+c=");
  EXPECT_EQ(identity->claim.place, Place::query);
}

}  // namespace
}  // namespace leat::sigv4
