#include "s3/s3.h"

#include "s3/s3_fixture_test.h"

namespace leat::s3 {
namespace {

// Who may ask.

TEST_F(S3Test, Abuse49NothingIsAnsweredWithoutASignature) {
  ASSERT_EQ(put("k", "secret").status, 200);
  const Fields plain = {{"Host", "server"}};
  for (const std::string_view target : {"/", "/photos", "/photos/k", "/photos/none", "/none/k"}) {
    for (const std::string_view method : {"GET", "PUT", "DELETE"}) {
      const Reply answer = send(method, target, plain, "");
      if (method != "GET" && target == "/") continue;
      EXPECT_EQ(code(answer), "403 AccessDenied") << method << " " << target;
    }
  }
  EXPECT_EQ(ask("GET", "/photos/k").body, "secret");
}

TEST_F(S3Test, ErrorsCarryTheRequestIdOfTheHead) {
  const Reply answer = ask("GET", "/photos/none");
  EXPECT_EQ(code(answer), "404 NoSuchKey");
  EXPECT_EQ(answer.field("content-type"), "application/xml");
  EXPECT_EQ(element(answer, "RequestId"), answer.field("x-amz-request-id"));
  EXPECT_EQ(element(answer, "Resource"), "/photos/none");
  EXPECT_NE(answer.field("server"), "(none)");
  EXPECT_EQ(ask("HEAD", "/photos/none").status, 404);
}

TEST_F(S3Test, TheOperatorsTokenOpensS3AndAWrongOneDoesNot) {
  EXPECT_EQ(
      send("PUT", "/photos/t", {{"Host", "s"}, {"Authorization", "Bearer the-token"}}, "x").status,
      200);
  EXPECT_EQ(code(send("GET", "/photos/t", {{"Host", "s"}, {"Authorization", "Bearer wrong"}}, "")),
            "403 AccessDenied");
}

TEST_F(S3Test, Abuse06And07TwoPlacesOfCredentialsAreRefused) {
  ASSERT_EQ(put("k", "v").status, 200);
  const Reply both = ask("GET", "/photos/k?X-Amz-Signature=00&X-Amz-Credential=other");
  EXPECT_EQ(code(both), "400 InvalidArgument");
  const Reply token_and_query = send("GET", "/photos/k?X-Amz-Signature=00",
                                     {{"Host", "s"}, {"Authorization", "Bearer the-token"}}, "");
  EXPECT_EQ(token_and_query.status, 400);
}

TEST_F(S3Test, Abuse08ABodyWithAnotherHashIsStoredNowhere) {
  const std::string other = to_hex(hash::Sha256::of(as_bytes("other")));
  EXPECT_EQ(code(ask_as(signer_, "PUT", "/photos/k", {}, "body", other)),
            "400 XAmzContentSHA256Mismatch");
  EXPECT_EQ(code(ask_as(signer_, "PUT", "/photos/k", {}, "body", "NONSENSE")),
            "400 InvalidRequest");
  EXPECT_EQ(objects(), 0U);
}

TEST_F(S3Test, AWrongSecretAnUnknownKeyAndARevokedOneAreRefused) {
  sigv4::Signer wrong = signer_;
  wrong.secret = "wrong";
  EXPECT_EQ(code(ask_as(wrong, "GET", "/photos")), "403 SignatureDoesNotMatch");
  wrong.access_key = "LEATNOBODY";
  EXPECT_EQ(code(ask_as(wrong, "GET", "/photos")), "403 InvalidAccessKeyId");
  const sigv4::Signer alice = key_with({{.bucket = "*", .rights = {keys::Right::list}}});
  EXPECT_EQ(ask_as(alice, "GET", "/photos").status, 200);
  ASSERT_TRUE(http_.world.run(keys_.revoke(alice.access_key, http_.world.shard())));
  EXPECT_EQ(code(ask_as(alice, "GET", "/photos")), "403 InvalidAccessKeyId");
}

TEST_F(S3Test, AKeyThatHasExpiredIsNone) {
  keys::NewKey wanted{.rules = {{.bucket = "*", .rights = {keys::Right::list}}}};
  wanted.expires_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(now().time_since_epoch()).count() +
      60'000;
  const auto made = http_.world.run(keys_.create(wanted, http_.world.shard()));
  const sigv4::Signer alice{.access_key = made->id, .secret = made->secret, .region = "leat"};
  EXPECT_EQ(ask_as(alice, "GET", "/photos").status, 200);
  http_.world.run_for(std::chrono::minutes(2));
  EXPECT_EQ(code(ask_as(alice, "GET", "/photos")), "403 InvalidAccessKeyId");
}

TEST_F(S3Test, Abuse45RulesAreOfBucketsAndPrefixes) {
  ASSERT_EQ(put("mine/a", "1").status, 200);
  ASSERT_EQ(put("other", "2").status, 200);
  ASSERT_EQ(ask("PUT", "/secret-bucket").status, 200);
  using keys::Right;
  const sigv4::Signer alice =
      key_with({{.bucket = "photos", .prefix = "mine/", .rights = {Right::read, Right::write}}});
  EXPECT_EQ(ask_as(alice, "GET", "/photos/mine/a").body, "1");
  EXPECT_EQ(ask_as(alice, "PUT", "/photos/mine/b", {}, "x").status, 200);
  EXPECT_EQ(ask_as(alice, "DELETE", "/photos/mine/b").status, 204);
  const std::string denied = "403 AccessDenied";
  for (const std::string target :
       {"/photos/other", "/photos/none", "/photos/mine", "/nobucket/a", "/secret-bucket/mine/a",
        "/photos?prefix=mine/", "/photos", "/photos?list-type=2", "/photos?uploads",
        "/secret-bucket?location", "/photos/mine%2F..%2F..%2Fother2",
        "/photos/other?uploadId=1&max-parts=1"}) {
    EXPECT_EQ(code(ask_as(alice, "GET", target)), denied) << target;
  }
  EXPECT_EQ(code(ask_as(alice, "GET", "/photos/mine/none")), denied)
      << "without the right to list nobody learns what is not there";
  EXPECT_EQ(code(ask_as(alice, "DELETE", "/photos/other")), denied);
  EXPECT_EQ(code(ask_as(alice, "DELETE", "/photos/other?uploadId=0000000000000001")), denied);
  EXPECT_EQ(code(ask_as(alice, "PUT", "/photos")), denied);
  EXPECT_EQ(code(ask_as(alice, "PUT", "/new-bucket")), denied);
  EXPECT_EQ(code(ask_as(alice, "DELETE", "/photos")), denied);
  EXPECT_EQ(ask_as(alice, "HEAD", "/secret-bucket").status, 403);
  EXPECT_EQ(ask_as(alice, "HEAD", "/photos").status, 200);
  EXPECT_EQ(elements(ask_as(alice, "GET", "/"), "Name"), std::vector<std::string>{"photos"});

  const Reply deleted = ask_as(alice, "POST", "/photos?delete", {},
                               "<Delete><Object><Key>other</Key></Object>"
                               "<Object><Key>mine/a</Key></Object></Delete>");
  EXPECT_EQ(element(deleted, "Code"), "AccessDenied");
  EXPECT_EQ(elements(deleted, "Key"), (std::vector<std::string>{"other", "mine/a"}));
  EXPECT_EQ(ask("GET", "/photos/other").body, "2");
  EXPECT_EQ(ask("GET", "/photos/mine/a").status, 404);
}

TEST_F(S3Test, Abuse44CopiesNeedRightsAtBothEnds) {
  ASSERT_EQ(put("in/a", "1").status, 200);
  ASSERT_EQ(put("hidden/a", "2").status, 200);
  using keys::Right;
  const sigv4::Signer alice =
      key_with({{.bucket = "photos", .prefix = "in/", .rights = {Right::read}},
                {.bucket = "photos", .prefix = "out/", .rights = {Right::write, Right::read}}});
  const auto copy = [&](const std::string& to, const std::string& from) {
    return code(ask_as(alice, "PUT", "/photos/" + to, {{"x-amz-copy-source", from}}));
  };
  EXPECT_EQ(copy("out/a", "/photos/in/a"), "200 (none)");
  EXPECT_EQ(copy("out/a", "photos/hidden/a"), "403 AccessDenied");
  EXPECT_EQ(copy("out/a", "photos/in%2F..%2Fhidden/a"), "403 AccessDenied")
      << "below the prefix, but not there";
  EXPECT_EQ(copy("in/b", "photos/in/a"), "403 AccessDenied");
  const std::string upload = element(ask_as(alice, "POST", "/photos/out/m?uploads"), "UploadId");
  const std::string part = "/photos/out/m?partNumber=1&uploadId=" + upload;
  EXPECT_EQ(code(ask_as(alice, "PUT", part, {{"x-amz-copy-source", "photos/hidden/a"}})),
            "403 AccessDenied");
  EXPECT_EQ(ask_as(alice, "PUT", part, {{"x-amz-copy-source", "photos/in/a"}}).status, 200);
}

// Buckets.

TEST_F(S3Test, ARefusedNameIsToldItsRule) {
  const auto rule = [&](const std::string& name) { return element(ask("PUT", name), "Message"); };
  EXPECT_NE(rule("/ab").find("3 to 63"), std::string::npos);
  EXPECT_NE(rule("/My_Photos").find("lower-case"), std::string::npos) << rule("/My_Photos");
  EXPECT_NE(rule("/photos-").find("begins and ends"), std::string::npos);
  EXPECT_NE(rule("/a..b").find("between letters"), std::string::npos);
  EXPECT_NE(rule("/192.168.5.4").find("IP address"), std::string::npos);
  EXPECT_NE(rule("/xn--abc").find("xn--"), std::string::npos);
  EXPECT_NE(rule("/abc-s3alias").find("-s3alias"), std::string::npos);
}

TEST_F(S3Test, ADenialSaysWhyAndTellsNothingOfWhatIsThere) {
  ASSERT_EQ(put("secret", "x").status, 200);
  const auto nobody = [&](const std::string& target) {
    return element(send("GET", target, {{"Host", "server"}}, ""), "Message");
  };
  EXPECT_NE(nobody("/photos/secret").find("no credentials"), std::string::npos);
  EXPECT_EQ(nobody("/photos/secret"), nobody("/photos/missing"));
  EXPECT_EQ(nobody("/photos/secret"), nobody("/missing/missing"));
  using keys::Right;
  const auto alice = key_with({{.bucket = "photos", .prefix = "a/", .rights = {Right::read}}});
  const auto key = [&](const std::string& target) {
    const Reply refused = ask_as(alice, "GET", target);
    EXPECT_EQ(code(refused), "403 AccessDenied") << target;
    return element(refused, "Message");
  };
  EXPECT_NE(key("/photos/secret").find("leat key list"), std::string::npos);
  EXPECT_EQ(key("/photos/secret"), key("/photos/missing"));
  EXPECT_EQ(key("/photos/secret"), key("/photos/a/missing")) << "may be read, not listed";
  EXPECT_EQ(key("/photos/secret"), key("/missing/missing"));
}

TEST_F(S3Test, BucketsComeAndGo) {
  EXPECT_EQ(code(ask("PUT", "/photos")), "409 BucketAlreadyOwnedByYou");
  EXPECT_EQ(code(ask("PUT", "/Bad_Name")), "400 InvalidBucketName");
  EXPECT_EQ(code(ask("PUT", "/metrics/")), "400 InvalidBucketName");
  const std::string here =
      "<CreateBucketConfiguration xmlns=\"x\"><LocationConstraint>leat</LocationConstraint>"
      "</CreateBucketConfiguration>";
  EXPECT_EQ(ask("PUT", "/second", {}, here).status, 200);
  const std::string there =
      "<CreateBucketConfiguration><LocationConstraint>mars</LocationConstraint>"
      "</CreateBucketConfiguration>";
  EXPECT_EQ(code(ask("PUT", "/third", {}, there)), "400 InvalidLocationConstraint");
  EXPECT_EQ(elements(ask("GET", "/"), "Name"), (std::vector<std::string>{"photos", "second"}));
  const Reply page = ask("GET", "/?max-buckets=1");
  EXPECT_EQ(elements(page, "Name"), std::vector<std::string>{"photos"});
  const std::string token =
      http1::percent_encode(element(page, "ContinuationToken"), http1::Slash::encode);
  EXPECT_EQ(elements(ask("GET", "/?continuation-token=" + token), "Name"),
            std::vector<std::string>{"second"});
  EXPECT_NE(ask("GET", "/photos?location").body.find(">leat</LocationConstraint>"),
            std::string::npos);
  EXPECT_EQ(ask("HEAD", "/photos").field("x-amz-bucket-region"), "leat");
  EXPECT_EQ(ask("HEAD", "/none").status, 404);
  EXPECT_EQ(ask("DELETE", "/second").status, 204);
  EXPECT_EQ(code(ask("DELETE", "/second")), "404 NoSuchBucket");
  ASSERT_EQ(put("k", "v").status, 200);
  EXPECT_EQ(code(ask("DELETE", "/photos")), "409 BucketNotEmpty");
}

}  // namespace
}  // namespace leat::s3
