#include "s3body/chunk_decoder.h"

#include "s3body/body_fixture_test.h"

namespace leat::s3body {
namespace {

const std::string kSeed = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";

ChunkFraming signed_framing(std::uint64_t size) {
  return {.kind = PayloadKind::stream_signed, .decoded_size = size};
}
ChunkFraming unsigned_framing(std::uint64_t size) {
  return {.kind = PayloadKind::stream_unsigned_trailer, .decoded_size = size};
}
std::string verdict(const ChunkFraming& framing, std::string_view text) {
  return decode(framing, std::nullopt, text).verdict;
}

const std::string kBig(8192, 'a');

TEST(ChunkDecoder, TakesTheSignedStreamOfTheAwsExample) {
  const std::string text =
      "10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n" +
      std::string(65536, 'a') +
      "\r\n"
      "400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n" +
      std::string(1024, 'a') +
      "\r\n"
      "0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n";
  EXPECT_EQ(text.size(), 66824U);  // the Content-Length of the example
  const Decoded decoded = decode(signed_framing(66560), chain_from(kSeed), text);
  EXPECT_EQ(decoded.verdict, "ok");
  EXPECT_EQ(decoded.payload, std::string(66560, 'a'));
}

TEST(ChunkDecoder, TakesEmptyBodies) {
  EXPECT_EQ(
      decode(signed_framing(0), chain_from(kSeed), signed_body(chain_from(kSeed), {})).verdict,
      "ok");
  EXPECT_EQ(verdict(unsigned_framing(0), "0\r\n\r\n"), "ok");
}

TEST(ChunkDecoder, HandsOutThePayloadWhereItLies) {
  ChunkDecoder decoder(unsigned_framing(5), std::nullopt);
  const std::string text = "5\r\nhello\r\n0\r\n\r\n";
  const auto step = decoder.step(as_bytes(text));
  ASSERT_TRUE(step);
  EXPECT_EQ(step->consumed, 8U);
  EXPECT_EQ(static_cast<const void*>(step->payload.data()), text.data() + 3);
}

TEST(ChunkDecoder, Abuse19TheChainBreaks) {
  const std::string other(8192, 'b');
  ChunkChain chain = chain_from(kSeed);
  const std::string first = signed_chunk(chain, kBig);
  const std::string second = signed_chunk(chain, other);
  const std::string last = signed_chunk(chain, "") + "\r\n";
  const auto judge = [](const std::string& text) {
    return decode(signed_framing(16384), chain_from(kSeed), text).verdict;
  };
  EXPECT_EQ(judge(first + second + last), "ok");
  EXPECT_EQ(judge(second + first + last), "SignatureDoesNotMatch");  // swapped
  EXPECT_EQ(judge(first + first + last), "SignatureDoesNotMatch");   // repeated
  EXPECT_EQ(judge(first + second), "IncompleteBody");                // last one dropped
  EXPECT_EQ(judge(first + last), "IncompleteBody");                  // one left out
  std::string changed = first + second + last;
  changed[first.size() - 3] = 'x';  // the last byte of the first payload
  EXPECT_EQ(judge(changed), "SignatureDoesNotMatch");
  changed = first + second + last;
  changed[changed.size() - 5] ^= 1;  // the last signature
  EXPECT_EQ(judge(changed), "SignatureDoesNotMatch");
  EXPECT_EQ(decode(signed_framing(16384), chain_from(std::string(64, '0')), first + second + last)
                .verdict,
            "SignatureDoesNotMatch");  // of another request
}

TEST(ChunkDecoder, Abuse19AChunkWithoutItsSignature) {
  const std::string signature(64, 'f');
  for (const std::string& head :
       {std::string("2000"), std::string("2000;"), "2000;signature=" + signature,
        "2000;chunk-signature" + signature, "2000 ;chunk-signature=" + signature,
        "2000; chunk-signature=" + signature}) {
    std::string text = head;
    text.append("\r\n").append(kBig).append("\r\n");
    EXPECT_EQ(decode(signed_framing(8192), chain_from(kSeed), text).verdict, "InvalidRequest")
        << head;
  }
  for (const std::string& value : {std::string(), signature, signature + "0", signature + ";x=1"}) {
    std::string text = "2000;chunk-signature=" + value;
    text.append("\r\n").append(kBig).append("\r\n");
    EXPECT_EQ(decode(signed_framing(8192), chain_from(kSeed), text).verdict,
              "SignatureDoesNotMatch")
        << value;
  }
}

TEST(ChunkDecoder, Abuse20Sizes) {
  for (const std::string size : {"", "-1", "+5", "0x5", "5 ", " 5", "g", "10000000000000000",
                                 "00000000000000005", "5;x", "5;", "5.0"}) {
    EXPECT_EQ(verdict(unsigned_framing(5), size + "\r\nhello\r\n0\r\n\r\n"), "InvalidRequest")
        << size;
  }
  for (const std::string size : {"ffffffffffffffff", "400000000", "6"})  // the second: 16 GiB
    EXPECT_EQ(verdict(unsigned_framing(5), size + "\r\nhello\r\n0\r\n\r\n"), "IncompleteBody");
  EXPECT_EQ(verdict(unsigned_framing(5), "0000000000000005\r\nhello\r\n000\r\n\r\n"), "ok");
  EXPECT_EQ(verdict(unsigned_framing(10), "A\r\nhellohello\r\n0\r\n\r\n"), "ok");
}

TEST(ChunkDecoder, Abuse20OnlyTheLastChunkMayBeSmall) {
  const auto chunk = [](std::size_t size) {
    return hex_size(size) + "\r\n" + std::string(size, 'x') + "\r\n";
  };
  const std::string last = "0\r\n\r\n";
  EXPECT_EQ(verdict(unsigned_framing(8192 + 1), chunk(8192) + chunk(1) + last), "ok");
  EXPECT_EQ(verdict(unsigned_framing(8191 + 1), chunk(8191) + chunk(1) + last),
            "InvalidChunkSizeError");
  ChunkDecoder decoder(unsigned_framing(10000), std::nullopt);
  std::string payload;
  const auto status = push_all(decoder, chunk(8192) + chunk(5) + chunk(7), 1000, payload);
  ASSERT_FALSE(status);
  using Details = decltype(status.error().details);
  EXPECT_EQ(status.error().details, (Details{{"Chunk", "2"}, {"BadChunkSize", "5"}}));
}

TEST(ChunkDecoder, Abuse21DecodedLengthMismatchBothWays) {
  const std::string text = "5\r\nhello\r\n0\r\n\r\n";
  EXPECT_EQ(verdict(unsigned_framing(5), text), "ok");
  EXPECT_EQ(verdict(unsigned_framing(4), text), "IncompleteBody");
  EXPECT_EQ(verdict(unsigned_framing(6), text), "IncompleteBody");
  EXPECT_EQ(verdict(unsigned_framing(0), text), "IncompleteBody");
}

TEST(ChunkDecoder, Abuse25MalformedFraming) {
  const std::string_view bodies[] = {
      "hello\r\n",
      "5\nhello\r\n0\r\n\r\n",
      "5\r\nhello\n0\r\n\r\n",
      "5\r\nhello0\r\n\r\n",
      "5\r\nhelloo\r\n0\r\n\r\n",
      "5\r\nhello\r\n\r\n0\r\n\r\n",
      "5\r\nhello\r\n0\n\r\n",
      "5\r\nhello\r\n0\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      "5\r\nhello\r\n0\r\n\r\nx\n",
      "5\r\nhello\r\n0\r\n\r\nx",
      "5\r\nhello\r\n0\r\n\r\n\r\n\r\n",
      "5\r\nhello\r\n0\r\n\r\n\n",
      "5\r\r\nhello\r\n0\r\n\r\n",
  };
  for (const std::string_view body : bodies)
    EXPECT_EQ(verdict(unsigned_framing(5), body), "InvalidRequest") << body;
  const std::string endless(300, '0');
  EXPECT_EQ(verdict(unsigned_framing(5), endless), "InvalidRequest");
}

TEST(ChunkDecoder, Abuse25EveryCutIsIncomplete) {
  const std::string text = "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n";
  ChunkFraming framing = unsigned_framing(5);
  framing.trailers = {"x-amz-checksum-crc32"};
  EXPECT_EQ(verdict(framing, text), "ok");
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_EQ(verdict(framing, text.substr(0, size)), "IncompleteBody") << size;
}

TEST(ChunkDecoder, NothingFollowsASignedEnd) {
  const std::string text = signed_body(chain_from(kSeed), {"hello"});
  for (const std::string tail : {"\r\n", "x\r\n", "x-amz-checksum-crc32:NhCmhg==\r\n"}) {
    EXPECT_EQ(decode(signed_framing(5), chain_from(kSeed), text + tail).verdict, "InvalidRequest")
        << tail;
  }
}

}  // namespace
}  // namespace leat::s3body
