// CORS and lifecycle of buckets, and how all configurations are kept.
#include "s3/configuration.h"

#include "s3/s3_fixture_test.h"

namespace leat::s3 {
namespace {

class ConfigurationTest : public S3Test {
 protected:
  Reply set_cors(const std::string& rules) {
    return ask("PUT", "/photos?cors", {}, "<CORSConfiguration>" + rules + "</CORSConfiguration>");
  }
  Reply set_lifecycle(const std::string& rules) {
    return ask("PUT", "/photos?lifecycle", {},
               "<LifecycleConfiguration>" + rules + "</LifecycleConfiguration>");
  }
  Reply preflight(const std::string& target, Fields fields) {
    fields.insert(fields.begin(), {"Host", "server"});
    return send("OPTIONS", target, fields, "");
  }

  const std::string cors_ =
      "<CORSRule><AllowedOrigin>https://*.example</AllowedOrigin>"
      "<AllowedMethod>GET</AllowedMethod><AllowedMethod>PUT</AllowedMethod>"
      "<AllowedHeader>*</AllowedHeader><ExposeHeader>ETag</ExposeHeader>"
      "<MaxAgeSeconds>60</MaxAgeSeconds></CORSRule>";
  const std::string expiring_ =
      "<Rule><ID>old &amp; gone</ID><Filter><Prefix>tmp/</Prefix></Filter>"
      "<Status>Enabled</Status><Expiration><Days>3</Days></Expiration></Rule>";
};

// CORS.

TEST_F(ConfigurationTest, CorsRulesArePutGotAndDeleted) {
  EXPECT_EQ(code(ask("GET", "/photos?cors")), "404 NoSuchCORSConfiguration");
  EXPECT_EQ(set_cors(cors_).status, 200);
  const Reply got = ask("GET", "/photos?cors");
  EXPECT_EQ(elements(got, "AllowedMethod"), (std::vector<std::string>{"GET", "PUT"}));
  EXPECT_EQ(element(got, "MaxAgeSeconds"), "60");
  EXPECT_EQ(code(set_cors("<What/>")), "400 MalformedXML");
  EXPECT_EQ(code(set_cors("")), "400 MalformedXML");
  EXPECT_EQ(code(set_cors("<CORSRule><AllowedOrigin>*</AllowedOrigin>"
                          "<AllowedMethod>PATCH</AllowedMethod></CORSRule>")),
            "400 InvalidRequest");
  EXPECT_EQ(ask("GET", "/photos?cors").body, got.body);
  EXPECT_EQ(ask("DELETE", "/photos?cors").status, 204);
  EXPECT_EQ(code(ask("GET", "/photos?cors")), "404 NoSuchCORSConfiguration");
}

TEST_F(ConfigurationTest, BrowsersAskBeforeTheySend) {
  const Fields good = {{"Origin", "https://a.example"},
                       {"Access-Control-Request-Method", "PUT"},
                       {"Access-Control-Request-Headers", "x-amz-date, Authorization"}};
  EXPECT_EQ(code(preflight("/photos/k", good)), "403 AccessForbidden");
  ASSERT_EQ(set_cors(cors_).status, 200);
  const Reply yes = preflight("/photos/k", good);
  EXPECT_EQ(yes.status, 200) << yes.body;
  EXPECT_EQ(yes.field("access-control-allow-origin"), "https://a.example");
  EXPECT_EQ(yes.field("access-control-allow-methods"), "GET, PUT");
  EXPECT_EQ(yes.field("access-control-allow-headers"), "x-amz-date, Authorization");
  EXPECT_EQ(yes.field("access-control-max-age"), "60");
  EXPECT_EQ(yes.field("access-control-expose-headers"), "ETag");
  EXPECT_EQ(yes.field("access-control-allow-credentials"), "(none)");
  EXPECT_NE(yes.field("x-amz-request-id"), "(none)");
  EXPECT_EQ(code(preflight("/photos/k", {{"Access-Control-Request-Method", "PUT"}})),
            "400 BadRequest");
  EXPECT_EQ(code(preflight("/photos/k", {{"Origin", "https://a.example"}})), "400 BadRequest");
  EXPECT_EQ(code(preflight("/photos/k", {{"Origin", "https://a.example.evil"},
                                         {"Access-Control-Request-Method", "GET"}})),
            "403 AccessForbidden");
  EXPECT_EQ(code(preflight("/photos/k", {{"Origin", "https://a.example"},
                                         {"Access-Control-Request-Method", "DELETE"}})),
            "403 AccessForbidden");
  EXPECT_EQ(code(preflight("/none/k", good)), "403 AccessForbidden")
      << "whether a bucket is there is not told";
  EXPECT_EQ(preflight("/photos?list-type=2", good).status, 200);
  // A presigned URL: its signature is of another method, and is not looked at.
  EXPECT_EQ(preflight("/photos/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=x"
                      "&X-Amz-Signature=00&X-Amz-Expires=60",
                      good)
                .status,
            200);
  EXPECT_EQ(preflight("/", good).status, 405);
  EXPECT_EQ(objects(), 0U);
}

TEST_F(ConfigurationTest, AnswersToPagesCarryTheFieldsOfCorsAlsoWhenTheyRefuse) {
  ASSERT_EQ(put("k", "1").status, 200);
  ASSERT_EQ(set_cors(cors_).status, 200);
  const Fields page = {{"Origin", "https://a.example"}};
  const auto allowed = [](const Reply& reply) {
    return reply.field("access-control-allow-origin");
  };
  EXPECT_EQ(allowed(ask("GET", "/photos/k", page)), "https://a.example");
  const Reply missing = ask("GET", "/photos/none", page);
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(allowed(missing), "https://a.example");
  const Reply denied =
      send("GET", "/photos/k", {{"Host", "server"}, {"Origin", "https://a.example"}}, "");
  EXPECT_EQ(denied.status, 403);
  EXPECT_EQ(allowed(denied), "https://a.example");
  sigv4::Signer wrong = signer_;
  wrong.secret = "wrong";
  const Reply unsigned_one = ask_as(wrong, "GET", "/photos/k", page);
  EXPECT_EQ(code(unsigned_one), "403 SignatureDoesNotMatch");
  EXPECT_EQ(allowed(unsigned_one), "https://a.example") << "refused before any handler";
  EXPECT_EQ(allowed(ask("GET", "/photos?website", page)), "https://a.example");
  EXPECT_EQ(allowed(ask("DELETE", "/photos/none", page)), "(none)") << "a method without a rule";
  EXPECT_EQ(allowed(ask("GET", "/photos/k", {{"Origin", "https://evil"}})), "(none)");
  EXPECT_EQ(allowed(ask("GET", "/photos/k")), "(none)");
  EXPECT_EQ(allowed(ask("GET", "/none/k", page)), "(none)");
}

// Lifecycle.

TEST_F(ConfigurationTest, LifecyclesArePutGotAndDeleted) {
  EXPECT_EQ(code(ask("GET", "/photos?lifecycle")), "404 NoSuchLifecycleConfiguration");
  EXPECT_EQ(set_lifecycle(expiring_).status, 200);
  const Reply got = ask("GET", "/photos?lifecycle");
  EXPECT_EQ(element(got, "ID"), "old &amp; gone");
  EXPECT_EQ(element(got, "Days"), "3");
  EXPECT_EQ(code(set_lifecycle("<Rule/>")), "400 MalformedXML");
  EXPECT_EQ(code(set_lifecycle(expiring_ + expiring_)), "400 InvalidArgument");
  EXPECT_EQ(code(set_lifecycle("<Rule><Filter/><Status>Enabled</Status>"
                               "<Transition><Days>1</Days></Transition></Rule>")),
            "501 NotImplemented");
  EXPECT_EQ(ask("GET", "/photos?lifecycle").body, got.body);
  EXPECT_EQ(ask("DELETE", "/photos?lifecycle").status, 204);
  EXPECT_EQ(code(ask("GET", "/photos?lifecycle")), "404 NoSuchLifecycleConfiguration");
}

TEST_F(ConfigurationTest, RulesAboutVersionsAreKept) {
  for (const std::string action :
       {"<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>"
        "</NoncurrentVersionExpiration>",
        "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>"}) {
    const Reply set = set_lifecycle("<Rule><Filter/><Status>Enabled</Status>" + action + "</Rule>");
    EXPECT_EQ(set.status, 200) << set.body;
    EXPECT_NE(ask("GET", "/photos?lifecycle").body.find(action), std::string::npos) << action;
  }
}

TEST_F(ConfigurationTest, ObjectsSayWhenTheyWillExpire) {
  ASSERT_EQ(set_lifecycle(expiring_).status, 200);
  const Reply stored = put("tmp/a", "1");
  const std::string field = stored.field("x-amz-expiration");
  EXPECT_TRUE(std::regex_match(
      field, std::regex("expiry-date=\"\\w{3}, \\d\\d \\w{3} \\d{4} 00:00:00 GMT\", "
                        "rule-id=\"old%20%26%20gone\"")))
      << field;
  EXPECT_EQ(ask("GET", "/photos/tmp/a").field("x-amz-expiration"), field);
  EXPECT_EQ(ask("HEAD", "/photos/tmp/a").field("x-amz-expiration"), field);
  EXPECT_EQ(put("other", "1").field("x-amz-expiration"), "(none)");
  EXPECT_EQ(ask("PUT", "/photos/tmp/b", {{"x-amz-copy-source", "photos/other"}})
                .field("x-amz-expiration"),
            field);
  ASSERT_EQ(ask("DELETE", "/photos?lifecycle").status, 204);
  EXPECT_EQ(ask("GET", "/photos/tmp/a").field("x-amz-expiration"), "(none)");
}

// How they are kept.

TEST_F(ConfigurationTest, ConfigurationsDoNotDisturbEachOther) {
  const std::string policy =
      R"({"Statement":{"Effect":"Allow","Principal":"*","Action":"s3:GetObject",)"
      R"("Resource":"arn:aws:s3:::photos/*"}})";
  ASSERT_EQ(ask("PUT", "/photos?policy", {}, policy).status, 204);
  ASSERT_EQ(set_cors(cors_).status, 200);
  ASSERT_EQ(set_lifecycle(expiring_).status, 200);
  ASSERT_EQ(ask("PUT", "/photos?acl", {{"x-amz-acl", "public-read"}}).status, 200);
  ASSERT_EQ(ask("DELETE", "/photos?cors").status, 204);
  EXPECT_EQ(ask("GET", "/photos?policy").body, policy);
  EXPECT_EQ(ask("GET", "/photos?lifecycle").status, 200);
  EXPECT_EQ(elements(ask("GET", "/photos?acl"), "Permission").size(), 2U);
  // They outlive the process, and go with the bucket.
  ASSERT_EQ(ask("DELETE", "/photos").status, 204);
  ASSERT_EQ(ask("PUT", "/photos").status, 200);
  EXPECT_EQ(code(ask("GET", "/photos?policy")), "404 NoSuchBucketPolicy");
  EXPECT_EQ(code(ask("GET", "/photos?lifecycle")), "404 NoSuchLifecycleConfiguration");
}

TEST_F(ConfigurationTest, TheLargestDocumentsAreTaken) {
  std::string rules;
  for (int i = 0; i < 1000; ++i)
    rules += fmt::format(
        "<Rule><ID>{}</ID><Filter><Prefix>p{}</Prefix></Filter><Status>Enabled"
        "</Status><Expiration><Days>3</Days></Expiration></Rule>",
        i, i);
  EXPECT_EQ(set_lifecycle(rules).status, 200);
  EXPECT_EQ(elements(ask("GET", "/photos?lifecycle"), "ID").size(), 1000U);
  std::string policy = R"({"Statement":[)";
  while (policy.size() < 20'000) {
    policy += std::string(policy.ends_with('[') ? "" : ",") +
              R"({"Effect":"Deny","Principal":"*","Action":"s3:GetObject",)"
              R"("Resource":"arn:aws:s3:::photos/none/*"})";
  }
  EXPECT_EQ(ask("PUT", "/photos?policy", {}, policy + "]}").status, 204);
  EXPECT_EQ(put("k", "1").status, 200);
}

// Abuse case 26 for documents: no framing of uploads, digests are checked.
TEST_F(ConfigurationTest, Abuse26ConfigurationsAreTakenInOnePieceAndTheirDigestsChecked) {
  const std::string cors = "<CORSConfiguration>" + cors_ + "</CORSConfiguration>";
  const std::string life = "<LifecycleConfiguration>" + expiring_ + "</LifecycleConfiguration>";
  const Fields streamed = {{"x-amz-decoded-content-length", "5"},
                           {"x-amz-trailer", "x-amz-checksum-crc32"},
                           {"Content-Encoding", "aws-chunked"}};
  const std::string framed = "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n";
  for (const auto& [target, body] :
       {std::pair(std::string("/photos?cors"), cors),
        std::pair(std::string("/photos?lifecycle"), life),
        std::pair(std::string("/photos?policy"), std::string("{}")),
        std::pair(std::string("/photos?acl"), std::string("<AccessControlPolicy/>"))}) {
    EXPECT_EQ(code(ask_as(signer_, "PUT", target, streamed, framed,
                          "STREAMING-UNSIGNED-PAYLOAD-TRAILER")),
              "400 InvalidRequest")
        << target;
    EXPECT_EQ(code(ask("PUT", target, {{"Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="}}, body)),
              "400 BadDigest")
        << target;
    EXPECT_EQ(code(ask("PUT", target, {{"x-amz-checksum-crc32", "AAAAAA=="}}, body)),
              "400 BadDigest")
        << target;
    const std::string other = to_hex(hash::Sha256::of(as_bytes("other")));
    EXPECT_EQ(code(ask_as(signer_, "PUT", target, {}, body, other)),
              "400 XAmzContentSHA256Mismatch")
        << target;
    EXPECT_EQ(code(ask("PUT", target, {}, std::string(300 * 1024, ' '))),
              "400 MaxMessageLengthExceeded")
        << target;
  }
  EXPECT_EQ(code(ask("GET", "/photos?cors")), "404 NoSuchCORSConfiguration");
  EXPECT_EQ(code(ask("GET", "/photos?lifecycle")), "404 NoSuchLifecycleConfiguration");
  const std::string bomb =
      "<!DOCTYPE x [<!ENTITY e \"ha\">]><CORSConfiguration>&e;</CORSConfiguration>";
  EXPECT_EQ(code(ask("PUT", "/photos?cors", {}, bomb)), "400 MalformedXML");
  EXPECT_EQ(code(ask("PUT", "/photos?lifecycle", {}, bomb)), "400 MalformedXML");
  EXPECT_EQ(code(ask("PUT", "/photos?acl", {}, bomb)), "400 MalformedXML");
}

}  // namespace
}  // namespace leat::s3
