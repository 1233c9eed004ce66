#include "sigv4/fixture_test.h"
#include "sigv4/sign.h"

namespace leat::sigv4 {
namespace {

const Signer kSigner{.access_key = std::string(kAccessKey), .secret = std::string(kSecret)};

// The query of a URL for GET /b/k on host h, good for an hour.
std::string presigned(const Signer& signer = kSigner) {
  const Sent sent("GET /b/k", {"Host: h"});
  return presign_query(sent.request(), signer, std::chrono::hours(1), at(kThen));
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t found = text.find(from);
  EXPECT_NE(found, std::string::npos) << text;
  return text.replace(found, from.size(), to);
}

std::string verdict(const std::string& start, const std::vector<std::string>& fields = {"Host: h"},
                    std::string_view now = kThen) {
  return Judge{.now = at(now)}.verdict(Sent(start, fields));
}

TEST(Presigned, Abuse13ExpiresMustBeBetweenOneSecondAndAWeek) {
  for (const std::string expires : {"0", "-1", "604801", "18446744073709551617",
                                    "99999999999999999999", "", "1x", "+5", "1.5", "%201"}) {
    const std::string query =
        replaced(presigned(), "X-Amz-Expires=3600", "X-Amz-Expires=" + expires);
    EXPECT_EQ(verdict("GET /b/k?" + query), "AuthorizationQueryParametersError") << expires;
  }
}

TEST(Presigned, Abuse13ALongerLifeBreaksTheSignature) {
  const std::string query = replaced(presigned(), "X-Amz-Expires=3600", "X-Amz-Expires=604800");
  EXPECT_EQ(verdict("GET /b/k?" + query), "SignatureDoesNotMatch");
}

TEST(Presigned, Abuse14ExpiredAndNotYetValid) {
  const std::string start = "GET /b/k?" + presigned();
  EXPECT_EQ(verdict(start), "ok");
  EXPECT_EQ(verdict(start, {"Host: h"}, "20130524T010000Z"), "ok");
  EXPECT_EQ(verdict(start, {"Host: h"}, "20130524T010001Z"), "AccessDenied");
  EXPECT_EQ(verdict(start, {"Host: h"}, "20130523T234500Z"), "ok");
  EXPECT_EQ(verdict(start, {"Host: h"}, "20130523T234459Z"), "AccessDenied");
}

TEST(Presigned, Abuse14TheRefusalSaysWhen) {
  const Sent sent("GET /b/k?" + presigned(), {"Host: h"});
  const auto late = Judge{.now = at("20130525T000000Z")}(sent.request());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().message, "Request has expired");
  EXPECT_EQ(late.error().details.at(1),
            (std::pair<std::string_view, std::string>("Expires", "20130524T010000Z")));
}

TEST(Presigned, Abuse15AnotherMethodHostBucketOrKey) {
  const std::string query = presigned();
  EXPECT_EQ(verdict("PUT /b/k?" + query), "SignatureDoesNotMatch");
  EXPECT_EQ(verdict("GET /c/k?" + query), "SignatureDoesNotMatch");
  EXPECT_EQ(verdict("GET /b/k2?" + query), "SignatureDoesNotMatch");
  EXPECT_EQ(verdict("GET /b/k/?" + query), "SignatureDoesNotMatch");
  EXPECT_EQ(verdict("GET /b/k?" + query, {"Host: c.h"}), "SignatureDoesNotMatch");
}

TEST(Presigned, Abuse16AddedQueryParameters) {
  for (const std::string added :
       {"acl", "versionId=1", "uploadId=x", "response-content-type=text%2Fhtml",
        "x-amz-acl=public-read", "X-Amz-Content-Sha256=UNSIGNED-PAYLOAD"}) {
    EXPECT_EQ(verdict("GET /b/k?" + presigned() + "&" + added), "SignatureDoesNotMatch") << added;
    EXPECT_EQ(verdict("GET /b/k?" + added + "&" + presigned()), "SignatureDoesNotMatch") << added;
  }
}

TEST(Presigned, Abuse16ParametersOfTheSignatureStandOnce) {
  for (const std::string added :
       {"X-Amz-Signature=ff", "X-Amz-Expires=604800", "X-Amz-Date=20130524T000000Z",
        "X-Amz-Algorithm=AWS4-HMAC-SHA256", "X-Amz-SignedHeaders=host", "X-Amz-Credential=x"}) {
    EXPECT_EQ(verdict("GET /b/k?" + presigned() + "&" + added), "AuthorizationQueryParametersError")
        << added;
  }
}

TEST(Presigned, Abuse17InjectedHeaders) {
  const std::string start = "GET /b/k?" + presigned();
  for (const std::string header :
       {"x-amz-copy-source: /b/secret", "x-amz-acl: public-read", "x-amz-tagging: a=b",
        "X-Amz-Storage-Class: GLACIER", "x-amz-server-side-encryption: AES256",
        "x-amz-security-token: t", "x-amz-content-sha256: UNSIGNED-PAYLOAD"}) {
    EXPECT_EQ(verdict(start, {"Host: h", header}), "AccessDenied") << header;
  }
  EXPECT_EQ(verdict(start, {"Host: h", "Range: bytes=0-1", "User-Agent: curl"}), "ok");
}

TEST(Presigned, Abuse18TheTokenCannotBeStrippedOrExchanged) {
  Signer signer = kSigner;
  signer.session_token = "token";
  const std::string query = presigned(signer);
  EXPECT_EQ(verdict("GET /b/k?" + query), "ok");
  EXPECT_EQ(verdict("GET /b/k?" + replaced(query, "&X-Amz-Security-Token=token", "")),
            "SignatureDoesNotMatch");
  EXPECT_EQ(verdict("GET /b/k?" + replaced(query, "Token=token", "Token=other")),
            "SignatureDoesNotMatch");
  EXPECT_EQ(verdict("GET /b/k?" + query, {"Host: h", "x-amz-security-token: t"}),
            "AuthorizationQueryParametersError");
}

TEST(Presigned, Abuse01ScopeErrorsHaveTheCodeOfQueries) {
  for (const auto& [from, to] : {std::pair<std::string_view, std::string_view>{"us-east-1", "mars"},
                                 {"%2Fs3%2F", "%2Fec2%2F"},
                                 {"aws4_request", "aws4"},
                                 {"%2F20130524%2F", "%2F20130525%2F"},
                                 {"AWS4-HMAC-SHA256", "AWS4-HMAC-SHA1"},
                                 {"X-Amz-Date=20130524T000000Z", "X-Amz-Date=now"}}) {
    EXPECT_EQ(verdict("GET /b/k?" + replaced(presigned(), from, to)),
              "AuthorizationQueryParametersError")
        << to;
  }
}

TEST(Presigned, Abuse04HostMustBeSigned) {
  const std::string query =
      replaced(presigned(), "X-Amz-SignedHeaders=host", "X-Amz-SignedHeaders=range");
  EXPECT_EQ(verdict("GET /b/k?" + query, {"Host: h", "Range: bytes=0-1"}), "AccessDenied");
}

TEST(Presigned, ThePayloadIsUnsignedUnlessTheQuerySaysMore) {
  const std::string hash(kEmptyHash);
  const Sent unsigned_one("GET /b/k?" + presigned(), {"Host: h"});
  EXPECT_EQ(Judge()(unsigned_one.request())->claim.payload.kind, PayloadKind::unsigned_plain);
  const Sent hashed("GET /b/k?" + presigned() + "&X-Amz-Content-Sha256=" + hash, {"Host: h"});
  EXPECT_EQ(claim_of(hashed.request()).value()->payload.kind, PayloadKind::hashed);
  const Sent torn("GET /b/k?" + presigned() + "&X-Amz-Content-Sha256=" + hash,
                  {"Host: h", "x-amz-content-sha256: UNSIGNED-PAYLOAD"});
  EXPECT_EQ(Judge().verdict(torn), "InvalidRequest");
}

}  // namespace
}  // namespace leat::sigv4
