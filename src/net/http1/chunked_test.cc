#include "http1/chunked.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat::http1 {
namespace {

using std::string_view_literals::operator""sv;

struct Decoded {
  std::string payload;
  std::vector<std::pair<std::string, std::string>> trailers;
  std::size_t consumed = 0;
  bool finished = false;
  std::optional<Errc> error;
};

Decoded decode(std::string_view text, std::size_t piece_size) {
  ChunkedDecoder decoder;
  Decoded result;
  while (!text.empty() && !decoder.finished()) {
    const std::string piece(text.substr(0, piece_size));
    const auto step = decoder.step(as_bytes(piece));
    if (!step) {
      EXPECT_FALSE(step.error().detail().empty());
      result.error = step.error().code();
      return result;
    }
    EXPECT_GT(step->consumed, 0u);
    result.payload.append(as_text(step->payload));
    result.consumed += step->consumed;
    text.remove_prefix(step->consumed);
    EXPECT_EQ(step->finished, decoder.finished());
  }
  result.finished = decoder.finished();
  if (!result.finished) return result;
  for (const HeaderField field : decoder.trailers()) {
    result.trailers.emplace_back(field.name, field.value);
  }
  return result;
}

void expect_refused(std::string_view why, std::string_view text) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, text.size()}) {
    EXPECT_EQ(decode(text, piece).error, Errc::bad_request) << why << ", pieces of " << piece;
  }
}

TEST(ChunkedDecoder, PiecesOfAnySizeGiveTheSamePayloadTrailersAndEnd) {
  constexpr std::string_view kBody =
      "5\r\nhello\r\n000A;ext=\"v\"\r\n, 23456789\r\n0;last\r\n"
      "x-amz-checksum-crc32: NhCmhg==\r\nX-Other:\tb \r\n\r\n";
  const std::string wire = std::string(kBody) + "GET / HTTP/1.1\r\n";
  for (std::size_t piece = 1; piece <= wire.size(); ++piece) {
    const Decoded result = decode(wire, piece);
    ASSERT_EQ(result.error, std::nullopt) << piece;
    ASSERT_TRUE(result.finished) << piece;
    ASSERT_EQ(result.payload, "hello, 23456789") << piece;
    ASSERT_EQ(result.consumed, kBody.size()) << piece;
    ASSERT_EQ(result.trailers, (std::vector<std::pair<std::string, std::string>>{
                                   {"x-amz-checksum-crc32", "NhCmhg=="}, {"X-Other", "b"}}));
  }
}

TEST(ChunkedDecoder, HandsOutPayloadWithoutCopyingIt) {
  const std::string wire = "5\r\nhello\r\n0\r\n\r\n";
  ChunkedDecoder decoder;
  const auto step = decoder.step(as_bytes(wire));
  ASSERT_TRUE(step.has_value());
  EXPECT_EQ(as_text(step->payload).data(), wire.data() + 3);
  EXPECT_EQ(as_text(step->payload), "hello");
  EXPECT_EQ(step->consumed, 8u);
}

TEST(ChunkedDecoder, LimitsOfASizeLineStartAnewWithEachChunk) {
  std::string wire;
  for (int i = 0; i < 40; ++i)
    wire += "0001;" + std::string(200, 'a') + "\r\nx\r\n";
  wire += "0\r\n\r\n";
  const Decoded result = decode(wire, wire.size());
  EXPECT_EQ(result.error, std::nullopt);
  EXPECT_EQ(result.payload, std::string(40, 'x'));
}

TEST(ChunkedDecoder, AnEmptyBodyIsABody) {
  const Decoded result = decode("0\r\n\r\n", 5);
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.payload, "");
  EXPECT_TRUE(result.trailers.empty());
}

TEST(ChunkedDecoder, ACutBodyIsNeitherFinishedNorWrong) {
  constexpr std::string_view kWire = "5\r\nhello\r\n0\r\na: b\r\n\r\n";
  for (std::size_t have = 0; have < kWire.size(); ++have) {
    const Decoded result = decode(kWire.substr(0, have), 4);
    EXPECT_FALSE(result.finished) << have;
    EXPECT_EQ(result.error, std::nullopt) << have;
  }
}

