#include "handover/handover.h"

#include <gtest/gtest.h>

namespace leat::handover {
namespace {

Answer two_files() {
  return {.files = {{.size_bytes = 70'000, .sums = "aaaabbbb"}, {.size_bytes = 1, .sums = "cccc"}}};
}

TEST(Handover, AnAnswerComesBackAsItWas) {
  const std::string text = encode(two_files());
  const auto head = decode_head(as_bytes(text).first(kHeadBytes));
  ASSERT_TRUE(head);
  EXPECT_EQ(head->files, 2U);
  EXPECT_EQ(head->status, 200U);
  EXPECT_EQ(head->body_bytes, text.size() - kHeadBytes);
  EXPECT_EQ(decode(as_bytes(text)), two_files());
  const Answer refusal{.status = 404, .message = "the ticket is no good"};
  EXPECT_EQ(decode(as_bytes(encode(refusal))), refusal);
}

TEST(Handover, EveryCutAndEveryFlippedBitIsNoticed) {
  const std::string text = encode(two_files());
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_EQ(decode(as_bytes(text).first(length)).error().code(), Errc::corrupt) << length;
  EXPECT_FALSE(decode(as_bytes(text + "x")));
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(decode(as_bytes(flipped))) << bit;
  }
}

// The head of an answer that lies about itself.
std::string with(std::size_t offset, std::uint8_t byte) {
  std::string text = encode(two_files()).substr(0, kHeadBytes);
  text[offset] = static_cast<char>(byte);
  return text;
}

TEST(Handover, AHeadThatAsksForTooMuchIsRefused) {
  EXPECT_FALSE(decode_head(as_bytes(with(12, 254)))) << "more files than a message carries";
  EXPECT_FALSE(decode_head(as_bytes(with(12, 0)))) << "good, but without a file";
  EXPECT_FALSE(decode_head(as_bytes(with(27, 1)))) << "16 MiB of body";
  EXPECT_FALSE(decode_head(as_bytes(with(20, 1)))) << "a word that must be zero";
  EXPECT_FALSE(decode_head(as_bytes(with(0, 'X'))));
  EXPECT_FALSE(decode_head({}));
}

}  // namespace
}  // namespace leat::handover
