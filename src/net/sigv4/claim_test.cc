#include "sigv4/claim.h"

#include "sigv4/fixture_test.h"

namespace leat::sigv4 {
namespace {

const std::string kHost = "Host: h";
const std::string kDate = "x-amz-date: " + std::string(kThen);
const std::string kBody = "x-amz-content-sha256: UNSIGNED-PAYLOAD";
const std::string kNames = "host;x-amz-content-sha256;x-amz-date";

std::string verdict(const std::vector<std::string>& fields) {
  return Judge().verdict(Sent("GET /b/k", fields));
}

TEST(Claim, ReadsWhatClientsSendWithAndWithoutBlanks) {
  const Sent sent("GET /b/k",
                  {kHost, kDate, kBody,
                   "Authorization: AWS4-HMAC-SHA256 Credential=a/b/20130524/r/s3/aws4_request, "
                   "SignedHeaders=host;x-amz-date, Signature=ff"});
  const auto claim = claim_of(sent.request());
  ASSERT_TRUE(claim && claim->has_value());
  EXPECT_EQ((*claim)->access_key, "a/b");
  EXPECT_EQ((*claim)->scope, (Scope{.date = "20130524", .region = "r", .service = "s3"}));
  EXPECT_EQ((*claim)->signed_headers, (std::vector<std::string>{"host", "x-amz-date"}));
  EXPECT_EQ((*claim)->signature, "ff");
  EXPECT_EQ((*claim)->timestamp, kThen);
}

TEST(Claim, NoCredentialsAreAnonymous) {
  const auto claim = claim_of(Sent("GET /b/k?X-Amz-Date=1&prefix=Signature", {kHost}).request());
  ASSERT_TRUE(claim);
  EXPECT_FALSE(claim->has_value());
}

TEST(Claim, Abuse04MissingDuplicateAndEmptyParts) {
  const std::string credential = "Credential=AKID/20130524/us-east-1/s3/aws4_request";
  const std::string values[] = {
      "",
      " ",
      credential,
      credential + ",SignedHeaders=host",
      credential + ",Signature=ff",
      "SignedHeaders=host,Signature=ff",
      credential + ",SignedHeaders=,Signature=ff",
      credential + ",SignedHeaders=host,Signature=",
      credential + ",SignedHeaders=host;,Signature=ff",
      credential + ",SignedHeaders=;host,Signature=ff",
      credential + ",SignedHeaders=host;;range,Signature=ff",
      credential + ",SignedHeaders=host;host,Signature=ff",
      credential + ",SignedHeaders=Host,Signature=ff",
      credential + ",SignedHeaders=ho st,Signature=ff",
      credential + ",SignedHeaders=host,SignedHeaders=host,Signature=ff",
      credential + ",SignedHeaders=host,Signature=ff,Signature=ee",
      credential + "," + credential + ",SignedHeaders=host,Signature=ff",
      credential + ",SignedHeaders=host,Signature=ff,Extra=1",
      "Credential,SignedHeaders=host,Signature=ff",
      "Credential=AKID,SignedHeaders=host,Signature=ff",
      "Credential=AKID/20130524/us-east-1/s3,SignedHeaders=host,Signature=ff",
      "Credential=/20130524/us-east-1/s3/aws4_request,SignedHeaders=host,Signature=ff",
  };
  for (const std::string& value : values) {
    EXPECT_EQ(verdict({kHost, kDate, kBody, "Authorization: AWS4-HMAC-SHA256 " + value}),
              "AuthorizationHeaderMalformed")
        << value;
  }
}

TEST(Claim, Abuse06CredentialsInTwoPlacesAreRefused) {
  const std::string header = authorization(kNames, "ff");
  for (const std::string query :
       {"X-Amz-Signature=ff", "X-Amz-Credential=x", "X-Amz-Algorithm=AWS4-HMAC-SHA256",
        "AWSAccessKeyId=x", "Signature=x"}) {
    const Sent sent("GET /b/k?" + query, {kHost, kDate, kBody, header});
    EXPECT_EQ(Judge().verdict(sent), "InvalidArgument") << query;
  }
  EXPECT_EQ(verdict({kHost, kDate, kBody, header, header}), "InvalidArgument");
  EXPECT_EQ(Judge().verdict(Sent("GET /b/k?X-Amz-Signature=a&Signature=b", {kHost})),
            "InvalidArgument");
}

TEST(Claim, Abuse07IdentityWithoutSignatureIsNoClaim) {
  for (const std::string query : {"X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1"
                                  "%2Fs3%2Faws4_request",
                                  "X-Amz-Algorithm=AWS4-HMAC-SHA256", "X-Amz-Signature=ff"}) {
    EXPECT_EQ(Judge().verdict(Sent("PUT /b/k?" + query, {kHost, kDate, kBody})),
              "AuthorizationQueryParametersError")
        << query;
  }
}

TEST(Claim, Abuse09EveryKindButV4IsRefused) {
  const struct {
    AuthKind kind;
    std::string target;
    std::vector<std::string> fields;
    std::string_view verdict;
  } cases[] = {
      {AuthKind::anonymous, "/b/k", {kHost}, "AccessDenied"},
      {AuthKind::v4a,
       "/b/k",
       {kHost, "Authorization: AWS4-ECDSA-P256-SHA256 Credential=x"},
       "NotImplemented"},
      {AuthKind::v4a, "/b/k?X-Amz-Algorithm=AWS4-ECDSA-P256-SHA256", {kHost}, "NotImplemented"},
      {AuthKind::v2, "/b/k", {kHost, "Authorization: AWS AKID:c2ln"}, "InvalidRequest"},
      {AuthKind::v2, "/b/k?AWSAccessKeyId=A&Signature=s&Expires=1", {kHost}, "InvalidRequest"},
      {AuthKind::unknown, "/b/k", {kHost, "Authorization: Bearer x"}, "InvalidArgument"},
      {AuthKind::unknown, "/b/k", {kHost, "Authorization: aws4-hmac-sha256 x"}, "InvalidArgument"},
      {AuthKind::unknown, "/b/k", {kHost, "Authorization: AWS4-HMAC-SHA256x y"}, "InvalidArgument"},
      {AuthKind::unknown, "/b/k", {kHost, "Authorization:"}, "AccessDenied"},
  };
  for (const auto& one : cases) {
    const Sent sent("GET " + one.target, one.fields);
    EXPECT_EQ(auth_kind_of(sent.request()), one.kind) << one.target;
    EXPECT_EQ(Judge().verdict(sent), one.verdict) << one.target;
  }
}

TEST(Claim, Abuse11SigV2IsRefusedWithAHint) {
  const Sent sent("GET /b/k?AWSAccessKeyId=A&Signature=s&Expires=1", {kHost});
  const auto claim = claim_of(sent.request());
  ASSERT_FALSE(claim);
  EXPECT_NE(claim.error().message.find("Please use AWS4-HMAC-SHA256"), std::string::npos);
  EXPECT_NE(claim.error().message.find("signature_version=\"s3v4\""), std::string::npos);
}

TEST(Claim, Abuse09ThePayloadWordIsRequiredAndKnown) {
  const std::string header = authorization(kNames, "ff");
  EXPECT_EQ(verdict({kHost, kDate, header}), "InvalidRequest");
  EXPECT_EQ(verdict({kHost, kDate, header, "x-amz-content-sha256: STREAMING"}), "InvalidRequest");
  EXPECT_EQ(verdict({kHost, kDate, header, kBody, kBody}), "InvalidRequest");
}

TEST(Claim, ADateIsRequiredAndReadStrictly) {
  const std::string header = authorization(kNames, "ff");
  EXPECT_EQ(verdict({kHost, kBody, header}), "AccessDenied");
  EXPECT_EQ(verdict({kHost, kBody, header, "x-amz-date: yesterday"}), "AccessDenied");
  EXPECT_EQ(verdict({kHost, kBody, header, "x-amz-date: "}), "AccessDenied");
  EXPECT_EQ(verdict({kHost, kBody, header, "Date: Fri, 24 May 1500 00:00:00 GMT"}), "AccessDenied");
  EXPECT_EQ(verdict({kHost, kBody, header, kDate, kDate}), "InvalidRequest");
}

}  // namespace
}  // namespace leat::sigv4
