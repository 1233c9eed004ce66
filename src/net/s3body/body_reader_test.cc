#include "s3body/body_reader.h"

#include "base/encoding.h"
#include "http1/chunked.h"
#include "s3body/body_fixture_test.h"

namespace leat::s3body {
namespace {

using hash::ChecksumAlgorithm;
using sigv4::Sent;

constexpr std::string_view kHelloSha256 =
    "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
const std::string kUnsignedBody = "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n";

struct Upload {
  std::string word = "UNSIGNED-PAYLOAD";
  std::vector<std::string> fields{};
  std::string query{};
  std::optional<ChunkChain> chain{};

  S3Result<BodyDigests> send(std::string_view body) const {
    std::vector<std::string> all = fields;
    all.insert(all.begin(), "Host: h");
    const Sent sent("PUT /b/k" + query, all);
    const auto request = sent.request();
    LEAT_TRY(const auto payload, sigv4::payload_from(word));
    const HttpFraming framing{.content_length = body.size()};
    LEAT_TRY(UploadPlan plan, plan_upload(request, payload, framing));
    LEAT_TRY(BodyReader reader, BodyReader::create(std::move(plan), chain));
    std::string object;
    LEAT_DO(push_all(reader, body, 3, object));
    return reader.finish();
  }
  std::string verdict(std::string_view body) const {
    const auto digests = send(body);
    return digests ? "ok" : std::string(s3error::text_of(digests.error().code));
  }
};

Upload stream(const std::string& size = "5") {
  return {
      .word = "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
      .fields = {"x-amz-decoded-content-length: " + size, "x-amz-trailer: x-amz-checksum-crc32"}};
}

TEST(BodyReader, GivesTheDigestsOfTheObject) {
  const auto plain = Upload().send("hello");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->size, 5U);
  EXPECT_EQ(to_base64(*plain->md5), "XUFAKrxLKna5cZ2REBfFkg==");
  EXPECT_EQ(plain->checksum.base64(), "M3eFcAZSQlc=");
  const auto streamed = stream().send(kUnsignedBody);
  ASSERT_TRUE(streamed) << streamed.error().message;
  EXPECT_EQ(streamed->md5, plain->md5);
  EXPECT_EQ(streamed->checksum.algorithm(), ChecksumAlgorithm::crc32);
}

TEST(BodyReader, Abuse08TheHashOfTheBodyIsTheSignedOne) {
  const Upload upload{.word = std::string(kHelloSha256)};
  EXPECT_EQ(upload.verdict("hello"), "ok");
  EXPECT_EQ(upload.verdict("hellp"), "XAmzContentSHA256Mismatch");
  EXPECT_EQ(upload.verdict(""), "XAmzContentSHA256Mismatch");
}

TEST(BodyReader, AWrongMd5OrChecksumIsABadDigest) {
  const Upload md5{.fields = {"Content-MD5: XUFAKrxLKna5cZ2REBfFkg=="}};
  EXPECT_EQ(md5.verdict("hello"), "ok");
  EXPECT_EQ(md5.verdict("hallo"), "BadDigest");
  const std::pair<std::string_view, std::string_view> checksums[] = {
      {"crc32", "NhCmhg=="},
      {"crc32c", "mnG7TA=="},
      {"crc64nvme", "M3eFcAZSQlc="},
      {"sha1", "qvTGHdzF6KLavt4PO0gs2a6pQ00="},
      {"sha256", "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="},
  };
  for (const auto& [name, value] : checksums) {
    const Upload upload{
        .fields = {"x-amz-checksum-" + std::string(name) + ": " + std::string(value)}};
    EXPECT_EQ(upload.verdict("hello"), "ok") << name;
    EXPECT_EQ(upload.verdict("hallo"), "BadDigest") << name;
  }
}

TEST(BodyReader, Abuse23AWrongTrailerIsABadDigest) {
  EXPECT_EQ(stream().verdict("5\r\nhallo\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n"),
            "BadDigest");
  EXPECT_EQ(stream().verdict("5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg\r\n\r\n"),
            "InvalidRequest");
  EXPECT_EQ(stream().verdict("5\r\nhello\r\n0\r\nx-amz-checksum-crc32:M3eFcAZSQlc=\r\n\r\n"),
            "InvalidRequest");
}

TEST(BodyReader, AStreamWithoutTrailerGetsTheDefaultChecksum) {
  Upload upload = stream();
  upload.fields.pop_back();
  const auto digests = upload.send("5\r\nhello\r\n0\r\n\r\n");
  ASSERT_TRUE(digests);
  EXPECT_EQ(digests->checksum.base64(), "M3eFcAZSQlc=");
}

TEST(BodyReader, TheChecksumOfAPresignedUrlComesWithAHint) {
  const Upload upload{.query = "?x-amz-checksum-crc32=AAAAAA%3D%3D"};
  const auto digests = upload.send("hello");
  ASSERT_FALSE(digests);
  EXPECT_EQ(digests.error().code, S3Code::bad_digest);
  EXPECT_NE(digests.error().message.find("WHEN_REQUIRED"), std::string::npos);
  EXPECT_EQ(upload.verdict(""), "ok");
}

TEST(BodyReader, Abuse21LengthsThatDoNotAgree) {
  EXPECT_EQ(stream("4").verdict(kUnsignedBody), "IncompleteBody");
  EXPECT_EQ(stream("6").verdict(kUnsignedBody), "IncompleteBody");
  auto reader = BodyReader::create({.payload = {}, .size = 5}, std::nullopt);
  ASSERT_TRUE(reader);
  EXPECT_TRUE(reader->step(as_bytes("hell")));
  EXPECT_EQ(reader->finish().error().code, S3Code::incomplete_body);
  EXPECT_EQ(reader->step(as_bytes("lo")).error().code, S3Code::incomplete_body);
}

TEST(BodyReader, Abuse07SignedChunksNeedAVerifiedRequest) {
  const std::string seed(64, '0');
  Upload upload{.word = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
                .fields = {"x-amz-decoded-content-length: 5"}};
  const std::string body = signed_body(chain_from(seed), {"hello"});
  EXPECT_EQ(upload.verdict(body), "AccessDenied");
  upload.chain = chain_from(seed);
  EXPECT_EQ(upload.verdict(body), "ok");
  upload.chain = chain_from(std::string(64, '1'));
  EXPECT_EQ(upload.verdict(body), "SignatureDoesNotMatch");
}

// The head is verified, and its signature is what the chain of the chunks starts from.
TEST(BodyReader, TakesTheStreamedUploadOfTheAwsExample) {
  const Sent sent(
      "PUT /examplebucket/chunkObject.txt",
      {"Host: s3.amazonaws.com", "x-amz-date: 20130524T000000Z",
       "x-amz-storage-class: REDUCED_REDUNDANCY",
       "x-amz-content-sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "Content-Encoding: aws-chunked",
       "x-amz-decoded-content-length: 66560", "Content-Length: 66824",
       sigv4::authorization("content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;"
                            "x-amz-decoded-content-length;x-amz-storage-class",
                            "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9")});
  const auto request = sent.request();
  const auto identity = sigv4::Judge()(request);
  ASSERT_TRUE(identity) << identity.error().message;
  const HttpFraming framing{.content_length = sent.head().content_length,
                            .chunked = sent.head().chunked};
  auto plan = plan_upload(request, identity->claim.payload, framing);
  ASSERT_TRUE(plan);
  const ChunkChain& chain = identity->chain;
  auto reader = BodyReader::create(*std::move(plan), chain);
  std::string object;
  const std::string body = signed_body(chain, {std::string(65536, 'a'), std::string(1024, 'a')});
  ASSERT_TRUE(push_all(*reader, body, 4096, object));
  ASSERT_TRUE(reader->finish());
  EXPECT_EQ(object, std::string(66560, 'a'));
}

// boto3 and SDK-JS put aws-chunked inside of HTTP's own chunked coding.
TEST(BodyReader, Abuse25NestedInTransferEncodingChunked) {
  std::string wire;
  for (std::size_t at = 0; at < kUnsignedBody.size(); at += 11) {
    const std::string_view piece = std::string_view(kUnsignedBody).substr(at, 11);
    wire.append(http1::ChunkHead(piece.size()).text()).append(piece).append(http1::kChunkEnd);
  }
  wire.append(http1::kLastChunk);
  UploadPlan plan{.payload = {.kind = PayloadKind::stream_unsigned_trailer},
                  .size = 5,
                  .checksum = ChecksumAlgorithm::crc32,
                  .trailers = {"x-amz-checksum-crc32"}};
  auto reader = BodyReader::create(std::move(plan), std::nullopt);
  http1::ChunkedDecoder outer;
  std::string object;
  for (Bytes rest = as_bytes(wire); !rest.empty();) {
    const auto step = outer.step(rest);
    ASSERT_TRUE(step);
    ASSERT_TRUE(push_all(*reader, as_text(step->payload), 100, object));
    rest = rest.subspan(step->consumed);
  }
  EXPECT_TRUE(outer.finished());
  EXPECT_TRUE(reader->finish());
  EXPECT_EQ(object, "hello");
}

}  // namespace
}  // namespace leat::s3body
