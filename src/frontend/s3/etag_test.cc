// ETags of buckets with etag=fast.
#include "s3/etag.h"

#include "hash/crc64nvme.h"
#include "s3/s3_fixture_test.h"

namespace leat::s3 {
namespace {

std::string fast(std::string_view body) {
  return fmt::format("{:016x}{:016x}-1", hash::crc64nvme(as_bytes(body)), body.size());
}

std::string md5(std::string_view body) {
  return to_hex(hash::Md5::of(as_bytes(body)));
}

class EtagTest : public S3Test {
 protected:
  void make_fast() { ASSERT_EQ(ask("PUT", "/photos?leat-etag", {}, "fast").status, 204); }
  static std::string etag(const Reply& reply) {
    return std::string(without_quotes(reply.field("etag")));
  }
};

TEST_F(EtagTest, TheKindIsSetShownAndSetBack) {
  EXPECT_EQ(ask("GET", "/photos?leat-etag").body, "md5");
  make_fast();
  EXPECT_EQ(ask("GET", "/photos?leat-etag").body, "fast");
  EXPECT_EQ(code(ask("PUT", "/photos?leat-etag", {}, "sha1")), "400 InvalidArgument");
  EXPECT_EQ(code(ask("PUT", "/none?leat-etag", {}, "fast")), "404 NoSuchBucket");
  ASSERT_EQ(ask("PUT", "/photos?leat-etag", {}, "md5").status, 204);
  EXPECT_EQ(ask("GET", "/photos?leat-etag").body, "md5");
  EXPECT_EQ(etag(put("a", "abc")), md5("abc"));
}

TEST_F(EtagTest, OnlyWhoAdministersSetsIt) {
  const auto writer = key_with({{.bucket = "photos", .rights = {keys::Right::write}}});
  EXPECT_EQ(code(ask_as(writer, "PUT", "/photos?leat-etag", {}, "fast")), "403 AccessDenied");
}

TEST_F(EtagTest, AFastOneIsNoMd5AndTheSameForTheSameContent) {
  make_fast();
  EXPECT_EQ(etag(put("a", "abc")), fast("abc"));
  EXPECT_EQ(etag(put("b", "abc")), fast("abc"));
  EXPECT_EQ(etag(put("empty", "")), fast(""));
  EXPECT_EQ(etag(ask("HEAD", "/photos/a")), fast("abc"));
  EXPECT_EQ(element(ask("GET", "/photos?prefix=a"), "ETag"), "&quot;" + fast("abc") + "&quot;");
  const Reply other = put("c", "abc", {{"x-amz-checksum-crc32", "NSRBwg=="}});
  EXPECT_EQ(other.status, 200) << other.body;
  EXPECT_EQ(etag(other), fast("abc")) << "whatever checksum the sender chose";
}

TEST_F(EtagTest, WhoSendsAnMd5HasItCheckedAndGetsIt) {
  make_fast();
  const std::string good = to_base64(hash::Md5::of(as_bytes(std::string_view("abc"))));
  EXPECT_EQ(etag(put("a", "abc", {{"Content-MD5", good}})), md5("abc"));
  EXPECT_EQ(code(put("b", "abd", {{"Content-MD5", good}})), "400 BadDigest");
  EXPECT_EQ(ask("HEAD", "/photos/b").status, 404);
}

TEST_F(EtagTest, ConditionsKnowFastOnes) {
  make_fast();
  ASSERT_EQ(put("a", "abc").status, 200);
  const std::string quoted = '"' + fast("abc") + '"';
  EXPECT_EQ(ask("GET", "/photos/a", {{"If-None-Match", quoted}}).status, 304);
  EXPECT_EQ(put("a", "abcd", {{"If-Match", quoted}}).status, 200);
  EXPECT_EQ(code(put("a", "abc", {{"If-Match", quoted}})), "412 PreconditionFailed");
}

TEST_F(EtagTest, CopiesHaveTheKindOfTheirBucket) {
  ASSERT_EQ(put("md5", "abc").status, 200);
  make_fast();
  const Reply copied = ask("PUT", "/photos/copy", {{"x-amz-copy-source", "photos/md5"}});
  EXPECT_EQ(element(copied, "ETag"), "&quot;" + fast("abc") + "&quot;");
}

TEST_F(EtagTest, PartsAreFastAndTheWholeCountsThem) {
  make_fast();
  const std::string upload = element(ask("POST", "/photos/m?uploads"), "UploadId");
  const std::string target = "/photos/m?uploadId=" + upload + "&partNumber=";
  const std::string large(5 * kMiB, 'x');
  const std::string first = etag(ask("PUT", target + "1", {}, large));
  EXPECT_EQ(first, fast(large));
  const Reply copied = ask("PUT", target + "2", {{"x-amz-copy-source", "photos/src"}});
  EXPECT_EQ(copied.status, 404);
  const std::string second = etag(ask("PUT", target + "2", {}, "end"));
  const Reply done =
      ask("POST", "/photos/m?uploadId=" + upload, {}, listing({{1, first}, {2, second}}));
  EXPECT_EQ(done.status, 200) << done.body;
  const std::string whole = etag(ask("HEAD", "/photos/m"));
  EXPECT_TRUE(whole.ends_with("-2")) << whole;
  EXPECT_EQ(whole.size(), 34U);
}

}  // namespace
}  // namespace leat::s3
