#include "s3/s3.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "base/encoding.h"
#include "http1/grammar.h"
#include "http1/uri.h"
#include "sigv4/sign.h"
#include "support/http_world.h"
#include "support/store_world.h"

namespace leat::s3 {
namespace {

using testing::Answer;
using testing::RawClient;
using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kEmpty;

class NoRouter final : public http::Router {
 public:
  Result<std::optional<http::Operation>> route(const http1::RequestHead&) const override {
    return std::nullopt;
  }
  std::string_view allowed(const http1::RequestHead&) const override { return ""; }
};

class StrangersOnly final : public http::Authenticator {
 public:
  std::expected<http::Credentials, http::Refusal> authenticate(const http1::RequestHead& head,
                                                               const io::Address&) const override {
    const auto field = head.headers.find(http1::Header::authorization);
    if (field == "Bearer the-token") return http::Credentials(http::AuthKind::admin_token);
    if (field) return std::unexpected(http::Refusal(Error(Errc::unauthenticated, "wrong")));
    return http::Credentials(http::AuthKind::same_machine);
  }
};

std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const std::size_t begin = text.find(before);
  if (begin == text.npos) return "(none)";
  const std::size_t end = text.find(after, begin + before.size());
  return text.substr(begin + before.size(), end - begin - before.size());
}

std::string element(const Answer& answer, const std::string& name) {
  return between(answer.body, "<" + name + ">", "</" + name + ">");
}

std::vector<std::string> elements(const Answer& answer, const std::string& name) {
  std::vector<std::string> found;
  const std::regex pattern("<" + name + ">([^<]*)</" + name + ">");
  for (auto at = std::sregex_iterator(answer.body.begin(), answer.body.end(), pattern);
       at != std::sregex_iterator(); ++at) {
    found.push_back((*at)[1]);
  }
  return found;
}

std::string code(const Answer& answer) {
  return fmt::format("{} {}", answer.status, element(answer, "Code"));
}

std::string listing(const std::vector<std::pair<int, std::string>>& parts) {
  std::string body = "<CompleteMultipartUpload>";
  for (const auto& [number, etag] : parts)
    body += fmt::format("<Part><ETag>{}</ETag><PartNumber>{}</PartNumber></Part>", etag, number);
  return body + "</CompleteMultipartUpload>";
}

class S3Test : public ::testing::Test {
 protected:
  S3Test() {
    EXPECT_TRUE(rig_.open());
    EXPECT_TRUE(rig_.disk(0).make_directories("/node"));
    const auto first = keys_.open(0);
    keys_.add(http_.world.shard(), pool_);
    signer_ = {.access_key = (*first)->id, .secret = (*first)->secret, .region = "leat"};
    api_ = std::make_unique<S3Api>(S3Api::Parts{.store = rig_.store(),
                                                .keys = keys_.on(http_.world.shard()),
                                                .token = token_,
                                                .clock = http_.world.clock("server"),
                                                .logger = *http_.logger,
                                                .options = {}});
    api_->install(http_.dispatcher);
    EXPECT_EQ(ask("PUT", "/photos").status, 200);
  }
  ~S3Test() override { http_.stop(); }

  static testing::HttpWorldOptions http_options(const http::Router& router) {
    testing::HttpWorldOptions options;
    options.router = &router;
    return options;
  }

  WallTime now() { return http_.world.clock("server").wall_now(); }

  sigv4::Signer key_with(std::vector<keys::Rule> rules) {
    keys::NewKey wanted{.name = "test", .rules = std::move(rules)};
    const auto made = http_.world.run(keys_.create(wanted, http_.world.shard()));
    return {.access_key = made->id, .secret = made->secret, .region = "leat"};
  }

  Answer send(std::string_view method, std::string_view target, const Fields& fields,
              std::string_view body) {
    RawClient client(http_);
    std::string text = fmt::format("{} {} HTTP/1.1\r\n", method, target);
    for (const auto& [name, value] : fields)
      text += name + ": " + value + "\r\n";
    const bool has_length = text.find("Transfer-Encoding") != text.npos;
    if (!has_length && (method == "PUT" || method == "POST" || !body.empty()))
      text += fmt::format("Content-Length: {}\r\n", body.size());
    return client.ask(text + "\r\n" + std::string(body), method == "HEAD" ? "H" : "");
  }

  // Signed by `signer`, with the hash of `body` or the word that is given.
  Answer ask_as(const sigv4::Signer& signer, std::string_view method, const std::string& target,
                Fields fields = {}, std::string_view body = "", std::string word = "") {
    fields.insert(fields.begin(), {"Host", "server"});
    if (word.empty()) word = to_hex(hash::Sha256::of(as_bytes(body)));
    const std::size_t mark = std::min(target.find('?'), target.size());
    sigv4::Request request{.method = method,
                           .path = http1::percent_decode(target.substr(0, mark)).value()};
    request.query = http1::parse_query(target.substr(std::min(mark + 1, target.size()))).value();
    for (const auto& [name, value] : fields)
      request.headers.push_back({name, value});
    for (auto& added : sigv4::sign_headers(request, signer, word, now()))
      fields.push_back(std::move(added));
    return send(method, target, fields, body);
  }
  Answer ask(std::string_view method, const std::string& target, Fields fields = {},
             std::string_view body = "") {
    return ask_as(signer_, method, target, std::move(fields), body);
  }
  Answer put(const std::string& key, std::string_view body, Fields fields = {}) {
    return ask("PUT", "/photos/" + key, std::move(fields), body);
  }
  std::size_t objects() {
    return rig_.run(rig_.store().counts(rig_.store().find_bucket("photos")->id))->objects;
  }

