#include "s3/public_access.h"

#include "s3/s3_fixture_test.h"

namespace leat::s3 {
namespace {

class PublicAccessTest : public S3Test {
 protected:
  Reply block(const std::string& flags) {
    return ask("PUT", "/photos?publicAccessBlock", {},
               "<PublicAccessBlockConfiguration>" + flags + "</PublicAccessBlockConfiguration>");
  }
  Reply set_policy() {
    return ask("PUT", "/photos?policy", {},
               R"({"Statement":{"Effect":"Allow","Principal":"*","Action":"s3:GetObject",)"
               R"("Resource":"arn:aws:s3:::photos/*"}})");
  }
  int anonymous_get(const std::string& target) {
    return send("GET", target, {{"Host", "server"}}, "").status;
  }
  const Fields public_ = {{"x-amz-acl", "public-read"}};
};

TEST_F(PublicAccessTest, IsPutGotAndDeleted) {
  const std::string none = "404 NoSuchPublicAccessBlockConfiguration";
  EXPECT_EQ(code(ask("GET", "/photos?publicAccessBlock")), none);
  EXPECT_EQ(block("<BlockPublicAcls>true</BlockPublicAcls>"
                  "<RestrictPublicBuckets>true</RestrictPublicBuckets>")
                .status,
            200);
  const Reply got = ask("GET", "/photos?publicAccessBlock");
  EXPECT_EQ(element(got, "BlockPublicAcls"), "true");
  EXPECT_EQ(element(got, "IgnorePublicAcls"), "false");
  EXPECT_EQ(element(got, "BlockPublicPolicy"), "false");
  EXPECT_EQ(element(got, "RestrictPublicBuckets"), "true");
  EXPECT_EQ(code(block("<BlockAll>true</BlockAll>")), "400 MalformedXML");
  EXPECT_EQ(code(block("<BlockPublicAcls>yes</BlockPublicAcls>")), "400 MalformedXML");
  EXPECT_EQ(ask("DELETE", "/photos?publicAccessBlock").status, 204);
  EXPECT_EQ(code(ask("GET", "/photos?publicAccessBlock")), none);
}

TEST_F(PublicAccessTest, TakesTheRightToAdminister) {
  const auto writer = key_with(
      {{.bucket = "photos", .rights = {keys::Right::read, keys::Right::write, keys::Right::list}}});
  EXPECT_EQ(code(ask_as(writer, "GET", "/photos?publicAccessBlock")), "403 AccessDenied");
  EXPECT_EQ(code(ask_as(writer, "DELETE", "/photos?publicAccessBlock")), "403 AccessDenied");
}

TEST_F(PublicAccessTest, BlockedAclsCannotBeMade) {
  ASSERT_EQ(block("<BlockPublicAcls>true</BlockPublicAcls>").status, 200);
  EXPECT_EQ(code(put("a", "x", public_)), "403 AccessDenied");
  EXPECT_EQ(put("a", "x").status, 200);
  EXPECT_EQ(code(ask("PUT", "/photos/a?acl", public_)), "403 AccessDenied");
  EXPECT_EQ(code(ask("PUT", "/photos?acl", public_)), "403 AccessDenied");
  EXPECT_EQ(code(ask("POST", "/photos/m?uploads", public_)), "403 AccessDenied");
  Fields copy = public_;
  copy.push_back({"x-amz-copy-source", "photos/a"});
  EXPECT_EQ(code(ask("PUT", "/photos/b", copy)), "403 AccessDenied");
  EXPECT_EQ(ask("PUT", "/photos/a?acl", {{"x-amz-acl", "private"}}).status, 200);
}

TEST_F(PublicAccessTest, IgnoredAclsShowNothingUntilTheBlockGoes) {
  ASSERT_EQ(put("a", "x", public_).status, 200);
  ASSERT_EQ(ask("PUT", "/photos?acl", public_).status, 200);
  EXPECT_EQ(anonymous_get("/photos/a"), 200);
  EXPECT_EQ(anonymous_get("/photos"), 200);
  ASSERT_EQ(block("<IgnorePublicAcls>true</IgnorePublicAcls>").status, 200);
  EXPECT_EQ(anonymous_get("/photos/a"), 403);
  EXPECT_EQ(anonymous_get("/photos"), 403);
  EXPECT_EQ(ask("GET", "/photos/a").status, 200);
  ASSERT_EQ(ask("DELETE", "/photos?publicAccessBlock").status, 204);
  EXPECT_EQ(anonymous_get("/photos/a"), 200);
}

TEST_F(PublicAccessTest, APublicPolicyIsRefusedOrAdmitsNobodyUnknown) {
  ASSERT_EQ(block("<BlockPublicPolicy>true</BlockPublicPolicy>").status, 200);
  EXPECT_EQ(code(set_policy()), "403 AccessDenied");
  ASSERT_EQ(ask("DELETE", "/photos?publicAccessBlock").status, 204);
  ASSERT_EQ(set_policy().status, 204);
  ASSERT_EQ(put("a", "x").status, 200);
  EXPECT_EQ(anonymous_get("/photos/a"), 200);
  ASSERT_EQ(block("<RestrictPublicBuckets>true</RestrictPublicBuckets>").status, 200);
  EXPECT_EQ(anonymous_get("/photos/a"), 403);
  const auto stranger = key_with({{.bucket = "other", .rights = {keys::Right::read}}});
  EXPECT_EQ(ask_as(stranger, "GET", "/photos/a").status, 200) << "a key is somebody";
}

TEST(PublicAccessBlock, WhatCannotBeReadBlocksAll) {
  record::Bucket bucket;
  EXPECT_EQ(public_access_block(bucket), PublicAccessBlock());
  bucket.properties.push_back({.name = std::string(kPublicAccessProperty), .value = "11"});
  EXPECT_TRUE(public_access_block(bucket).ignores_acls);
  EXPECT_TRUE(public_access_block(bucket).restricts_bucket);
}

}  // namespace
}  // namespace leat::s3
