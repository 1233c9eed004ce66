#include "s3body/plan.h"

#include "sigv4/fixture_test.h"

namespace leat::s3body {
namespace {

using hash::ChecksumAlgorithm;
using sigv4::PayloadKind;
using sigv4::Sent;

const std::string kSize = "x-amz-decoded-content-length: 5";

S3Result<UploadPlan> plan(std::string_view word, std::vector<std::string> fields,
                          HttpFraming framing = {.content_length = 100},
                          const std::string& query = "") {
  fields.insert(fields.begin(), "Host: h");
  const Sent sent("PUT /b/k" + query, fields);
  const auto request = sent.request();
  return plan_upload(request, sigv4::payload_from(word).value(), framing);
}
std::string verdict(const S3Result<UploadPlan>& result) {
  return result ? "ok" : std::string(s3error::text_of(result.error().code));
}

constexpr std::string_view kTrailerWord = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
constexpr std::string_view kPlainWord = "UNSIGNED-PAYLOAD";

TEST(UploadPlan, APlainBodyIsAsLongAsHttpSays) {
  const auto one = plan(kPlainWord, {kSize});
  EXPECT_EQ(one->size, 100U);
  EXPECT_EQ(one->checksum, ChecksumAlgorithm::crc64nvme);
  EXPECT_FALSE(one->checksum_is_chosen);
  EXPECT_EQ(plan(kPlainWord, {}, {.chunked = true})->size, std::nullopt);
}

TEST(UploadPlan, Abuse22DecodedLengthIsRequiredOfStreams) {
  EXPECT_EQ(plan(kTrailerWord, {kSize})->size, 5U);
  EXPECT_EQ(verdict(plan(kTrailerWord, {})), "MissingContentLength");
  for (const std::string value : {"", "-1", "5x", "18446744073709551616"})
    EXPECT_EQ(verdict(plan(kTrailerWord, {"x-amz-decoded-content-length: " + value})),
              "InvalidArgument");
  EXPECT_EQ(verdict(plan(kTrailerWord, {kSize, kSize})), "InvalidRequest");
  EXPECT_EQ(verdict(plan(kTrailerWord, {kSize}, {.content_length = 4})), "IncompleteBody");
}

TEST(UploadPlan, Abuse24NeitherLengthNorChunked) {
  for (const std::string_view word :
       {kPlainWord, kTrailerWord, std::string_view("STREAMING-AWS4-HMAC-SHA256-PAYLOAD")})
    EXPECT_EQ(verdict(plan(word, {kSize}, {})), "MissingContentLength") << word;
  EXPECT_EQ(verdict(plan(kTrailerWord, {kSize}, {.chunked = true})), "ok");
}

TEST(UploadPlan, ReadsTheChecksumOfTheHead) {
  const auto one =
      plan(kPlainWord, {"X-Amz-Checksum-Crc32: NhCmhg==", "x-amz-sdk-checksum-algorithm: CRC32",
                        "x-amz-checksum-mode: ENABLED"});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->checksum, ChecksumAlgorithm::crc32);
  EXPECT_EQ(one->expected_checksum->base64(), "NhCmhg==");
}

TEST(UploadPlan, ReadsTheChecksumOfAPresignedUrl) {
  const auto one = plan(kPlainWord, {}, {.content_length = 5},
                        "?x-amz-checksum-crc32=AAAAAA%3D%3D&x-amz-sdk-checksum-algorithm=CRC32");
  ASSERT_TRUE(one);
  EXPECT_TRUE(one->checksum_is_in_query);
  EXPECT_EQ(one->expected_checksum->base64(), "AAAAAA==");
}

TEST(UploadPlan, Abuse23ChecksumsThatContradictEachOther) {
  const std::string crc32 = "x-amz-checksum-crc32: NhCmhg==";
  const std::string crc32c = "x-amz-checksum-crc32c: mnG7TA==";
  const std::string trailer = "x-amz-trailer: x-amz-checksum-crc32";
  EXPECT_EQ(verdict(plan(kPlainWord, {crc32, crc32c})), "InvalidRequest");
  EXPECT_EQ(verdict(plan(kPlainWord, {crc32, crc32})), "InvalidRequest");
  EXPECT_EQ(verdict(plan(kPlainWord, {crc32}, {.content_length = 5},
                         "?x-amz-checksum-crc32=NhCmhg%3D%3D")),
            "InvalidRequest");
  EXPECT_EQ(verdict(plan(kTrailerWord, {kSize, trailer, crc32c})), "InvalidRequest");
  EXPECT_EQ(verdict(plan(kTrailerWord, {kSize, trailer + ", x-amz-checksum-sha1"})),
            "InvalidRequest");
  EXPECT_EQ(verdict(plan(kTrailerWord, {kSize, trailer, trailer})), "InvalidRequest");
  EXPECT_EQ(verdict(plan(kPlainWord, {crc32, "x-amz-sdk-checksum-algorithm: SHA256"})),
            "InvalidRequest");
  EXPECT_EQ(verdict(plan(kPlainWord, {crc32, "x-amz-sdk-checksum-algorithm: CRC31"})),
            "InvalidRequest");
  EXPECT_EQ(verdict(plan(kPlainWord, {"x-amz-sdk-checksum-algorithm: CRC32"})), "InvalidRequest");
  EXPECT_EQ(verdict(plan(kTrailerWord, {kSize, trailer, "x-amz-sdk-checksum-algorithm: CRC32C"})),
            "InvalidRequest");
  EXPECT_EQ(verdict(plan(kPlainWord, {trailer})), "InvalidRequest");
  EXPECT_EQ(verdict(plan(kTrailerWord, {kSize, "x-amz-trailer: x-amz-meta-a"})), "InvalidRequest");
  EXPECT_EQ(verdict(plan(kTrailerWord, {kSize, "x-amz-trailer: x-amz-checksum-mode"})),
            "InvalidRequest");
}

TEST(UploadPlan, Abuse23ValuesAndAlgorithmsThatAreNone) {
  for (const std::string value : {"", "NhCmhg", "M3eFcAZSQlc=", "????????"})
    EXPECT_EQ(verdict(plan(kPlainWord, {"x-amz-checksum-crc32: " + value})), "InvalidRequest");
  EXPECT_EQ(verdict(plan(kPlainWord, {"x-amz-checksum-xxhash64: AAAAAAAAAAA="})), "NotImplemented");
  EXPECT_EQ(verdict(plan(kTrailerWord, {kSize, "x-amz-trailer: x-amz-checksum-sha512"})),
            "NotImplemented");
}

TEST(UploadPlan, TrailersAreNamedInOneOrMoreFields) {
  const auto one = plan(kTrailerWord, {kSize, "X-Amz-Trailer: X-Amz-Checksum-Sha256 ,"});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->trailers, std::vector<std::string>{"x-amz-checksum-sha256"});
  EXPECT_EQ(one->checksum, ChecksumAlgorithm::sha256);
  EXPECT_EQ(plan(kTrailerWord, {kSize})->trailers.size(), 0U);
}

TEST(UploadPlan, ContentMd5IsSixteenBytesInBase64) {
  EXPECT_TRUE(plan(kPlainWord, {"Content-MD5: XUFAKrxLKna5cZ2REBfFkg=="})->content_md5);
  for (const std::string value : {"", "XUFAKrxLKna5cZ2REBfFkg", "NhCmhg==", "nonsense"})
    EXPECT_EQ(verdict(plan(kPlainWord, {"Content-MD5: " + value})), "InvalidDigest") << value;
}

TEST(StoredContentEncoding, ForgetsTheFramingAndKeepsTheRest) {
  EXPECT_EQ(stored_content_encoding("aws-chunked"), "");
  EXPECT_EQ(stored_content_encoding("gzip, aws-chunked"), "gzip");
  EXPECT_EQ(stored_content_encoding("AWS-Chunked,gzip , br"), "gzip, br");
  EXPECT_EQ(stored_content_encoding("gzip"), "gzip");
  EXPECT_EQ(stored_content_encoding(""), "");
}

}  // namespace
}  // namespace leat::s3body