  NoRouter router_;
  StrangersOnly token_;
  testing::HttpWorld http_{http_options(router_)};
  test::StoreWorld rig_{http_.world, *http_.logger, 2};
  io::SeededRng rng_{7};
  rt::BlockingPool pool_{"sim", 0, 16};
  keys::KeyStore keys_{rig_.disk(0), rng_, "/node/keys.json"};
  sigv4::Signer signer_;
  std::unique_ptr<S3Api> api_;
};

// Who may ask.

TEST_F(S3Test, Abuse49NothingIsAnsweredWithoutASignature) {
  ASSERT_EQ(put("k", "secret").status, 200);
  const Fields plain = {{"Host", "server"}};
  for (const std::string_view target : {"/", "/photos", "/photos/k", "/photos/none", "/none/k"}) {
    for (const std::string_view method : {"GET", "PUT", "DELETE"}) {
      const Answer answer = send(method, target, plain, "");
      if (method != "GET" && target == "/") continue;
      EXPECT_EQ(code(answer), "403 AccessDenied") << method << " " << target;
    }
  }
  EXPECT_EQ(ask("GET", "/photos/k").body, "secret");
}

TEST_F(S3Test, ErrorsCarryTheRequestIdOfTheHead) {
  const Answer answer = ask("GET", "/photos/none");
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
  const Answer both = ask("GET", "/photos/k?X-Amz-Signature=00&X-Amz-Credential=other");
  EXPECT_EQ(code(both), "400 InvalidArgument");
  const Answer token_and_query = send("GET", "/photos/k?X-Amz-Signature=00",
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

  const Answer deleted = ask_as(alice, "POST", "/photos?delete", {},
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
  const Answer page = ask("GET", "/?max-buckets=1");
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

// Objects.

TEST_F(S3Test, AnObjectComesBackWithItsFields) {
  const Answer stored = put("k", "hello",
                            {{"Content-Type", "text/plain"},
                             {"Cache-Control", "no-cache"},
                             {"Content-Encoding", "gzip, aws-chunked"},
                             {"x-amz-meta-Owner", "Jürgen"},
                             {"x-amz-meta-empty", ""},
                             {"x-amz-tagging", "a=1&b=2"}});
  EXPECT_EQ(stored.field("etag"), "\"5d41402abc4b2a76b9719d911017c592\"");
  EXPECT_EQ(stored.field("x-amz-checksum-crc64nvme"), "M3eFcAZSQlc=");
  const Answer got = ask("GET", "/photos/k", {{"x-amz-checksum-mode", "enabled"}});
  EXPECT_EQ(got.body, "hello");
  EXPECT_EQ(got.field("content-type"), "text/plain");
  EXPECT_EQ(got.field("cache-control"), "no-cache");
  EXPECT_EQ(got.field("content-encoding"), "gzip");
  EXPECT_EQ(got.field("x-amz-meta-owner"), "Jürgen");
  EXPECT_EQ(got.field("x-amz-meta-empty"), "");
  EXPECT_EQ(got.field("x-amz-tagging-count"), "2");
  EXPECT_EQ(got.field("x-amz-checksum-crc64nvme"), "M3eFcAZSQlc=");
  EXPECT_EQ(got.field("x-amz-checksum-type"), "FULL_OBJECT");
  EXPECT_EQ(got.field("accept-ranges"), "bytes");
  EXPECT_EQ(ask("GET", "/photos/k?partNumber=1").status, 206);
  EXPECT_EQ(code(ask("GET", "/photos/k?partNumber=2")), "416 InvalidPartNumber");
  EXPECT_EQ(ask("GET", "/photos/k").field("x-amz-checksum-crc64nvme"), "(none)");
  const Answer head = ask("HEAD", "/photos/k");
  EXPECT_EQ(head.field("content-length"), "5");
  EXPECT_EQ(head.field("x-amz-meta-owner"), "Jürgen");
  ASSERT_EQ(put("k", "").status, 200);
  const Answer replaced = ask("GET", "/photos/k");
  EXPECT_EQ(replaced.body, kEmpty);
  EXPECT_EQ(replaced.field("x-amz-meta-owner"), "(none)") << "PUT replaces all metadata";
  EXPECT_EQ(replaced.field("content-type"), "binary/octet-stream");
}

TEST_F(S3Test, Abuse47WhatIsTheServersCannotBeSetByAClient) {
  const Fields fields = {{"x-leat-version", "9"},
                         {"x-leat-meta-a", "1"},
                         {"leat-parts", "1,1"},
                         {"leat-upload", "0000000000000001"},
                         {"x-amz-checksum-type", "COMPOSITE"},
                         {"Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"},
                         {"ETag", "\"mine\""}};
  ASSERT_EQ(put("k", "hello", fields).status, 200);
  const Answer got = ask("GET", "/photos/k", {{"x-amz-checksum-mode", "ENABLED"}});
  for (const std::string_view name :
       {"x-leat-version", "x-leat-meta-a", "leat-parts", "leat-upload"}) {
    EXPECT_EQ(got.field(name), "(none)") << name;
  }
  EXPECT_EQ(got.field("x-amz-checksum-type"), "FULL_OBJECT");
  EXPECT_EQ(got.field("etag"), "\"5d41402abc4b2a76b9719d911017c592\"");
  EXPECT_EQ(got.field("last-modified").find("1994"), std::string::npos);
  EXPECT_EQ(ask("GET", "/photos/k?partNumber=1").field("x-amz-mp-parts-count"), "(none)");
  const std::string body = listing({{1, "5d41402abc4b2a76b9719d911017c592"}});
  EXPECT_EQ(code(ask("POST", "/photos/k?uploadId=0000000000000001", {}, body)), "404 NoSuchUpload")
      << "nobody can pretend that an upload was completed";
}

TEST_F(S3Test, RangesConditionsAndOverrides) {
  const std::string etag = put("k", "0123456789").field("etag");
  const auto range = [&](const std::string& text) {
    return ask("GET", "/photos/k", {{"Range", text}});
  };
  EXPECT_EQ(range("bytes=2-4").body, "234");
  EXPECT_EQ(range("bytes=2-4").field("content-range"), "bytes 2-4/10");
  EXPECT_EQ(range("bytes=7-18446744073709551614").body, "789");
  EXPECT_EQ(range("bytes=-3").body, "789");
  EXPECT_EQ(code(range("bytes=10-")), "416 InvalidRange");
  EXPECT_EQ(range("bytes=0-1,3-4").status, 200);
  EXPECT_EQ(ask("GET", "/photos/k", {{"If-Match", etag}}).status, 200);
  EXPECT_EQ(code(ask("GET", "/photos/k", {{"If-Match", "\"x\""}})), "412 PreconditionFailed");
  const Answer unchanged = ask("GET", "/photos/k", {{"If-None-Match", etag}});
  EXPECT_EQ(unchanged.status, 304);
  EXPECT_EQ(unchanged.field("etag"), etag);
  const Answer other = ask("GET", "/photos/k?response-content-type=a/b&response-expires=never");
  EXPECT_EQ(other.field("content-type"), "a/b");
  EXPECT_EQ(other.field("expires"), "never");
  // Abuse case 34.
  const Answer split = ask("GET", "/photos/k?response-content-type=a%0d%0aSet-Cookie:%20x");
  EXPECT_EQ(code(split), "400 InvalidArgument");
  EXPECT_EQ(code(ask("GET", "/photos/k?response-expires=a%0d%0ab")), "400 InvalidArgument");
}

TEST_F(S3Test, ChangesHaveConditions) {
  EXPECT_EQ(code(put("k", "1", {{"If-Match", "\"x\""}})), "404 NoSuchKey");
  const std::string etag = put("k", "1", {{"If-None-Match", "*"}}).field("etag");
  EXPECT_EQ(code(put("k", "2", {{"If-None-Match", "*"}})), "412 PreconditionFailed");
  EXPECT_EQ(code(put("k", "2", {{"If-Match", "\"x\""}})), "412 PreconditionFailed");
  EXPECT_EQ(code(put("k", "2", {{"If-None-Match", etag}})), "501 NotImplemented");
  EXPECT_EQ(ask("GET", "/photos/k").body, "1");
  EXPECT_EQ(put("k", "3", {{"If-Match", etag}}).status, 200);
  EXPECT_EQ(ask("GET", "/photos/k").body, "3");
}

TEST_F(S3Test, DigestsThatDoNotMatchStoreNothing) {
  EXPECT_EQ(code(put("k", "hello", {{"Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="}})), "200 (none)");
  ASSERT_EQ(ask("DELETE", "/photos/k").status, 204);
  EXPECT_EQ(code(put("k", "hellO", {{"Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="}})),
            "400 BadDigest");
  EXPECT_EQ(code(put("k", "hello", {{"Content-MD5", "short"}})), "400 InvalidDigest");
  EXPECT_EQ(code(put("k", "hello", {{"x-amz-checksum-crc32", "AAAAAA=="}})), "400 BadDigest");
  EXPECT_EQ(objects(), 0U);
  EXPECT_EQ(put("k", "hello", {{"x-amz-checksum-crc32", "NhCmhg=="}}).field("x-amz-checksum-crc32"),
            "NhCmhg==");
}

// Abuse case 26: the one body reader stands behind every handler that takes a body.
TEST_F(S3Test, Abuse26StreamedBodiesAreTakenApartForObjectsAndPartsAndRefusedElsewhere) {
  const std::string body = "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n";
  const std::string wrong = "5\r\nhellO\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n";
  const std::string cut = "5\r\nhello\r\n";
  const std::string word = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
  const Fields fields = {{"x-amz-decoded-content-length", "5"},
                         {"x-amz-trailer", "x-amz-checksum-crc32"},
                         {"Content-Encoding", "aws-chunked"}};
  const std::string upload = element(ask("POST", "/photos/m?uploads"), "UploadId");
  for (const std::string& target :
       {std::string("/photos/k"), "/photos/m?partNumber=1&uploadId=" + upload}) {
    const Answer good = ask_as(signer_, "PUT", target, fields, body, word);
    EXPECT_EQ(good.status, 200) << good.body;
    EXPECT_EQ(good.field("x-amz-checksum-crc32"), "NhCmhg==");
    EXPECT_EQ(code(ask_as(signer_, "PUT", target, fields, wrong, word)), "400 BadDigest");
    EXPECT_EQ(code(ask_as(signer_, "PUT", target, fields, cut, word)), "400 IncompleteBody");
  }
  const Answer got = ask("GET", "/photos/k");
  EXPECT_EQ(got.body, "hello") << "the framing is no part of the object";
  EXPECT_EQ(got.field("content-encoding"), "(none)");
  for (const auto& [method, target] :
       {std::pair("POST", std::string("/photos?delete")), std::pair("PUT", std::string("/fourth")),
        std::pair("PUT", std::string("/photos/k?tagging")),
        std::pair("POST", "/photos/m?uploadId=" + upload)}) {
    EXPECT_EQ(code(ask_as(signer_, method, target, fields, body, word)), "400 InvalidRequest")
        << method << " " << target;
  }
}

TEST_F(S3Test, Abuse35And37OddKeysAreTheirBytes) {
  const std::vector<std::string> keys = {"a b",
                                         "a+b",
                                         "a%2Bb",
                                         "\xc3\xa4",
                                         "a\xcc\x88",
                                         "//",
                                         "..",
                                         "../x",
                                         "a/../b",
                                         "a//b",
                                         "..hidden",
                                         "a\\b",
                                         "<&'\">",
                                         std::string("nul\0nul", 7),
                                         "\x01",
                                         "A",
                                         "a",
                                         "a/",
                                         "s3://photos/a",
                                         std::string(1024, 'x')};
  for (const std::string& key : keys) {
    const std::string encoded = http1::percent_encode(key, http1::Slash::keep);
    ASSERT_EQ(put(encoded, "is " + key).status, 200) << encoded;
  }
  for (const std::string& key : keys) {
    const std::string encoded = http1::percent_encode(key, http1::Slash::keep);
    EXPECT_EQ(ask("GET", "/photos/" + encoded).body, "is " + key) << encoded;
  }
  EXPECT_EQ(objects(), keys.size());
  const Answer listed = ask("GET", "/photos?list-type=2&encoding-type=url");
  std::vector<std::string> sorted;
  for (const std::string& key : keys)
    sorted.push_back(key);
  std::ranges::sort(sorted);
  for (std::string& key : sorted)
    key = http1::percent_encode(key, http1::Slash::keep);
  EXPECT_EQ(elements(listed, "Key"), sorted);
  EXPECT_EQ(code(put(std::string(1025, 'x'), "")), "400 KeyTooLongError");
}

TEST_F(S3Test, Abuse43KeysAreEscapedInDocuments) {
  ASSERT_EQ(put("%3C%26%01%3E", "x").status, 200);
  const Answer listed = ask("GET", "/photos");
  EXPECT_EQ(element(listed, "Key"), "&lt;&amp;&#x1;&gt;");
  const Answer encoded = ask("GET", "/photos?encoding-type=url");
  EXPECT_EQ(element(encoded, "Key"), "%3C%26%01%3E");
}

TEST_F(S3Test, DeletingWhatIsNotThereSucceeds) {
  EXPECT_EQ(ask("DELETE", "/photos/none").status, 204);
  ASSERT_EQ(put("a", "1").status, 200);
  ASSERT_EQ(put("b", "1").status, 200);
  const std::string both =
      "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Object><Key>a</Key></Object>"
      "<Object><Key>none</Key></Object></Delete>";
  EXPECT_EQ(elements(ask("POST", "/photos?delete", {}, both), "Key"),
            (std::vector<std::string>{"a", "none"}));
  const Answer quiet = ask("POST", "/photos?delete", {},
                           "<Delete><Quiet>true</Quiet><Object><Key>b</Key></Object></Delete>");
  EXPECT_EQ(quiet.body.find("<Deleted>"), std::string::npos);
  EXPECT_EQ(objects(), 0U);
}

TEST_F(S3Test, Abuse41And42DocumentsThatAreNoneAreRefused) {
  ASSERT_EQ(put("a", "1").status, 200);
  std::string many = "<Delete>";
  for (int i = 0; i < 1001; ++i)
    many += "<Object><Key>k</Key></Object>";
  many += "</Delete>";
  std::string deep;
  for (int i = 0; i < 40; ++i)
    deep += "<Delete>";
  for (const std::string& body : std::vector<std::string>{
           "", "<Delete>", "<Delete></Delete>", "<Other><Object><Key>a</Key></Object></Other>",
           "<Delete><Object><Key>a</Key><Key>b</Key></Object></Delete>",
           "<Delete><Object></Object></Delete>", "<Delete><What/></Delete>",
           "<!DOCTYPE Delete [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>"
           "<Delete><Object><Key>&e;</Key></Object></Delete>",
           "<Delete><Object><Key>&lol;</Key></Object></Delete>", many, deep}) {
    EXPECT_EQ(code(ask("POST", "/photos?delete", {}, body)), "400 MalformedXML")
        << body.substr(0, 80);
  }
  EXPECT_EQ(code(ask("POST", "/photos?delete", {}, std::string(2 * kMiB + 1, ' '))),
            "400 MaxMessageLengthExceeded");
  EXPECT_EQ(objects(), 1U);
}

// Listings.

TEST_F(S3Test, ListingsGoPageByPage) {
  for (const std::string_view key : {"a", "boo/", "boo/1", "boo/2", "c", "d/1", "d/2", "e"})
    ASSERT_EQ(put(std::string(key), "x").status, 200);
  const auto all = [&](const std::string& query) {
    std::vector<std::string> seen;
    std::string token;
    for (int page = 0; page < 20; ++page) {
      const Answer answer = ask("GET", "/photos?list-type=2&" + query + token);
      EXPECT_EQ(answer.status, 200) << answer.body;
      std::vector<std::string> here = elements(answer, "Key");
      for (const std::string& group : elements(answer, "Prefix")) {
        if (answer.body.find("<CommonPrefixes><Prefix>" + group + "</Prefix>") != std::string::npos)
          here.push_back(group);
      }
      std::ranges::sort(here);
      EXPECT_EQ(element(answer, "KeyCount"), std::to_string(here.size()));
      seen.insert(seen.end(), here.begin(), here.end());
      if (element(answer, "IsTruncated") == "false") return seen;
      token = "&continuation-token=" +
              http1::percent_encode(element(answer, "NextContinuationToken"), http1::Slash::encode);
    }
    ADD_FAILURE() << "no end: " << query;
    return seen;
  };
  using Names = std::vector<std::string>;
  for (const std::string max : {"1", "2", "3", "1000"}) {
    EXPECT_EQ(all("max-keys=" + max),
              (Names{"a", "boo/", "boo/1", "boo/2", "c", "d/1", "d/2", "e"}));
    EXPECT_EQ(all("delimiter=/&max-keys=" + max), (Names{"a", "boo/", "c", "d/", "e"})) << max;
    EXPECT_EQ(all("prefix=boo/&delimiter=/&max-keys=" + max), (Names{"boo/", "boo/1", "boo/2"}));
  }
  EXPECT_EQ(all("start-after=c"), (Names{"d/1", "d/2", "e"}));
  EXPECT_EQ(element(ask("GET", "/photos?list-type=2&max-keys=0"), "IsTruncated"), "false");
  EXPECT_EQ(code(ask("GET", "/photos?list-type=2&max-keys=x")), "400 InvalidArgument");
  EXPECT_EQ(code(ask("GET", "/photos?list-type=2&continuation-token=AAAA")), "400 InvalidArgument");
  EXPECT_EQ(code(ask("GET", "/photos?encoding-type=x")), "400 InvalidArgument");
  const Answer v1 = ask("GET", "/photos?delimiter=/&max-keys=2");
  EXPECT_EQ(element(v1, "NextMarker"), "boo/");
  EXPECT_EQ(elements(ask("GET", "/photos?delimiter=/&marker=boo/"), "Key"), (Names{"c", "e"}));
  EXPECT_NE(v1.body.find("<Owner>"), std::string::npos);
  EXPECT_EQ(ask("GET", "/photos?list-type=2").body.find("<Owner>"), std::string::npos);
  EXPECT_NE(ask("GET", "/photos?list-type=2&fetch-owner=true").body.find("<Owner>"),
            std::string::npos);
}

// Copies.

TEST_F(S3Test, CopiesKeepOrReplaceMetadata) {
  const Fields meta = {{"Content-Type", "a/b"}, {"x-amz-meta-x", "1"}, {"x-amz-tagging", "t=1"}};
  ASSERT_EQ(put("a%20b", "hello", meta).status, 200);
  const Fields from = {{"x-amz-copy-source", "/photos/a%20b"}};
  const Answer copied = ask("PUT", "/photos/c", from);
  EXPECT_EQ(copied.status, 200) << copied.body;
  EXPECT_EQ(element(copied, "ETag"), "&quot;5d41402abc4b2a76b9719d911017c592&quot;");
  EXPECT_EQ(ask("GET", "/photos/c").body, "hello");
  EXPECT_EQ(ask("GET", "/photos/c").field("x-amz-meta-x"), "1");
  EXPECT_EQ(ask("GET", "/photos/c").field("content-type"), "a/b");
  EXPECT_EQ(ask("GET", "/photos/c").field("x-amz-tagging-count"), "1");
  EXPECT_EQ(code(ask("PUT", "/photos/a%20b", from)), "400 InvalidRequest");
  Fields replacing = from;
  replacing.push_back({"x-amz-metadata-directive", "REPLACE"});
  replacing.push_back({"x-amz-meta-x", "2"});
  EXPECT_EQ(ask("PUT", "/photos/a%20b", replacing).status, 200);
  EXPECT_EQ(ask("GET", "/photos/a%20b").body, "hello");
  EXPECT_EQ(ask("GET", "/photos/a%20b").field("x-amz-meta-x"), "2");
  EXPECT_EQ(ask("GET", "/photos/a%20b").field("content-type"), "binary/octet-stream");
  const auto refused = [&](Fields fields) { return code(ask("PUT", "/photos/d", fields)); };
  EXPECT_EQ(refused({{"x-amz-copy-source", "photos/none"}}), "404 NoSuchKey");
  EXPECT_EQ(refused({{"x-amz-copy-source", "none/a"}}), "404 NoSuchBucket");
  EXPECT_EQ(refused({{"x-amz-copy-source", "photos"}}), "400 InvalidArgument");
  EXPECT_EQ(refused({{"x-amz-copy-source", "photos/c?versionId=7"}}), "400 InvalidArgument");
  EXPECT_EQ(refused({{"x-amz-copy-source", "photos/c?versionId=00000000000000010000000000000001"}}),
            "404 NoSuchVersion");
  EXPECT_EQ(refused({{"x-amz-copy-source", "photos/c"}, {"x-amz-copy-source-if-match", "x"}}),
            "412 PreconditionFailed");
  EXPECT_EQ(refused({{"x-amz-copy-source", "photos/c"},
                     {"x-amz-copy-source-if-none-match", "5d41402abc4b2a76b9719d911017c592"}}),
            "412 PreconditionFailed");
}

// Uploads in parts.

TEST_F(S3Test, AnUploadInPartsBecomesOneObject) {
  const std::string a(5 * kMiB, 'A');
  const std::string upload =
      element(ask("POST", "/photos/m?uploads",
                  {{"Content-Type", "a/b"}, {"x-amz-checksum-algorithm", "CRC32"}}),
              "UploadId");
  const auto target = [&](int number) {
    return fmt::format("/photos/m?partNumber={}&uploadId={}", number, upload);
  };
  const Answer last = ask("PUT", target(7), {}, "tail");
  ASSERT_EQ(last.status, 200) << last.body;
  const Answer first = ask("PUT", target(2), {}, a);
  EXPECT_EQ(first.field("x-amz-checksum-crc32"), "JRTCyQ==");
  ASSERT_EQ(ask("PUT", target(9), {}, "dropped").status, 200);
  const std::string complete = "/photos/m?uploadId=" + upload;
  const std::string e2 = first.field("etag");
  const std::string e7 = last.field("etag");
  EXPECT_EQ(code(ask("POST", complete, {}, listing({{7, e7}, {2, e2}}))), "400 InvalidPartOrder");
  EXPECT_EQ(code(ask("POST", complete, {}, listing({{2, e7}}))), "400 InvalidPart");
  EXPECT_EQ(code(ask("POST", complete, {}, listing({{3, e2}}))), "400 InvalidPart");
  EXPECT_EQ(code(ask("POST", complete, {}, listing({}))), "400 MalformedXML");
  EXPECT_EQ(code(ask("POST", complete, {}, listing({{2, e2}, {7, e7}, {9, e7}}))),
            "400 InvalidPart");
  const Answer parts = ask("GET", "/photos/m?uploadId=" + upload + "&max-parts=2");
  EXPECT_EQ(elements(parts, "PartNumber"), (std::vector<std::string>{"2", "7"}));
  EXPECT_EQ(element(parts, "IsTruncated"), "true");
  EXPECT_EQ(elements(ask("GET", "/photos?uploads"), "UploadId"), std::vector<std::string>{upload});
  EXPECT_EQ(objects(), 0U);

  const Answer done = ask("POST", complete, {}, listing({{2, e2}, {7, e7}}));
  EXPECT_EQ(done.status, 200) << done.body;
  EXPECT_EQ(element(done, "ChecksumType"), "COMPOSITE");
  const Answer again = ask("POST", complete, {}, listing({{2, e2}, {7, e7}}));
  EXPECT_EQ(again.body, done.body) << "a client that asks again gets the same answer";
  const Answer got = ask("GET", "/photos/m");
  EXPECT_EQ(got.body, a + "tail");
  EXPECT_EQ(got.field("content-type"), "a/b");
  EXPECT_TRUE(got.field("etag").ends_with("-2\"")) << got.field("etag");
  EXPECT_EQ("&quot;" + got.field("etag").substr(1, got.field("etag").size() - 2) + "&quot;",
            element(done, "ETag"));
  const Answer part = ask("GET", "/photos/m?partNumber=2");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "tail");
  EXPECT_EQ(part.field("x-amz-mp-parts-count"), "2");
  EXPECT_EQ(ask("GET", "/photos?uploads").body.find("<Upload>"), std::string::npos);
}

struct WholeChecksum {
  std::string algorithm;
  std::string type;
  std::string expected;
};

// The values are those of an independent program.
TEST_F(S3Test, TheChecksumOfTheWholeIsMadeOfThoseOfItsParts) {
  const WholeChecksum cases[] = {
      {"", "", "i+6LR0y3eFo="},
      {"CRC64NVME", "FULL_OBJECT", "i+6LR0y3eFo="},
      {"CRC32", "", "Z+ry2Q==-3"},
      {"CRC32", "FULL_OBJECT", "WgDhBQ=="},
      {"CRC32C", "COMPOSITE", "g9DPqQ==-3"},
      {"CRC32C", "FULL_OBJECT", "xU+Krw=="},
      {"SHA256", "", "uWBwpe1dxI4Vw8Gf0X9ynOdw/SS6VBzfWm9giiv1sf4=-3"},
  };
  for (const WholeChecksum& one : cases) {
    Fields fields;
    if (!one.algorithm.empty()) fields.push_back({"x-amz-checksum-algorithm", one.algorithm});
    if (!one.type.empty()) fields.push_back({"x-amz-checksum-type", one.type});
    const std::string upload = element(ask("POST", "/photos/abc?uploads", fields), "UploadId");
    std::vector<std::pair<int, std::string>> parts;
    for (int number = 1; number <= 3; ++number) {
      const std::string data(5 * kMiB, static_cast<char>('A' + number - 1));
      const std::string target =
          fmt::format("/photos/abc?partNumber={}&uploadId={}", number, upload);
      parts.emplace_back(number, ask("PUT", target, {}, data).field("etag"));
    }
    const std::string name = one.algorithm.empty() ? "CRC64NVME" : one.algorithm;
    std::string header = "x-amz-checksum-" + name;
    std::ranges::transform(header, header.begin(), http1::to_lower);
    const std::string complete = "/photos/abc?uploadId=" + upload;
    const Answer wrong = ask("POST", complete, {{header, "AAAAAA=="}}, listing(parts));
    EXPECT_EQ(code(wrong), "400 BadDigest") << one.algorithm;
    const Answer done = ask("POST", complete, {{header, one.expected}}, listing(parts));
    ASSERT_EQ(done.status, 200) << done.body;
    EXPECT_EQ(element(done, "Checksum" + name), one.expected) << one.algorithm << one.type;
    EXPECT_EQ(element(done, "ETag"), "&quot;b2add96cc9702bbf4efb0ccdfc6b7747-3&quot;");
    const Answer head = ask("HEAD", "/photos/abc", {{"x-amz-checksum-mode", "ENABLED"}});
    EXPECT_EQ(head.field(header), one.expected);
  }
  for (const auto& [algorithm, type] :
       {std::pair("CRC64NVME", "COMPOSITE"), std::pair("SHA1", "FULL_OBJECT"),
        std::pair("SHA256", "FULL_OBJECT"), std::pair("CRC32", "OTHER"), std::pair("MD4", "")}) {
    Fields fields = {{"x-amz-checksum-algorithm", algorithm}};
    if (*type != '\0') fields.push_back({"x-amz-checksum-type", type});
    EXPECT_EQ(code(ask("POST", "/photos/abc?uploads", fields)), "400 InvalidRequest") << algorithm;
  }
}

TEST_F(S3Test, APartWithAnotherChecksumThanItsUploadIsRefused) {
  const std::string upload =
      element(ask("POST", "/photos/m?uploads", {{"x-amz-checksum-algorithm", "SHA1"}}), "UploadId");
  const std::string target = "/photos/m?partNumber=1&uploadId=" + upload;
  EXPECT_EQ(code(ask("PUT", target, {{"x-amz-checksum-crc32", "NhCmhg=="}}, "hello")),
            "400 InvalidRequest");
  EXPECT_EQ(ask("PUT", target, {}, "hello").field("x-amz-checksum-sha1"),
            "qvTGHdzF6KLavt4PO0gs2a6pQ00=");
}

TEST_F(S3Test, TheLargestDocumentsAreTaken) {
  std::string thousand = "<Delete>";
  for (int i = 0; i < 1000; ++i)
    thousand += fmt::format("<Object><Key>{:01024}</Key></Object>", i);
  const Answer deleted = ask("POST", "/photos?delete", {}, thousand + "</Delete>");
  EXPECT_EQ(deleted.status, 200) << deleted.body.substr(0, 300);
  EXPECT_EQ(elements(deleted, "Key").size(), 1000U);
  const std::string upload = element(ask("POST", "/photos/m?uploads"), "UploadId");
  std::string all = "<CompleteMultipartUpload>";
  for (int i = 1; i <= 10'000; ++i) {
    all += fmt::format(
        "<Part><ETag>&quot;{:032}&quot;</ETag><ChecksumSHA256>{:043}=</ChecksumSHA256>"
        "<PartNumber>{}</PartNumber></Part>",
        i, i, i);
  }
  EXPECT_EQ(
      code(ask("POST", "/photos/m?uploadId=" + upload, {}, all + "</CompleteMultipartUpload>")),
      "400 InvalidPart")
      << "read to its end: there are no such parts";
}

TEST_F(S3Test, SmallPartsAreRefusedAndAbortedUploadsLeaveNothing) {
  const std::string upload = element(ask("POST", "/photos/m?uploads"), "UploadId");
  const auto target = [&](int number) {
    return fmt::format("/photos/m?partNumber={}&uploadId={}", number, upload);
  };
  const std::string e1 = ask("PUT", target(1), {}, "x").field("etag");
  const std::string e2 = ask("PUT", target(2), {}, "y").field("etag");
  const std::string whole = "/photos/m?uploadId=" + upload;
  EXPECT_EQ(code(ask("POST", whole, {}, listing({{1, e1}, {2, e2}}))), "400 EntityTooSmall");
  EXPECT_EQ(code(ask("PUT", target(0), {}, "x")), "400 InvalidArgument");
  EXPECT_EQ(code(ask("PUT", target(10001), {}, "x")), "400 InvalidArgument");
  EXPECT_EQ(ask("DELETE", whole).status, 204);
  EXPECT_EQ(code(ask("DELETE", whole)), "404 NoSuchUpload");
  EXPECT_EQ(code(ask("PUT", target(1), {}, "x")), "404 NoSuchUpload");
  EXPECT_EQ(code(ask("POST", whole, {}, listing({{1, e1}}))), "404 NoSuchUpload");
  EXPECT_EQ(code(ask("GET", "/photos/m?uploadId=nonsense")), "404 NoSuchUpload");
  EXPECT_EQ(objects(), 0U);
}

TEST_F(S3Test, PartsCanBeCopied) {
  ASSERT_EQ(put("source", "0123456789").status, 200);
  const std::string upload = element(ask("POST", "/photos/m?uploads"), "UploadId");
  const std::string target = "/photos/m?partNumber=1&uploadId=" + upload;
  const auto copy = [&](const std::string& range) {
    return ask("PUT", target,
               {{"x-amz-copy-source", "photos/source"}, {"x-amz-copy-source-range", range}});
  };
  EXPECT_EQ(code(copy("bytes=2-")), "400 InvalidArgument");
  EXPECT_EQ(code(copy("2-3")), "400 InvalidArgument");
  EXPECT_EQ(code(copy("bytes=5-10")), "416 InvalidRange");
  const Answer copied = copy("bytes=2-5");
  ASSERT_EQ(copied.status, 200) << copied.body;
  const std::string etag = element(copied, "ETag");
  ASSERT_EQ(ask("POST", "/photos/m?uploadId=" + upload, {}, listing({{1, etag}})).status, 200);
  EXPECT_EQ(ask("GET", "/photos/m").body, "2345");
}

// Tags.

TEST_F(S3Test, TagsAreSetReadAndRemovedWithoutTouchingTheObject) {
  ASSERT_EQ(put("k", "hello", {{"x-amz-meta-x", "1"}}).status, 200);
  const std::string two =
      "<Tagging><TagSet><Tag><Key>a</Key><Value>1 &amp; 2</Value></Tag>"
      "<Tag><Key>b</Key><Value></Value></Tag></TagSet></Tagging>";
  EXPECT_EQ(ask("PUT", "/photos/k?tagging", {}, two).status, 200);
  const Answer got = ask("GET", "/photos/k?tagging");
  EXPECT_EQ(elements(got, "Value"), (std::vector<std::string>{"1 &amp; 2", ""}));
  EXPECT_EQ(ask("GET", "/photos/k").body, "hello") << "the object is not its tags";
  EXPECT_EQ(ask("GET", "/photos/k").field("x-amz-meta-x"), "1");
  EXPECT_EQ(ask("DELETE", "/photos/k?tagging").status, 204);
  EXPECT_TRUE(elements(ask("GET", "/photos/k?tagging"), "Key").empty());
  EXPECT_EQ(ask("GET", "/photos/k").body, "hello");
  const std::string twice =
      "<Tagging><TagSet><Tag><Key>a</Key><Value>1</Value></Tag>"
      "<Tag><Key>a</Key><Value>2</Value></Tag></TagSet></Tagging>";
  EXPECT_EQ(code(ask("PUT", "/photos/k?tagging", {}, twice)), "400 InvalidTag");
  EXPECT_EQ(code(ask("PUT", "/photos/none?tagging", {}, two)), "404 NoSuchKey");
}

}  // namespace
}  // namespace leat::s3
