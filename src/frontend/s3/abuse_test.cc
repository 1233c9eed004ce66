// Cases of the abuse list at the door of the S3 API; tests/abuse_cases.md has them all.
#include "s3/s3_fixture_test.h"

namespace leat::s3 {
namespace {

// The older signature: in a header, in a query, and in a form.
TEST_F(S3Test, Abuse08UnsignedBodiesOverPlainHttpCanBeRefused) {
  const std::string unsigned_word = "UNSIGNED-PAYLOAD";
  ASSERT_EQ(ask_as(signer_, "PUT", "/photos/k", {}, "body", unsigned_word).status, 200);
  api_->tools().options.requires_signed_payload = true;
  EXPECT_EQ(code(ask_as(signer_, "PUT", "/photos/k", {}, "other", unsigned_word)),
            "403 AccessDenied");
  const Fields streamed = {{"x-amz-decoded-content-length", "5"},
                           {"Content-Encoding", "aws-chunked"},
                           {"x-amz-trailer", "x-amz-checksum-crc32"}};
  EXPECT_EQ(code(ask_as(signer_, "PUT", "/photos/k", streamed, "5\r\nother\r\n0\r\n\r\n",
                        "STREAMING-UNSIGNED-PAYLOAD-TRAILER")),
            "403 AccessDenied");
  // What has no body has nothing to protect.
  EXPECT_EQ(ask_as(signer_, "GET", "/photos/k", {}, "", unsigned_word).body, "body");
  EXPECT_EQ(put("k", "signed").status, 200);
}

TEST_F(S3Test, Abuse11TheOlderSignatureOpensNothing) {
  ASSERT_EQ(put("k", "v").status, 200);
  const Fields header = {{"Host", "server"},
                         {"Date", "Tue, 27 Mar 2007 19:36:42 +0000"},
                         {"Authorization", "AWS " + signer_.access_key + ":c2lnbmF0dXJl"}};
  EXPECT_EQ(code(send("GET", "/photos/k", header, "")), "400 InvalidRequest");
  const std::string query =
      "/photos/k?AWSAccessKeyId=" + signer_.access_key + "&Signature=c2ln&Expires=99999999999";
  EXPECT_EQ(code(send("GET", query, {{"Host", "server"}}, "")), "400 InvalidRequest");
}

// Abuse cases 11 and 50: forms are not there, so nothing of one is believed, whatever it holds.
TEST_F(S3Test, Abuse50FormsAreRefusedWhole) {
  const std::string form =
      "--x\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\nstolen\r\n"
      "--x\r\nContent-Disposition: form-data; name=\"AWSAccessKeyId\"\r\n\r\n" +
      signer_.access_key +
      "\r\n--x\r\nContent-Disposition: form-data; name=\"policy\"\r\n\r\ne30=\r\n"
      "--x\r\nContent-Disposition: form-data; name=\"signature\"\r\n\r\nAAAA\r\n"
      "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\nbytes\r\n"
      "--x--\r\n";
  const Fields fields = {{"Host", "server"}, {"Content-Type", "multipart/form-data; boundary=x"}};
  for (const std::string_view target : {"/photos", "/photos/", "/photos/k"}) {
    EXPECT_EQ(code(send("POST", target, fields, form)), "501 NotImplemented") << target;
    EXPECT_EQ(code(ask("POST", std::string(target), {fields[1]}, form)), "501 NotImplemented");
  }
  EXPECT_EQ(objects(), 0U);
}

TEST_F(S3Test, Abuse18And46SessionTokensGiveNothing) {
  ASSERT_EQ(put("k", "v").status, 200);
  EXPECT_EQ(code(ask("GET", "/photos/k", {{"x-amz-security-token", "of a session"}})),
            "403 AccessDenied");
  EXPECT_EQ(code(ask("GET", "/photos/k")), "200 (none)");
}

TEST_F(S3Test, Abuse27AnUploadThatBreaksLeavesNothing) {
  const std::string upload = element(ask("POST", "/photos/m?uploads"), "UploadId");
  const std::string whole(300'000, 'x');
  for (const std::string& target :
       {std::string("/photos/k"), "/photos/m?partNumber=1&uploadId=" + upload}) {
    for (const std::size_t cut :
         {std::size_t{0}, std::size_t{1}, std::size_t{150'000}, whole.size() - 1}) {
      RawClient client(http_);
      client.send(signed_head("PUT", target, whole) + whole.substr(0, cut));
      http_.world.run_for(std::chrono::milliseconds(50));
      client.leave();
      http_.world.run_for(std::chrono::seconds(1));
    }
  }
  EXPECT_EQ(code(ask("GET", "/photos/k")), "404 NoSuchKey");
  EXPECT_TRUE(elements(ask("GET", "/photos/m?uploadId=" + upload), "PartNumber").empty());
  EXPECT_EQ(objects(), 0U);
  EXPECT_EQ(rig_.buffers().in_use(), 0U);
}

TEST_F(S3Test, Abuse31BadCredentialsAreRefusedBeforeTheBody) {
  sigv4::Signer wrong = signer_;
  wrong.secret = "wrong";
  RawClient client(http_);
  client.send(signed_head("PUT", "/photos/k", std::string(1'000'000, 'x'), wrong,
                          {{"Expect", "100-continue"}}));
  ASSERT_TRUE(client.wait_answers(1));
  EXPECT_EQ(client.received().find("100 Continue"), std::string::npos);
  EXPECT_EQ(client.received().substr(0, 12), "HTTP/1.1 403");
  EXPECT_EQ(objects(), 0U);
}

TEST_F(S3Test, Abuse33RangesOfObjects) {
  ASSERT_EQ(put("k", "0123456789").status, 200);
  std::string thousand = "bytes=0-0";
  for (int i = 1; i < 1000; ++i)
    thousand += fmt::format(",{}-{}", i % 10, i % 10);
  for (const std::string& text :
       {thousand, std::string("bytes=0-1,1-2"), std::string("bytes=5-2"), std::string("lines=1-2"),
        std::string("bytes=--1"), std::string("bytes=0x1-2")}) {
    const Reply whole = ask("GET", "/photos/k", {{"Range", text}});
    EXPECT_EQ(whole.status, 200) << text.substr(0, 40);
    EXPECT_EQ(whole.body, "0123456789");
  }
  for (const std::string text : {"bytes=-0", "bytes=10-", "bytes=18446744073709551616-"})
    EXPECT_EQ(code(ask("GET", "/photos/k", {{"Range", text}})), "416 InvalidRange") << text;
  EXPECT_EQ(ask("GET", "/photos/k", {{"Range", "bytes=9-99999999999999999999999"}}).body, "9");
}

TEST_F(S3Test, Abuse34WhatComesBackInFieldsCannotSplitThem) {
  for (const std::string name : {"x-amz-meta-a", "x-amz-meta-a%0d%0ab"}) {
    const std::string value = name.size() == 12 ? "a%0d%0aSet-Cookie:%20x" : "a";
    const Reply stored = ask("PUT", "/photos/k?" + name + "=" + value, {}, "x");
    EXPECT_EQ(stored.status, 400) << stored.body;
  }
  EXPECT_EQ(objects(), 0U);
  const Reply missing = ask("GET", "/photos/a%0d%0aSet-Cookie:%20x");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.field("set-cookie"), "(none)");
}

// The address that a region names is not asked for anything; it is no address at all.
TEST_F(S3Test, Abuse55TheRegionOfASignatureIsCompared) {
  for (const std::string region : {"us-east-1@evil.example", "evil.example/", "", "..", "LEAT"}) {
    sigv4::Signer odd = signer_;
    odd.region = region;
    EXPECT_EQ(ask_as(odd, "GET", "/photos").status, 400) << region;
  }
}

TEST_F(S3Test, Abuse59PartsAndUploadsAreBounded) {
  const std::string upload = element(ask("POST", "/photos/m?uploads"), "UploadId");
  const auto part = [&](const std::string& number) {
    return code(ask("PUT", "/photos/m?partNumber=" + number + "&uploadId=" + upload, {}, "x"));
  };
  EXPECT_EQ(part("10000"), "200 (none)");
  for (const std::string number : {"0", "10001", "-1", "18446744073709551617", "1x", ""})
    EXPECT_EQ(part(number), "400 InvalidArgument") << number;
  std::string many = "<CompleteMultipartUpload>";
  for (int i = 0; i < 10'001; ++i)
    many += "<Part><ETag>a</ETag><PartNumber>1</PartNumber></Part>";
  EXPECT_EQ(
      ask("POST", "/photos/m?uploadId=" + upload, {}, many + "</CompleteMultipartUpload>").status,
      400);
}

TEST_F(S3Test, Abuse60AHostileListingIsOnePage) {
  for (int i = 0; i < 1200; ++i)
    ASSERT_EQ(put(fmt::format("deep/{:04}", i), "").status, 200);
  ASSERT_EQ(put("z", "").status, 200);
  const Reply grouped = ask("GET", "/photos?list-type=2&delimiter=/&max-keys=1000");
  EXPECT_EQ(element(grouped, "KeyCount"), "2") << "the folder is one name, not 1200";
  EXPECT_EQ(element(grouped, "IsTruncated"), "false");
  EXPECT_EQ(elements(ask("GET", "/photos?max-keys=1000000000"), "Key").size(), 1000U);
  EXPECT_EQ(code(ask("GET", "/photos?max-keys=99999999999999999999")), "400 InvalidArgument");
  const std::string odd(900, 'd');
  EXPECT_EQ(ask("GET", "/photos?prefix=" + odd + "&delimiter=" + odd).status, 200);
  EXPECT_EQ(element(ask("GET", "/photos?list-type=2&delimiter=eep/"), "KeyCount"), "2")
      << "any text is a delimiter";
}

TEST_F(S3Test, Abuse62AFullDiskTakesNothingAndServesTheRest) {
  ASSERT_EQ(put("there", "x").status, 200);
  for (std::size_t i = 0; i < rig_.disk_count(); ++i) {
    const auto space = rig_.disk(i).space("d" + std::to_string(i));
    rig_.disk(i).set_capacity(space->total_bytes - space->available_bytes + 10);
  }
  for (const std::size_t size : {std::size_t{10}, std::size_t{300'000}})
    EXPECT_EQ(code(put("k", std::string(size, 'x'))), "507 InsufficientStorage") << size;
  EXPECT_EQ(ask("GET", "/photos/there").body, "x");
  EXPECT_EQ(code(ask("GET", "/photos/k")), "404 NoSuchKey");
}

}  // namespace
}  // namespace leat::s3
