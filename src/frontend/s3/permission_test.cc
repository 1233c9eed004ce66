// Policies, ACLs and rules of keys together.
#include "s3/permission.h"

#include "s3/s3_fixture_test.h"

namespace leat::s3 {
namespace {

using keys::Right;

class PermissionTest : public S3Test {
 protected:
  static std::string statement(const std::string& effect, const std::string& principal,
                               const std::string& actions, const std::string& resources,
                               const std::string& more = "") {
    return fmt::format(R"({{"Effect":"{}","Principal":{},"Action":[{}],"Resource":[{}]{}}})",
                       effect, principal, actions, resources, more);
  }
  Reply set_policy(const std::string& statements) {
    return ask("PUT", "/photos?policy", {},
               R"({"Version":"2012-10-17","Statement":[)" + statements + "]}");
  }
  static std::string aws(const sigv4::Signer& who) {
    return R"({"AWS":")" + who.access_key + R"("})";
  }
  Reply anonymous(std::string_view method, const std::string& target, Fields fields = {},
                  std::string_view body = "") {
    fields.insert(fields.begin(), {"Host", "server"});
    return send(method, target, fields, body);
  }

  const std::string everybody_ = "\"*\"";
  const std::string bucket_ = R"("arn:aws:s3:::photos")";
  const std::string objects_ = R"("arn:aws:s3:::photos/*")";
  const std::string all_ = bucket_ + "," + objects_;
  const std::string denied_ = "403 AccessDenied";
};

TEST_F(PermissionTest, PoliciesArePutGotAndDeleted) {
  EXPECT_EQ(code(ask("GET", "/photos?policy")), "404 NoSuchBucketPolicy");
  EXPECT_EQ(code(ask("GET", "/photos?policyStatus")), "404 NoSuchBucketPolicy");
  const std::string text =
      R"({"Statement":)" + statement("Allow", everybody_, R"("s3:GetObject")", objects_) + "}";
  EXPECT_EQ(ask("PUT", "/photos?policy", {}, text).status, 204);
  const Reply got = ask("GET", "/photos?policy");
  EXPECT_EQ(got.body, text);
  EXPECT_EQ(got.field("content-type"), "application/json");
  EXPECT_EQ(element(ask("GET", "/photos?policyStatus"), "IsPublic"), "true");
  EXPECT_EQ(code(ask("PUT", "/photos?policy", {}, "{}")), "400 MalformedPolicy");
  EXPECT_EQ(code(ask("PUT", "/photos?policy", {}, "")), "400 MalformedPolicy");
  EXPECT_EQ(code(ask("PUT", "/photos?policy", {}, std::string(20 * 1024 + 1, ' '))),
            "400 MaxMessageLengthExceeded");
  EXPECT_EQ(ask("GET", "/photos?policy").body, text) << "what is refused changes nothing";
  EXPECT_EQ(ask("DELETE", "/photos?policy").status, 204);
  EXPECT_EQ(ask("DELETE", "/photos?policy").status, 204);
  EXPECT_EQ(code(ask("GET", "/photos?policy")), "404 NoSuchBucketPolicy");
  EXPECT_EQ(code(ask("PUT", "/none?policy", {}, text)), "404 NoSuchBucket");
}

TEST_F(PermissionTest, Abuse49AnonymousRequestsGetWhatAPolicyGivesAndNothingElse) {
  ASSERT_EQ(put("pub/a", "open").status, 200);
  ASSERT_EQ(put("a", "secret").status, 200);
  EXPECT_EQ(code(anonymous("GET", "/photos/pub/a")), denied_);
  ASSERT_EQ(set_policy(statement("Allow", everybody_, R"("s3:GetObject")",
                                 R"("arn:aws:s3:::photos/pub/*")"))
                .status,
            204);
  EXPECT_EQ(anonymous("GET", "/photos/pub/a").body, "open");
  EXPECT_EQ(anonymous("HEAD", "/photos/pub/a").status, 200);
  EXPECT_EQ(anonymous("GET", "/photos/pub/a", {{"Range", "bytes=1-2"}}).body, "pe");
  EXPECT_EQ(code(anonymous("GET", "/photos/pub/a?response-content-type=text/html")),
            "400 InvalidRequest");
  for (const std::string target :
       {"/", "/photos", "/photos?list-type=2", "/photos/a", "/photos/pub/none", "/photos?location",
        "/photos?policy", "/photos?acl", "/photos?cors", "/photos?lifecycle", "/photos?uploads",
        "/photos/pub/a?tagging", "/photos/pub/a?acl", "/none/pub/a", "/photos/pub%2F..%2Fa2"}) {
    EXPECT_EQ(code(anonymous("GET", target)), denied_) << target;
  }
  for (const std::string target :
       {"/photos/pub/a", "/photos/pub/b", "/photos", "/new-one", "/photos/pub/a?tagging",
        "/photos/pub/a?acl", "/photos?policy", "/photos?cors"}) {
    EXPECT_EQ(code(anonymous("PUT", target, {}, "x")), denied_) << target;
    EXPECT_EQ(code(anonymous("DELETE", target)),
              target == "/photos/pub/a?acl" ? "501 NotImplemented" : denied_)
        << target;
  }
  EXPECT_EQ(code(anonymous("POST", "/photos/pub/m?uploads")), denied_);
  const Reply deleted =
      anonymous("POST", "/photos?delete", {}, "<Delete><Object><Key>pub/a</Key></Object></Delete>");
  EXPECT_EQ(element(deleted, "Code"), "AccessDenied");
  EXPECT_EQ(objects(), 2U);
}

TEST_F(PermissionTest, WhoCannotDeleteAnythingIsRefusedBeforeHisListOfKeysIsRead) {
  ASSERT_EQ(put("a", "1").status, 200);
  const sigv4::Signer eve = key_with({});
  const std::string list = "<Delete><Object><Key>a</Key></Object></Delete>";
  const std::string none = R"("arn:aws:s3:::photos/none/*")";
  for (const std::string& policy :
       {statement("Allow", everybody_, R"("s3:GetObject","s3:PutObject")", objects_),
        statement("Deny", everybody_, R"("s3:DeleteObject")", none)}) {
    ASSERT_EQ(set_policy(policy).status, 204);
    EXPECT_EQ(code(anonymous("POST", "/photos?delete", {}, list)), denied_) << policy;
    EXPECT_EQ(code(ask_as(eve, "POST", "/photos?delete", {}, list)), denied_) << policy;
  }
  // Some key he may delete: each is judged.
  ASSERT_EQ(set_policy(statement("Allow", everybody_, R"("s3:DeleteObject")", none)).status, 204);
  const Reply judged = anonymous("POST", "/photos?delete", {}, list);
  EXPECT_EQ(judged.status, 200);
  EXPECT_EQ(element(judged, "Code"), "AccessDenied");
  EXPECT_EQ(objects(), 1U);
}

TEST_F(PermissionTest, APolicyForEverybodyGivesNobodyThePolicy) {
  ASSERT_EQ(set_policy(statement("Allow", everybody_, R"("s3:*")", all_)).status, 204);
  EXPECT_EQ(anonymous("PUT", "/photos/k", {}, "x").status, 200);
  EXPECT_EQ(anonymous("GET", "/photos/k").body, "x");
  EXPECT_EQ(anonymous("GET", "/photos?list-type=2").status, 200);
  EXPECT_EQ(anonymous("HEAD", "/photos").status, 200);
  EXPECT_EQ(anonymous("DELETE", "/photos/k").status, 204);
  const sigv4::Signer eve = key_with({});
  for (const std::string name : {"policy", "cors", "lifecycle", "acl"}) {
    EXPECT_EQ(code(anonymous("GET", "/photos?" + name)), denied_) << name;
    EXPECT_EQ(code(ask_as(eve, "GET", "/photos?" + name)), denied_) << name;
    EXPECT_EQ(code(ask_as(eve, "PUT", "/photos?" + name, {}, "x")), denied_) << name;
  }
  EXPECT_EQ(code(anonymous("DELETE", "/photos")), denied_);
  EXPECT_EQ(code(ask_as(eve, "DELETE", "/photos")), denied_);
  EXPECT_EQ(ask_as(eve, "PUT", "/photos/e", {}, "x").status, 200);
}

TEST_F(PermissionTest, AnonymousUploadsAreCheckedLikeOthers) {
  ASSERT_EQ(set_policy(statement("Allow", everybody_, R"("s3:PutObject")", objects_)).status, 204);
  const std::string other = to_hex(hash::Sha256::of(as_bytes("other")));
  EXPECT_EQ(code(anonymous("PUT", "/photos/k", {{"x-amz-content-sha256", other}}, "body")),
            "400 XAmzContentSHA256Mismatch");
  EXPECT_EQ(code(anonymous("PUT", "/photos/k",
                           {{"x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"},
                            {"x-amz-decoded-content-length", "1"}},
                           "1;chunk-signature=0\r\nx\r\n0;chunk-signature=0\r\n\r\n"))
                .substr(0, 1),
            "4");
  EXPECT_EQ(code(anonymous("PUT", "/photos/k", {{"Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="}}, "x")),
            "400 BadDigest");
  EXPECT_EQ(code(anonymous("PUT", "/photos/k", {{"x-amz-acl", "public-read"}}, "x")), denied_)
      << "to write is not to publish";
  EXPECT_EQ(objects(), 0U);
}

TEST_F(PermissionTest, Abuse46DenyBeatsTheRulesOfKeysButNotTheOperatorsToken) {
  ASSERT_EQ(put("keep/a", "1").status, 200);
  ASSERT_EQ(put("b", "2").status, 200);
  const sigv4::Signer boss =
      key_with({{.bucket = "*", .rights = {Right::read, Right::write, Right::list, Right::admin}}});
  ASSERT_EQ(set_policy(statement("Deny", everybody_, R"("s3:DeleteObject","s3:PutObject")",
                                 R"("arn:aws:s3:::photos/keep/*")"))
                .status,
            204);
  EXPECT_EQ(code(ask_as(boss, "DELETE", "/photos/keep/a")), denied_);
  EXPECT_EQ(code(ask_as(boss, "PUT", "/photos/keep/a", {}, "x")), denied_);
  EXPECT_EQ(code(ask_as(boss, "PUT", "/photos/keep/a", {{"x-amz-copy-source", "photos/b"}})),
            denied_);
  EXPECT_EQ(code(ask_as(boss, "POST", "/photos/keep/m?uploads")), denied_);
  const Reply many = ask_as(boss, "POST", "/photos?delete", {},
                            "<Delete><Object><Key>keep/a</Key></Object></Delete>");
  EXPECT_EQ(element(many, "Code"), "AccessDenied");
  EXPECT_EQ(ask_as(boss, "GET", "/photos/keep/a").body, "1");
  EXPECT_EQ(ask_as(boss, "DELETE", "/photos/b").status, 204);
  // Whoever locks everybody out, the operators get in.
  ASSERT_EQ(set_policy(statement("Deny", everybody_, R"("s3:*")", all_)).status, 204);
  EXPECT_EQ(code(ask_as(boss, "GET", "/photos?policy")), denied_);
  EXPECT_EQ(code(ask_as(boss, "DELETE", "/photos?policy")), denied_);
  EXPECT_EQ(ask_as(boss, "HEAD", "/photos").status, 403);
  EXPECT_EQ(code(ask_as(boss, "GET", "/photos?location")), denied_);
  const Fields token = {{"Authorization", "Bearer the-token"}};
  EXPECT_EQ(anonymous("GET", "/photos/keep/a", token).body, "1");
  EXPECT_EQ(anonymous("DELETE", "/photos?policy", token).status, 204);
  EXPECT_EQ(ask_as(boss, "DELETE", "/photos/keep/a").status, 204);
}

TEST_F(PermissionTest, APolicyGivesAKeyMoreThanItsRules) {
  ASSERT_EQ(put("in/a", "1").status, 200);
  ASSERT_EQ(put("b", "2").status, 200);
  const sigv4::Signer alice = key_with({});
  const sigv4::Signer bob = key_with({});
  ASSERT_EQ(set_policy(statement("Allow", aws(alice),
                                 R"("s3:GetObject","s3:PutObject","s3:ListBucket",)"
                                 R"("s3:AbortMultipartUpload",)"
                                 R"("s3:ListMultipartUploadParts",)"
                                 R"("s3:PutObjectTagging")",
                                 bucket_ + R"(,"arn:aws:s3:::photos/in/*")", ""))
                .status,
            204);
  EXPECT_EQ(ask_as(alice, "GET", "/photos/in/a").body, "1");
  EXPECT_EQ(code(ask_as(bob, "GET", "/photos/in/a")), denied_);
  EXPECT_EQ(code(ask_as(alice, "GET", "/photos/b")), denied_);
  EXPECT_EQ(code(ask_as(alice, "GET", "/photos/in/none")), "404 NoSuchKey") << "it may list";
  EXPECT_EQ(ask_as(alice, "GET", "/photos").status, 200);
  EXPECT_EQ(ask_as(alice, "HEAD", "/photos").status, 200);
  EXPECT_EQ(code(ask_as(alice, "GET", "/photos?location")), denied_);
  // Parts, copies and tags.
  const std::string upload = element(ask_as(alice, "POST", "/photos/in/m?uploads"), "UploadId");
  const std::string part = "/photos/in/m?partNumber=1&uploadId=" + upload;
  EXPECT_EQ(ask_as(alice, "PUT", part, {}, "x").status, 200);
  EXPECT_EQ(ask_as(alice, "GET", "/photos/in/m?uploadId=" + upload).status, 200);
  EXPECT_EQ(code(ask_as(bob, "PUT", part, {}, "x")), denied_);
  EXPECT_EQ(code(ask_as(bob, "DELETE", "/photos/in/m?uploadId=" + upload)), denied_);
  EXPECT_EQ(ask_as(alice, "PUT", part, {{"x-amz-copy-source", "photos/in/a"}}).status, 200);
  EXPECT_EQ(code(ask_as(alice, "PUT", part, {{"x-amz-copy-source", "photos/b"}})), denied_);
  EXPECT_EQ(code(ask_as(alice, "PUT", "/photos/in/c", {{"x-amz-copy-source", "photos/b"}})),
            denied_);
  EXPECT_EQ(ask_as(alice, "PUT", "/photos/in/c", {{"x-amz-copy-source", "photos/in/a"}}).status,
            200);
  EXPECT_EQ(ask_as(alice, "DELETE", "/photos/in/m?uploadId=" + upload).status, 204);
  const std::string tags = "<Tagging><TagSet></TagSet></Tagging>";
  EXPECT_EQ(ask_as(alice, "PUT", "/photos/in/a?tagging", {}, tags).status, 200);
  EXPECT_EQ(code(ask_as(alice, "GET", "/photos/in/a?tagging")), denied_);
  EXPECT_EQ(code(ask_as(alice, "DELETE", "/photos/in/a")), denied_);
}

TEST_F(PermissionTest, Abuse44ThePolicyOfTheSourceIsAskedToo) {
  ASSERT_EQ(ask("PUT", "/vault").status, 200);
  ASSERT_EQ(ask("PUT", "/vault/a", {}, "secret").status, 200);
  const sigv4::Signer alice =
      key_with({{.bucket = "*", .rights = {Right::read, Right::write, Right::list}}});
  ASSERT_EQ(
      ask("PUT", "/vault?policy", {},
          R"({"Statement":)" +
              statement("Deny", aws(alice), R"("s3:GetObject")", R"("arn:aws:s3:::vault/*")") + "}")
          .status,
      204);
  EXPECT_EQ(code(ask_as(alice, "PUT", "/photos/a", {{"x-amz-copy-source", "vault/a"}})), denied_);
  const std::string upload = element(ask_as(alice, "POST", "/photos/m?uploads"), "UploadId");
  EXPECT_EQ(code(ask_as(alice, "PUT", "/photos/m?partNumber=1&uploadId=" + upload,
                        {{"x-amz-copy-source", "vault/a"}})),
            denied_);
  EXPECT_EQ(ask("PUT", "/photos/a", {{"x-amz-copy-source", "vault/a"}}).status, 200);
}

TEST_F(PermissionTest, Abuse48ConditionsAreAboutTheConnectionAndTheQuery) {
  ASSERT_EQ(put("home/a", "1").status, 200);
  const sigv4::Signer alice = key_with({});
  ASSERT_EQ(set_policy(statement("Allow", aws(alice), R"("s3:ListBucket")", bucket_,
                                 R"(,"Condition":{"StringLike":{"s3:prefix":"home/*"}})") +
                       "," +
                       statement("Allow", everybody_, R"("s3:GetObject")", objects_,
                                 R"(,"Condition":{"IpAddress":{"aws:SourceIp":"203.0.113.9"}})"))
                .status,
            204);
  EXPECT_EQ(ask_as(alice, "GET", "/photos?prefix=home/").status, 200);
  EXPECT_EQ(code(ask_as(alice, "GET", "/photos?prefix=")), denied_);
  EXPECT_EQ(code(ask_as(alice, "GET", "/photos")), denied_);
  for (const std::string name :
       {"X-Forwarded-For", "X-Real-IP", "Forwarded", "aws:SourceIp", "Client-IP"}) {
    EXPECT_EQ(code(anonymous("GET", "/photos/home/a", {{name, "203.0.113.9"}})), denied_) << name;
  }
  EXPECT_EQ(element(ask("GET", "/photos?policyStatus"), "IsPublic"), "false");
}

TEST_F(PermissionTest, OnlyWhoAdministersABucketMayChangeItsConfiguration) {
  const sigv4::Signer writer =
      key_with({{.bucket = "*", .rights = {Right::read, Right::write, Right::list}}});
  const sigv4::Signer admin = key_with({{.bucket = "photos", .rights = {Right::admin}}});
  for (const std::string name : {"policy", "cors", "lifecycle", "acl"}) {
    EXPECT_EQ(code(ask_as(writer, "GET", "/photos?" + name)), denied_) << name;
    EXPECT_EQ(code(ask_as(writer, "PUT", "/photos?" + name, {}, "x")), denied_) << name;
    EXPECT_NE(ask_as(admin, "GET", "/photos?" + name).status, 403) << name;
    EXPECT_EQ(ask_as(admin, "PUT", "/photos?" + name, {}, "x").status, 400) << name;
    if (name == "acl") continue;
    EXPECT_EQ(code(ask_as(writer, "DELETE", "/photos?" + name)), denied_) << name;
    EXPECT_EQ(ask_as(admin, "DELETE", "/photos?" + name).status, 204) << name;
  }
  EXPECT_EQ(code(ask_as(admin, "GET", "/photos/k")), denied_) << "to administer is not to read";
}

TEST_F(PermissionTest, Abuse44WhatIsDeniedIsNotHadAsItsNullVersion) {
  ASSERT_EQ(put("k", "1").status, 200);
  const sigv4::Signer alice =
      key_with({{.bucket = "photos", .rights = {Right::read, Right::write}}});
  ASSERT_EQ(
      set_policy(statement("Deny", aws(alice), R"("s3:GetObject","s3:DeleteObject")", all_)).status,
      204);
  EXPECT_EQ(code(ask_as(alice, "GET", "/photos/k?versionId=null")), denied_);
  EXPECT_EQ(code(ask_as(alice, "DELETE", "/photos/k?versionId=null")), denied_);
  EXPECT_EQ(
      code(ask_as(alice, "PUT", "/photos/c", {{"x-amz-copy-source", "photos/k?versionId=null"}})),
      denied_);
  const Reply many =
      ask_as(alice, "POST", "/photos?delete", {},
             "<Delete><Object><Key>k</Key><VersionId>null</VersionId></Object></Delete>");
  EXPECT_EQ(element(many, "Code"), "AccessDenied") << many.body;
  EXPECT_EQ(ask("GET", "/photos/k").body, "1");
}

TEST_F(PermissionTest, MarkersAreNobodysPublicObjects) {
  ASSERT_EQ(put("k", "1").status, 200);
  ASSERT_EQ(ask("PUT", "/photos?versioning", {},
                "<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>")
                .status,
            200);
  ASSERT_EQ(ask("DELETE", "/photos/k").status, 204);
  EXPECT_EQ(code(ask("GET", "/photos/k?versionId=null")), "405 MethodNotAllowed");
  EXPECT_EQ(code(anonymous("GET", "/photos/k?versionId=null")), denied_);
  EXPECT_EQ(code(anonymous("GET", "/photos/none?versionId=null")), denied_);
}

TEST_F(PermissionTest, Abuse44AVersionTakesTheRightToVersions) {
  ASSERT_EQ(ask("PUT", "/photos?versioning", {},
                "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>")
                .status,
            200);
  const std::string version = put("k", "1").field("x-amz-version-id");
  ASSERT_EQ(put("k", "2").status, 200);
  const sigv4::Signer alice =
      key_with({{.bucket = "photos", .rights = {Right::read, Right::write, Right::list}}});
  const std::string one = "/photos/k?versionId=" + version;
  EXPECT_EQ(ask_as(alice, "GET", one).body, "1");
  ASSERT_EQ(set_policy(statement("Deny", aws(alice),
                                 R"("s3:GetObjectVersion","s3:DeleteObjectVersion",)"
                                 R"("s3:ListBucketVersions","s3:GetObjectVersionTagging",)"
                                 R"("s3:PutObjectVersionTagging","s3:GetObjectVersionAcl")",
                                 all_))
                .status,
            204);
  EXPECT_EQ(ask_as(alice, "GET", "/photos/k").body, "2");
  for (const std::string& target :
       {one, one + "&tagging", one + "&acl", std::string("/photos?versions")})
    EXPECT_EQ(code(ask_as(alice, "GET", target)), denied_) << target;
  EXPECT_EQ(ask_as(alice, "HEAD", one).status, 403);
  EXPECT_EQ(code(ask_as(alice, "DELETE", one)), denied_);
  EXPECT_EQ(code(ask_as(alice, "PUT", one + "&tagging", {}, "<Tagging><TagSet/></Tagging>")),
            denied_);
  const std::string source = "photos/k?versionId=" + version;
  EXPECT_EQ(code(ask_as(alice, "PUT", "/photos/copy", {{"x-amz-copy-source", source}})), denied_);
  const std::string upload = element(ask_as(alice, "POST", "/photos/m?uploads"), "UploadId");
  EXPECT_EQ(code(ask_as(alice, "PUT", "/photos/m?partNumber=1&uploadId=" + upload,
                        {{"x-amz-copy-source", source}})),
            denied_);
  const Reply many = ask_as(
      alice, "POST", "/photos?delete", {},
      "<Delete><Object><Key>k</Key><VersionId>" + version + "</VersionId></Object></Delete>");
  EXPECT_EQ(element(many, "Code"), "AccessDenied");
  EXPECT_EQ(ask("GET", one).body, "1");
  EXPECT_EQ(ask_as(alice, "DELETE", "/photos/k").status, 204) << "a marker is no removal";
}

TEST_F(PermissionTest, TagsAreDeniedHoweverTheyCome) {
  ASSERT_EQ(put("tagged", "1", {{"x-amz-tagging", "a=1"}}).status, 200);
  ASSERT_EQ(put("plain", "1").status, 200);
  const sigv4::Signer alice =
      key_with({{.bucket = "photos", .rights = {Right::read, Right::write}}});
  const auto copy = [&](const std::string& from, Fields fields) {
    fields.push_back({"x-amz-copy-source", "photos/" + from});
    return code(ask_as(alice, "PUT", "/photos/copy", fields));
  };
  EXPECT_EQ(copy("tagged", {}), "200 (none)");
  ASSERT_EQ(set_policy(statement("Deny", aws(alice), R"("s3:PutObjectTagging")", objects_)).status,
            204);
  const Fields tags = {{"x-amz-tagging", "a=1"}};
  EXPECT_EQ(code(ask_as(alice, "PUT", "/photos/k", tags, "x")), denied_);
  EXPECT_EQ(code(ask_as(alice, "POST", "/photos/k?uploads", tags)), denied_);
  EXPECT_EQ(copy("tagged", {}), denied_);
  EXPECT_EQ(copy("plain", {{"x-amz-tagging-directive", "REPLACE"}, tags[0]}), denied_);
  EXPECT_EQ(copy("plain", {}), "200 (none)");
  EXPECT_EQ(copy("tagged", {{"x-amz-tagging-directive", "REPLACE"}}), "200 (none)");
  EXPECT_EQ(ask_as(alice, "PUT", "/photos/k", {}, "x").status, 200);
  ASSERT_EQ(set_policy(statement("Deny", aws(alice), R"("s3:GetObjectTagging")", objects_)).status,
            204);
  EXPECT_EQ(copy("tagged", {}), denied_) << "a copy would show them";
  EXPECT_EQ(ask_as(alice, "GET", "/photos/tagged").field("x-amz-tagging-count"), "(none)");
  EXPECT_EQ(ask("GET", "/photos/tagged").field("x-amz-tagging-count"), "1");
  EXPECT_EQ(copy("plain", {}), "200 (none)");
}

// ACLs.

TEST_F(PermissionTest, APublicObjectIsReadByEverybodyAndAPrivateOneIsNot) {
  ASSERT_EQ(put("open", "1", {{"x-amz-acl", "public-read"}}).status, 200);
  ASSERT_EQ(put("shut", "2", {{"x-amz-acl", "private"}}).status, 200);
  const sigv4::Signer eve = key_with({});
  EXPECT_EQ(anonymous("GET", "/photos/open").body, "1");
  EXPECT_EQ(anonymous("HEAD", "/photos/open").status, 200);
  EXPECT_EQ(ask_as(eve, "GET", "/photos/open").body, "1");
  EXPECT_EQ(code(anonymous("GET", "/photos/shut")), denied_);
  EXPECT_EQ(code(anonymous("GET", "/photos/none")), denied_);
  EXPECT_EQ(code(anonymous("PUT", "/photos/open", {}, "x")), denied_);
  EXPECT_EQ(code(anonymous("GET", "/photos/open?tagging")), denied_);
  EXPECT_EQ(code(anonymous("GET", "/photos/open?acl")), denied_);
  // A copy is private unless it says otherwise, and a public object can be copied from.
  ASSERT_EQ(ask("PUT", "/photos/copy", {{"x-amz-copy-source", "photos/open"}}).status, 200);
  EXPECT_EQ(code(anonymous("GET", "/photos/copy")), denied_);
  ASSERT_EQ(ask("PUT", "/photos/copy",
                {{"x-amz-copy-source", "photos/shut"}, {"x-amz-acl", "public-read"}})
                .status,
            200);
  EXPECT_EQ(anonymous("GET", "/photos/copy").body, "2");
  const sigv4::Signer writer = key_with({{.bucket = "photos", .rights = {Right::write}}});
  EXPECT_EQ(ask_as(writer, "PUT", "/photos/mine", {{"x-amz-copy-source", "photos/open"}}).status,
            200);
  EXPECT_EQ(code(ask_as(writer, "PUT", "/photos/mine", {{"x-amz-copy-source", "photos/shut"}})),
            denied_);
  EXPECT_EQ(code(ask_as(writer, "PUT", "/photos/mine", {{"x-amz-copy-source", "none/shut"}})),
            denied_);
  // Writing again makes it private; tags do not.
  const std::string tags =
      "<Tagging><TagSet><Tag><Key>a</Key><Value>1</Value></Tag></TagSet></Tagging>";
  ASSERT_EQ(ask("PUT", "/photos/open?tagging", {}, tags).status, 200);
  EXPECT_EQ(anonymous("GET", "/photos/open").body, "1");
  ASSERT_EQ(put("open", "3").status, 200);
  EXPECT_EQ(code(anonymous("GET", "/photos/open")), denied_);
}

TEST_F(PermissionTest, AnUploadInPartsIsAsPublicAsItBegan) {
  const std::string upload =
      element(ask("POST", "/photos/m?uploads", {{"x-amz-acl", "public-read"}}), "UploadId");
  const std::string etag =
      ask("PUT", "/photos/m?partNumber=1&uploadId=" + upload, {}, "x").field("etag");
  ASSERT_EQ(ask("POST", "/photos/m?uploadId=" + upload, {}, listing({{1, etag}})).status, 200);
  EXPECT_EQ(anonymous("GET", "/photos/m").body, "x");
}

TEST_F(PermissionTest, PublishingTakesMoreThanWriting) {
  ASSERT_EQ(put("k", "secret").status, 200);
  const sigv4::Signer writer = key_with({{.bucket = "photos", .rights = {Right::write}}});
  const Fields open = {{"x-amz-acl", "public-read"}};
  EXPECT_EQ(code(ask_as(writer, "PUT", "/photos/k?acl", open)), denied_);
  EXPECT_EQ(code(ask_as(writer, "PUT", "/photos/n", open, "x")), denied_);
  EXPECT_EQ(code(ask_as(writer, "POST", "/photos/n?uploads", open)), denied_);
  EXPECT_EQ(code(anonymous("GET", "/photos/k")), denied_);
  ASSERT_EQ(set_policy(statement("Allow", aws(writer), R"("s3:PutObjectAcl")", objects_)).status,
            204);
  EXPECT_EQ(ask_as(writer, "PUT", "/photos/n", open, "x").status, 200);
  EXPECT_EQ(anonymous("GET", "/photos/n").body, "x");
  ASSERT_EQ(set_policy(statement("Deny", everybody_, R"("s3:GetObject")", objects_)).status, 204);
  EXPECT_EQ(code(anonymous("GET", "/photos/n")), denied_) << "a policy that denies beats an ACL";
}

TEST_F(PermissionTest, AclsAreShownAndSet) {
  ASSERT_EQ(put("k", "1", {{"x-amz-meta-a", "b"}}).status, 200);
  const Reply shut = ask("GET", "/photos/k?acl");
  EXPECT_EQ(elements(shut, "Permission"), std::vector<std::string>{"FULL_CONTROL"});
  EXPECT_EQ(ask("PUT", "/photos/k?acl", {{"x-amz-acl", "public-read"}}).status, 200);
  const Reply open = ask("GET", "/photos/k?acl");
  EXPECT_EQ(elements(open, "Permission"), (std::vector<std::string>{"FULL_CONTROL", "READ"}));
  EXPECT_EQ(element(open, "URI"), "http://acs.amazonaws.com/groups/global/AllUsers");
  EXPECT_EQ(anonymous("GET", "/photos/k").field("x-amz-meta-a"), "b");
  EXPECT_EQ(ask("PUT", "/photos/k?acl", {}, shut.body).status, 200) << "what was shown";
  EXPECT_EQ(code(anonymous("GET", "/photos/k")), denied_);
  EXPECT_EQ(ask("PUT", "/photos/k?acl", {}, open.body).status, 200);
  EXPECT_EQ(anonymous("GET", "/photos/k").body, "1") << "the object is not its ACL";
  EXPECT_EQ(ask("PUT", "/photos/k?acl", {{"x-amz-acl", "private"}}).status, 200);
  EXPECT_EQ(code(anonymous("GET", "/photos/k")), denied_);
  EXPECT_EQ(code(ask("GET", "/photos/none?acl")), "404 NoSuchKey");
  EXPECT_EQ(code(ask("PUT", "/photos/none?acl", {{"x-amz-acl", "private"}})), "404 NoSuchKey");
  EXPECT_EQ(code(ask("PUT", "/photos/k?acl")), "400 MissingRequestBodyError");
  EXPECT_EQ(code(ask("PUT", "/photos/k?acl", {{"x-amz-acl", "private"}}, open.body)),
            "400 InvalidRequest");
  std::string write = open.body;
  write.replace(write.find("READ"), 4, "WRITE");
  EXPECT_EQ(code(ask("PUT", "/photos/k?acl", {}, write)), "501 NotImplemented");
  for (const std::string canned : {"public-read-write", "authenticated-read", "aws-exec-read"}) {
    EXPECT_EQ(code(ask("PUT", "/photos/k?acl", {{"x-amz-acl", canned}})), "501 NotImplemented");
    EXPECT_EQ(code(put("k", "x", {{"x-amz-acl", canned}})), "501 NotImplemented");
  }
  EXPECT_EQ(code(put("k", "x", {{"x-amz-grant-read", "uri=x"}})), "501 NotImplemented");
}

TEST_F(PermissionTest, APublicBucketIsListedByEverybody) {
  ASSERT_EQ(put("k", "1").status, 200);
  EXPECT_EQ(code(anonymous("GET", "/photos")), denied_);
  EXPECT_EQ(ask("PUT", "/photos?acl", {{"x-amz-acl", "public-read"}}).status, 200);
  EXPECT_EQ(elements(ask("GET", "/photos?acl"), "Permission").size(), 2U);
  EXPECT_EQ(elements(anonymous("GET", "/photos?list-type=2"), "Key"),
            std::vector<std::string>{"k"});
  EXPECT_EQ(code(anonymous("GET", "/photos/none")), "404 NoSuchKey");
  EXPECT_EQ(code(anonymous("GET", "/photos/k")), denied_) << "its objects are their own";
  EXPECT_EQ(ask("PUT", "/photos?acl", {{"x-amz-acl", "private"}}).status, 200);
  EXPECT_EQ(code(anonymous("GET", "/photos")), denied_);
  EXPECT_EQ(ask("PUT", "/second", {{"x-amz-acl", "public-read"}}).status, 200);
  EXPECT_EQ(anonymous("GET", "/second").status, 200);
}

}  // namespace
}  // namespace leat::s3
