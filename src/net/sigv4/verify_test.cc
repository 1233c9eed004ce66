#include "sigv4/verify.h"

#include "sigv4/fixture_test.h"
#include "sigv4/sign.h"

namespace leat::sigv4 {
namespace {

// A good request, which each test makes worse in one way before or after it is signed.
class Upload {
 public:
  Signer signer{.access_key = std::string(kAccessKey), .secret = std::string(kSecret)};
  std::string signed_at = std::string(kThen);

  explicit Upload(const std::vector<std::string>& fields = {"Host: h", "x-amz-acl: private"})
      : sent_("PUT /b/k?partNumber=1", fields), request_(sent_.request()) {}

  Request& sign() {
    fields_ = sign_headers(request_, signer, "UNSIGNED-PAYLOAD", at(signed_at));
    for (const auto& [name, value] : fields_)
      request_.headers.push_back({.name = name, .value = value});
    return request_;
  }
  // Changes the Authorization field of a signed request.
  void replace(std::string_view from, std::string_view to) {
    std::string& authorization = fields_.back().second;
    const std::size_t found = authorization.find(from);
    ASSERT_NE(found, std::string::npos);
    authorization.replace(found, from.size(), to);
    request_.headers.back().value = authorization;
  }

 private:
  Sent sent_;
  Request request_;
  std::vector<std::pair<std::string, std::string>> fields_;
};

std::string verdict(const Request& request) {
  return Judge().verdict(request);
}

TEST(Verify, Abuse01WrongSecretAndKey) {
  Upload good;
  EXPECT_EQ(verdict(good.sign()), "ok");
  Upload secret;
  secret.signer.secret = "wrong";
  EXPECT_EQ(verdict(secret.sign()), "SignatureDoesNotMatch");
  Upload key;
  key.signer.access_key = "AKIASTRANGER";
  EXPECT_EQ(verdict(key.sign()), "InvalidAccessKeyId");
}

TEST(Verify, Abuse01WrongScope) {
  Upload service;
  service.signer.service = "ec2";
  EXPECT_EQ(verdict(service.sign()), "AuthorizationHeaderMalformed");
  Upload terminator;
  Request& terminated = terminator.sign();
  terminator.replace("aws4_request", "aws5_request");
  EXPECT_EQ(verdict(terminated), "AuthorizationHeaderMalformed");
  Upload moved;
  Request& request = moved.sign();
  moved.replace("20130524/us-east-1", "20130524/leat");
  EXPECT_EQ((Judge{.rules = {.region = "leat"}}.verdict(request)), "SignatureDoesNotMatch");
}

TEST(Verify, Abuse01TheWrongRegionIsToldTheRightOne) {
  Upload upload;
  upload.signer.region = "mars-north-1";
  const Judge judge{.rules = {.region = "leat"}};
  const auto claim = judge(upload.sign());
  ASSERT_FALSE(claim);
  EXPECT_EQ(claim.error().code, S3Code::authorization_header_malformed);
  EXPECT_EQ(claim.error().details.at(0),
            (std::pair<std::string_view, std::string>("Region", "leat")));
}

TEST(Verify, ItsOwnRegionAndUsEast1AreTaken) {
  const Judge judge{.rules = {.region = "leat"}};
  for (const std::string region : {"leat", "us-east-1"}) {
    Upload upload;
    upload.signer.region = region;
    EXPECT_EQ(judge.verdict(upload.sign()), "ok") << region;
  }
}

TEST(Verify, Abuse02ClockSkew) {
  const std::pair<std::string, std::string_view> times[] = {
      {"20130524T001500Z", "ok"},
      {"20130523T234500Z", "ok"},
      {"20130524T001501Z", "RequestTimeTooSkewed"},
      {"20130523T234459Z", "RequestTimeTooSkewed"},
      {"19700101T000000Z", "RequestTimeTooSkewed"},
      {"21991231T235959Z", "RequestTimeTooSkewed"},
  };
  for (const auto& [time, expected] : times) {
    Upload upload;
    upload.signed_at = time;
    EXPECT_EQ(verdict(upload.sign()), expected) << time;
  }
}

TEST(Verify, Abuse03DateIsNotTheDateOfTheScope) {
  Upload upload;
  Request& request = upload.sign();
  upload.replace("/20130524/", "/20130523/");
  EXPECT_EQ(verdict(request), "AuthorizationHeaderMalformed");
}

TEST(Verify, Abuse04HostMustBeSigned) {
  Upload upload;
  Request& request = upload.sign();
  upload.replace("host;", "");
  const auto claim = Judge()(request);
  ASSERT_FALSE(claim);
  EXPECT_EQ(claim.error().code, S3Code::access_denied);
  EXPECT_EQ(claim.error().details.at(0).second, "host");
}

TEST(Verify, Abuse05EveryAmzHeaderAndContentMd5MustBeSigned) {
  for (const std::string_view name :
       {"x-amz-copy-source", "X-Amz-Acl", "X-AMZ-META-A", "x-amz-tagging", "x-amz-storage-class",
        "x-amz-", "Content-MD5", "x-amz-security-token"}) {
    Upload upload({"Host: h"});
    Request& request = upload.sign();
    request.headers.push_back({.name = name, .value = "b/secret"});
    const auto claim = Judge()(request);
    ASSERT_FALSE(claim) << name;
    EXPECT_EQ(claim.error().code, S3Code::access_denied) << name;
    EXPECT_EQ(claim.error().details.at(0).first, "HeadersNotSigned");
  }
}

TEST(Verify, Abuse05OtherHeadersNeedNoSignature) {
  Upload upload;
  Request& request = upload.sign();
  for (const std::string_view name : {"Content-Type", "User-Agent", "Expect", "amz-sdk-request",
                                      "Accept-Encoding", "Content-Length", "x-am"})
    request.headers.push_back({.name = name, .value = "anything"});
  EXPECT_EQ(verdict(request), "ok");
}

TEST(Verify, Abuse05ASecondFieldOfASignedNameChangesTheSignature) {
  Upload upload;
  Request& request = upload.sign();
  request.headers.push_back({.name = "x-amz-acl", .value = "public-read"});
  EXPECT_EQ(verdict(request), "SignatureDoesNotMatch");
}

TEST(Verify, Abuse04ASignedHeaderThatIsMissingIsNotAnEmptyOne) {
  Upload upload({"Host: h", "x-amz-acl:"});
  Request& request = upload.sign();
  EXPECT_EQ(verdict(request), "ok");
  std::erase_if(request.headers, [](const auto& field) { return field.name == "x-amz-acl"; });
  EXPECT_EQ(verdict(request), "SignatureDoesNotMatch");
}

TEST(Verify, Abuse15WhatIsSignedCannotBeChanged) {
  const auto changed = [](auto change) {
    Upload upload;
    Request& request = upload.sign();
    change(request);
    return verdict(request);
  };
  EXPECT_EQ(changed([](Request& r) { r.method = "GET"; }), "SignatureDoesNotMatch");
  EXPECT_EQ(changed([](Request& r) { r.path = "/b/K"; }), "SignatureDoesNotMatch");
  EXPECT_EQ(changed([](Request& r) { r.path = "/b//k"; }), "SignatureDoesNotMatch");
  EXPECT_EQ(changed([](Request& r) { r.query.clear(); }), "SignatureDoesNotMatch");
  EXPECT_EQ(changed([](Request& r) { r.query[0].value = "2"; }), "SignatureDoesNotMatch");
  EXPECT_EQ(changed([](Request& r) { r.headers[0].value = "other"; }), "SignatureDoesNotMatch");
  EXPECT_EQ(changed([](Request& r) { r.headers[1].value = "public-read"; }),
            "SignatureDoesNotMatch");
}

TEST(Verify, Abuse10EveryCharacterOfTheSignatureCounts) {
  Upload good;
  const auto claim = claim_of(good.sign());
  const std::string signature = claim.value()->signature;
  for (std::size_t i = 0; i <= signature.size(); ++i) {
    std::string other = signature;
    if (i == signature.size()) {
      other.pop_back();
    } else {
      other[i] = other[i] == '0' ? '1' : '0';
    }
    Upload upload;
    Request& request = upload.sign();
    upload.replace(signature, other);
    EXPECT_EQ(verdict(request), "SignatureDoesNotMatch") << i;
  }
}

TEST(Verify, AMismatchShowsBothTexts) {
  Upload upload;
  upload.signer.secret = "wrong";
  const auto claim = Judge()(upload.sign());
  ASSERT_FALSE(claim);
  EXPECT_EQ(claim.error().details.at(1).first, "StringToSign");
  EXPECT_TRUE(claim.error().details.at(3).second.starts_with("PUT\n/b/k\npartNumber=1\n"));
}

}  // namespace
}  // namespace leat::sigv4