TEST(ChunkedDecoder, Abuse20RefusesSizesThatAreNotPlainHexadecimal) {
  expect_refused("0x", "0x5\r\nhello\r\n0\r\n\r\n");
  expect_refused("plus", "+5\r\nhello\r\n0\r\n\r\n");
  expect_refused("minus", "-5\r\nhello\r\n0\r\n\r\n");
  expect_refused("empty", "\r\nhello\r\n0\r\n\r\n");
  expect_refused("only an extension", ";a\r\nhello\r\n0\r\n\r\n");
  expect_refused("space before", " 5\r\nhello\r\n0\r\n\r\n");
  expect_refused("space after", "5 \r\nhello\r\n0\r\n\r\n");
  expect_refused("letter", "5g\r\nhello\r\n0\r\n\r\n");
  expect_refused("17 digits", "00000000000000005\r\nhello\r\n0\r\n\r\n");
  expect_refused("2^64", "10000000000000000\r\nhello\r\n0\r\n\r\n");
}

TEST(ChunkedDecoder, Abuse20TheLargestSizeIsHeldInSixtyFourBits) {
  const Decoded result = decode("ffffffffffffffff\r\nhello", 64);
  EXPECT_EQ(result.error, std::nullopt);
  EXPECT_EQ(result.payload, "hello");
  EXPECT_FALSE(result.finished);
}

TEST(ChunkedDecoder, Abuse28RequiresCrlfEverywhere) {
  expect_refused("bare LF after the size", "5\nhello\r\n0\r\n\r\n");
  expect_refused("bare CR after the size", "5\rhello\r\n0\r\n\r\n");
  expect_refused("bare LF after the data", "5\r\nhello\n0\r\n\r\n");
  expect_refused("bare CR after the data", "5\r\nhello\r0\r\n\r\n");
  expect_refused("longer than its size", "5\r\nhello!\r\n0\r\n\r\n");
  expect_refused("shorter than its size", "6\r\nhello\r\n0\r\n\r\n");
  expect_refused("bare LF after the last chunk", "0\n\r\n");
  expect_refused("bare LF at the end", "0\r\n\n");
  expect_refused("bare CR at the end", "0\r\n\rx");
}

TEST(ChunkedDecoder, Abuse28BoundsExtensionsOfAChunk) {
  const auto with_extension = [](std::size_t bytes) {
    return "1;" + std::string(bytes - 1, 'a') + "\r\nx\r\n0\r\n\r\n";
  };
  EXPECT_TRUE(decode(with_extension(256), 1000).finished);
  expect_refused("257 bytes", with_extension(257));
  expect_refused("NUL", "1;a\0b\r\nx\r\n0\r\n\r\n"sv);
  expect_refused("bare LF", "1;a\nb\r\nx\r\n0\r\n\r\n");
  expect_refused("bare CR", "1;a\rb\r\nx\r\n0\r\n\r\n");
}

TEST(ChunkedDecoder, Abuse28BoundsExtensionsOfABodyOfTinyChunks) {
  std::string wire;
  for (int i = 0; i < 100; ++i)
    wire += "1;" + std::string(200, 'a') + "\r\nx\r\n";
  wire += "0\r\n\r\n";
  expect_refused("20 000 bytes of extension around 100 bytes", wire);
}

TEST(ChunkedDecoder, ReadsTrailersWithTheGrammarOfHeaders) {
  expect_refused("folded", "0\r\na: b\r\n c\r\n\r\n");
  expect_refused("white space first", "0\r\n a: b\r\n\r\n");
  expect_refused("space before colon", "0\r\na : b\r\n\r\n");
  expect_refused("no colon", "0\r\nab\r\n\r\n");
  expect_refused("empty name", "0\r\n: b\r\n\r\n");
  expect_refused("NUL", "0\r\na: \0\r\n\r\n"sv);
  expect_refused("bare LF", "0\r\na: b\n\r\n");
  expect_refused("bare CR", "0\r\na: b\rc\r\n\r\n");
}

