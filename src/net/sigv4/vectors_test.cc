// The examples of the AWS documentation, and canonical forms (abuse case 12).
#include "base/encoding.h"
#include "sigv4/canonical.h"
#include "sigv4/fixture_test.h"

namespace leat::sigv4 {
namespace {

const std::string kHost = "Host: examplebucket.s3.amazonaws.com";
const std::string kDate = "x-amz-date: " + std::string(kThen);
const std::string kNoBody = "x-amz-content-sha256: " + std::string(kEmptyHash);

TEST(SigV4Vectors, SigningKey) {
  const Scope scope{.date = "20130524", .region = "us-east-1", .service = "s3"};
  EXPECT_EQ(to_hex(derive_key(kSecret, scope).bytes),
            "dbb893acc010964918f1fd433add87c70e8b0db6be30c1fbeafefa5ec6ba8378");
}

TEST(SigV4Vectors, GetWithRange) {
  const Sent sent(
      "GET /test.txt",
      {kHost, "Range: bytes=0-9", kNoBody, kDate,
       authorization("host;range;x-amz-content-sha256;x-amz-date",
                     "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")});
  EXPECT_EQ(Judge().verdict(sent), "ok");
}

TEST(SigV4Vectors, PutWithStorageClass) {
  const Sent sent(
      "PUT /test%24file.text",
      {kHost, "Date: Fri, 24 May 2013 00:00:00 GMT", kDate,
       "x-amz-storage-class: REDUCED_REDUNDANCY",
       "x-amz-content-sha256: 44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
       authorization("date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                     "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")});
  EXPECT_EQ(Judge().verdict(sent), "ok");
}

TEST(SigV4Vectors, BucketRequests) {
  const std::string names = "host;x-amz-content-sha256;x-amz-date";
  const Sent lifecycle(
      "GET /?lifecycle",
      {kHost, kDate, kNoBody,
       authorization(names, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")});
  EXPECT_EQ(Judge().verdict(lifecycle), "ok");
  const Sent list(
      "GET /?max-keys=2&prefix=J",
      {kHost, kDate, kNoBody,
       authorization(names, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")});
  EXPECT_EQ(Judge().verdict(list), "ok");
}

TEST(SigV4Vectors, Presigned) {
  const Sent sent(
      "GET /test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256"
      "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
      "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
      "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
      {kHost});
  EXPECT_EQ(Judge().verdict(sent), "ok");
}

TEST(Canonical, Abuse12PathsAreEncodedOnceAndNeverNormalised) {
  const std::pair<std::string, std::string_view> paths[] = {
      {"/a%20b%2Bc%3D%C3%A9", "/a%20b%2Bc%3D%C3%A9"},
      {"/a+b", "/a%2Bb"},
      {"/%7Euser", "/~user"},
      {"/a%2fb", "/a/b"},
      {"/a//b/./c/../d", "/a//b/./c/../d"},
      {"/%252e%252e", "/%252e%252e"},
      {"/s3%3A//bucket/x", "/s3%3A//bucket/x"},
      {"/", "/"},
  };
  for (const auto& [sent, canonical] : paths)
    EXPECT_EQ(canonical_path(Sent("GET " + sent, {kHost}).request().path), canonical) << sent;
}

TEST(Canonical, Abuse12QueriesAreDecodedEncodedAndSorted) {
  const std::pair<std::string, std::string_view> queries[] = {
      {"b=2&a=1", "a=1&b=2"},
      {"a=2&a=1", "a=1&a=2"},
      {"uploads", "uploads="},
      {"uploads=", "uploads="},
      {"prefix=a/b&delimiter=/", "delimiter=%2F&prefix=a%2Fb"},
      {"a=b=c", "a=b%3Dc"},
      {"a=%20&b=+", "a=%20&b=%2B"},
      {"z=1&%C3%A9=1&A=1&a=1", "%C3%A9=1&A=1&a=1&z=1"},
      {"X-Amz-Signature=f&X-Amz-Date=d", "X-Amz-Date=d"},
      {"", ""},
  };
  for (const auto& [sent, canonical] : queries)
    EXPECT_EQ(canonical_query(Sent("GET /?" + sent, {kHost}).request().query), canonical) << sent;
}

TEST(Canonical, Abuse12HeaderValuesAreTrimmedFoldedAndJoined) {
  const Sent sent("GET /", {kHost, "X-Amz-Meta-A:   a  b \t c  ", "x-amz-meta-b: 1", "Other: x",
                            "X-AMZ-META-B: 2, 3", "x-amz-meta-c:"});
  const Request request = sent.request();
  EXPECT_EQ(canonical_value(request, "x-amz-meta-a"), "a b c");
  EXPECT_EQ(canonical_value(request, "x-amz-meta-b"), "1,2, 3");
  EXPECT_EQ(canonical_value(request, "x-amz-meta-c"), "");
}

TEST(Canonical, BadEscapesAreNoUri) {
  for (const std::string target : {"/%", "/%zz", "/a?b=%1", "/?%"}) {
    const Sent sent("GET " + target, {kHost});
    EXPECT_EQ(request_of(sent.head()).error().code, S3Code::invalid_uri) << target;
  }
}

}  // namespace
}  // namespace leat::sigv4
