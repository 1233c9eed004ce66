#include "codec/codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace leat::codec {
namespace {

TEST(Codec, NumbersAndTextComeBack) {
  std::string bytes;
  Encoder encoder(bytes);
  encoder.u8(7);
  encoder.u32(0x01020304);
  encoder.u64(0x0102030405060708);
  for (const std::uint64_t value : {0ULL, 1ULL, 127ULL, 128ULL, 300ULL, 1ULL << 32, ~0ULL})
    encoder.varint(value);
  encoder.text("sample");
  encoder.text("");

  EXPECT_EQ(bytes.substr(0, 5), std::string("\x07\x04\x03\x02\x01"));
  Decoder decoder(bytes);
  EXPECT_EQ(decoder.u8(), 7);
  EXPECT_EQ(decoder.u32(), 0x01020304U);
  EXPECT_EQ(decoder.u64(), 0x0102030405060708U);
  for (const std::uint64_t value : {0ULL, 1ULL, 127ULL, 128ULL, 300ULL, 1ULL << 32, ~0ULL})
    EXPECT_EQ(decoder.varint(), value);
  EXPECT_EQ(decoder.text(), "sample");
  EXPECT_EQ(decoder.text(), "");
  EXPECT_TRUE(decoder.finish("test"));
}

TEST(Codec, EveryTruncationIsAnErrorAndNothingIsReadBehindIt) {
  std::string bytes;
  Encoder encoder(bytes);
  encoder.u32(1);
  encoder.varint(1'000'000);
  encoder.text("abc");
  encoder.text_sorted(std::string_view("a\0b", 3));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Decoder decoder(std::string_view(bytes).substr(0, size));
    decoder.u32();
    decoder.varint();
    decoder.text();
    decoder.text_sorted();
    EXPECT_EQ(decoder.status("test").error().code(), Errc::corrupt) << size;
  }
}

TEST(Codec, AVarintThatDoesNotFitIsAnError) {
  Decoder too_long(std::string_view("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"));
  EXPECT_EQ(too_long.varint(), 0U);
  EXPECT_TRUE(too_long.failed());
}

TEST(Codec, BytesLeftOverAreAnError) {
  Decoder decoder(std::string_view("ab"));
  decoder.u8();
  EXPECT_TRUE(decoder.status("test"));
  EXPECT_FALSE(decoder.finish("test"));
}

TEST(Codec, SortedTextSortsLikeTheText) {
  std::vector<std::string> texts = {"",
                                    std::string(1, '\0'),
                                    std::string("\0\0", 2),
                                    "a",
                                    std::string("a\0", 2),
                                    std::string("a\0b", 3),
                                    "a\x01",
                                    "ab",
                                    "b",
                                    "\xFF",
                                    "\xFF\xFF"};
  std::ranges::sort(texts);
  std::string previous;
  for (const std::string& text : texts) {
    std::string encoded;
    Encoder(encoded).text_sorted(text);
    EXPECT_LT(previous, encoded);
    Decoder decoder(encoded);
    EXPECT_EQ(decoder.text_sorted(), text);
    EXPECT_TRUE(decoder.finish("test"));
    previous = encoded;
  }
}

}  // namespace
}  // namespace leat::codec