TEST(ChunkedDecoder, BoundsTrailers) {
  const auto with_fields = [](int count) {
    std::string wire = "0\r\n";
    for (int i = 0; i < count; ++i)
      wire += "a: b\r\n";
    return wire + "\r\n";
  };
  EXPECT_EQ(decode(with_fields(32), 1000).trailers.size(), 32u);
  expect_refused("33 fields", with_fields(33));
  const auto with_bytes = [](std::size_t bytes) {
    return "0\r\na:" + std::string(bytes - 6, 'b') + "\r\n\r\n";
  };
  EXPECT_TRUE(decode(with_bytes(8 * 1024), 100'000).finished);
  expect_refused("one byte more than 8 KiB", with_bytes(8 * 1024 + 1));
  expect_refused("a line without end", "0\r\na:" + std::string(9 * 1024, 'b'));
}

TEST(ChunkedDecoder, RefusesTrailersThatWouldChangeTheHead) {
  for (const std::string_view name :
       {"Content-Length", "Transfer-Encoding", "Host", "Authorization", "Connection", "Expect",
        "Range", "If-Match", "Content-Type", "Content-Encoding", "Content-Range", "TE", "Trailer",
        "Set-Cookie", "Cookie", "Upgrade", "Cache-Control"}) {
    expect_refused(name, "0\r\n" + std::string(name) + ": 1\r\n\r\n");
  }
  EXPECT_TRUE(is_trailer_allowed("x-amz-checksum-crc32"));
  EXPECT_TRUE(is_trailer_allowed("ETag"));
}

TEST(ChunkedDecoder, ReportsTheErrorItsOwnerAskedFor) {
  ChunkedDecoder decoder(Errc::io);
  EXPECT_EQ(decoder.step(as_bytes("x"sv)).error().code(), Errc::io);
  ChunkedDecoder in_trailers(Errc::io);
  EXPECT_EQ(in_trailers.step(as_bytes("0\r\na\r\n\r\n"sv)).error().code(), Errc::io);
  ChunkedDecoder in_line(Errc::io);
  EXPECT_EQ(in_line.step(as_bytes("0\r\na:\n\r\n"sv)).error().code(), Errc::io);
}

TEST(ChunkedEncoder, WritesSizesInHexadecimal) {
  EXPECT_EQ(ChunkHead(1).text(), "1\r\n");
  EXPECT_EQ(ChunkHead(0x100000).text(), "100000\r\n");
  EXPECT_EQ(ChunkHead(~std::uint64_t{0}).text(), "ffffffffffffffff\r\n");
}

TEST(ChunkedEncoder, WritesTrailersThatDecodeBack) {
  std::string out(ChunkHead(2).text());
  out.append("ab").append(kChunkEnd);
  const std::vector<HeaderField> trailers = {{.name = "x-sum", .value = "1"}};
  ASSERT_TRUE(append_last_chunk(out, trailers).has_value());
  EXPECT_EQ(out, "2\r\nab\r\n0\r\nx-sum: 1\r\n\r\n");
  EXPECT_EQ(decode(out, 1).trailers.front().second, "1");
  std::string none;
  ASSERT_TRUE(append_last_chunk(none, {}).has_value());
  EXPECT_EQ(none, kLastChunk);
}

TEST(ChunkedEncoder, Abuse34RefusesTrailersThatCannotBeRead) {
  for (const HeaderField field :
       {HeaderField{.name = "a", .value = "b\r\nc: d"}, HeaderField{.name = "a b", .value = "c"},
        HeaderField{.name = "Content-Length", .value = "5"}}) {
    std::string out = "x";
    EXPECT_FALSE(append_last_chunk(out, {&field, 1}).has_value()) << field.name;
    EXPECT_EQ(out, "x");
  }
}

}  // namespace
}  // namespace leat::http1
