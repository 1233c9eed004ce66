// Trailers of aws-chunked bodies (abuse case 23).
#include "s3body/body_fixture_test.h"

namespace leat::s3body {
namespace {

const std::string kSeed = "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e";
const std::string kName = "x-amz-checksum-crc32";
const std::string kTrailer = kName + ":NhCmhg==";

ChunkFraming framing_of(PayloadKind kind, std::uint64_t size,
                        const std::vector<std::string>& trailers) {
  return {.kind = kind, .decoded_size = size, .trailers = trailers};
}

Decoded decode_unsigned(std::string_view tail, const std::vector<std::string>& trailers = {kName}) {
  return decode(framing_of(PayloadKind::stream_unsigned_trailer, 5, trailers), std::nullopt,
                "5\r\nhello\r\n0\r\n" + std::string(tail));
}

// "hello" in one signed chunk with what follows the last one.
Decoded decode_signed(std::string_view tail, const std::vector<std::string>& trailers = {kName}) {
  ChunkChain chain = chain_from(kSeed);
  std::string text = signed_chunk(chain, "hello");
  text += signed_chunk(chain, "");
  return decode(framing_of(PayloadKind::stream_signed_trailer, 5, trailers), chain_from(kSeed),
                text + std::string(tail));
}

std::string signature_of(std::string_view trailers) {
  ChunkChain chain = chain_from(kSeed);
  (void)signed_chunk(chain, "hello");
  (void)signed_chunk(chain, "");
  return "x-amz-trailer-signature:" + chain.trailer(trailers);
}

TEST(ChunkTrailers, TakesTheSignedStreamOfTheAwsExample) {
  const std::string text =
      "10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2\r\n" +
      std::string(65536, 'a') +
      "\r\n"
      "400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7\r\n" +
      std::string(1024, 'a') +
      "\r\n"
      "0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n"
      "x-amz-checksum-crc32c:sOO8/Q==\r\n"
      "x-amz-trailer-signature:"
      "d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n";
  const Decoded decoded =
      decode(framing_of(PayloadKind::stream_signed_trailer, 66560, {"x-amz-checksum-crc32c"}),
             chain_from(kSeed), text);
  EXPECT_EQ(decoded.verdict, "ok");
  EXPECT_EQ(decoded.payload.size(), 66560U);
  EXPECT_EQ(
      decoded.trailers,
      (std::vector<std::pair<std::string, std::string>>{{"x-amz-checksum-crc32c", "sOO8/Q=="}}));
}

TEST(ChunkTrailers, TakesWhatEachClientWrites) {
  EXPECT_EQ(decode_unsigned(kTrailer + "\r\n\r\n").verdict, "ok");    // boto3, SDK-JS
  EXPECT_EQ(decode_unsigned(kTrailer + "\n\r\n\r\n").verdict, "ok");  // minio-go
  const std::string signature = signature_of(kTrailer + "\n");
  EXPECT_EQ(decode_signed(kTrailer + "\r\n" + signature + "\r\n\r\n").verdict, "ok");
  EXPECT_EQ(decode_signed(kTrailer + "\n\r\n" + signature + "\r\n\r\n").verdict, "ok");  // minio-go
  EXPECT_EQ(decode_unsigned("X-Amz-Checksum-CRC32: NhCmhg== \r\n\r\n").trailers.at(0),
            (std::pair<std::string, std::string>(kName, "NhCmhg==")));
}

TEST(ChunkTrailers, Abuse23NotAnnouncedAbsentTwiceOrMalformed) {
  const std::string end = "\r\n\r\n";
  EXPECT_EQ(decode_unsigned(kTrailer + end, {}).verdict, "MalformedTrailerError");
  EXPECT_EQ(decode_unsigned("\r\n").verdict, "MalformedTrailerError");
  EXPECT_EQ(decode_unsigned("x-amz-checksum-crc32c:mnG7TA==" + end).verdict,
            "MalformedTrailerError");
  EXPECT_EQ(decode_unsigned(kTrailer + "\r\n" + kTrailer + end).verdict, "MalformedTrailerError");
  EXPECT_EQ(
      decode_unsigned(kTrailer + "\r\n" + kTrailer + end, {kName, "x-amz-checksum-sha1"}).verdict,
      "MalformedTrailerError");
  EXPECT_EQ(decode_unsigned(kTrailer + "\r\nx-amz-meta-a:b" + end).verdict,
            "MalformedTrailerError");
  EXPECT_EQ(decode_unsigned("nonsense" + end).verdict, "MalformedTrailerError");
  EXPECT_EQ(decode_unsigned(": " + end).verdict, "MalformedTrailerError");
  EXPECT_EQ(decode_unsigned(kName + " :NhCmhg==" + end).verdict, "MalformedTrailerError");
  EXPECT_EQ(decode_unsigned(kTrailer + "\r\nx-amz-trailer-signature:ff" + end).verdict,
            "MalformedTrailerError");
  EXPECT_EQ(decode_unsigned(kName + ":" + std::string(300, 'A') + end).verdict, "InvalidRequest");
  EXPECT_EQ(decode_unsigned(kName + ":Nh\x01" + end).verdict, "InvalidRequest");
}

TEST(ChunkTrailers, Abuse19TheSignatureOfTheTrailers) {
  const std::string good = signature_of(kTrailer + "\n");
  const std::string end = "\r\n\r\n";
  EXPECT_EQ(decode_signed("x-amz-checksum-crc32:AAAAAA==\r\n" + good + end).verdict,
            "SignatureDoesNotMatch");
  EXPECT_EQ(decode_signed(kTrailer + "\r\nx-amz-trailer-signature:" + end).verdict,
            "SignatureDoesNotMatch");
  EXPECT_EQ(decode_signed(kTrailer + end).verdict, "IncompleteBody");  // it may still come
  EXPECT_EQ(decode_signed(kTrailer + "\r\n\r\n\r\n").verdict, "MalformedTrailerError");
  EXPECT_EQ(decode_signed("\r\n").verdict, "MalformedTrailerError");
  EXPECT_EQ(decode_signed(good + "\r\n" + kTrailer + end).verdict, "SignatureDoesNotMatch");
  EXPECT_EQ(decode_signed(signature_of("") + end).verdict, "MalformedTrailerError");
  EXPECT_EQ(decode_signed(signature_of("") + end, {}).verdict, "ok");
  EXPECT_EQ(decode_signed(signature_of("") + "\r\n" + kTrailer + end).verdict,
            "MalformedTrailerError");
  EXPECT_EQ(decode_signed(kTrailer + "\r\n" + good + "\r\n" + good + end).verdict,
            "MalformedTrailerError");
}

}  // namespace
}  // namespace leat::s3body
