#include "frames/frames.h"

#include <gtest/gtest.h>

#include "base/encoding.h"
#include "hash/crc32c.h"

namespace leat::frames {
namespace {

std::string frame(Header header, std::string_view payload) {
  header.length = payload.size();
  std::string out;
  append_header(out, header);
  out += payload;
  append_sum(out, hash::crc32c(as_bytes(out)));
  return out;
}

std::string sample_payload() {
  return encode_fields({{"cls", 1}, {"jpg", 4}}) + "7" + "\xFF\xD8\xFF\xD9";
}

std::string answer() {
  return frame({.item = 0}, "meow") + frame({.item = 1, .kind = Kind::sample}, sample_payload()) +
         frame({.item = 2, .kind = Kind::error, .status = 404}, R"({"error":"not_found"})") +
         frame({.item = 3, .kind = Kind::end}, R"({"complete":false})");
}

TEST(Frames, BytesAreAsTheFormatPageHasThem) {
  EXPECT_EQ(to_hex(as_bytes(frame({.item = 1, .kind = Kind::error, .status = 404}, "{}"))),
            "01000000"          // item
            "02"                // an error
            "00"                // nothing
            "9401"              // 404
            "0200000000000000"  // two bytes
            "7b7d"              // {}
            "cafcc9a7");        // CRC32C of all before
}

TEST(Frames, AnAnswerInAnyPiecesIsTheSame) {
  const std::string all = answer();
  for (std::size_t step = 1; step <= all.size(); ++step) {
    Reader reader;
    std::vector<Frame> frames;
    for (std::size_t at = 0; at < all.size(); at += step) {
      reader.feed(as_bytes(std::string_view(all).substr(at, step)));
      for (;;) {
        auto one = reader.next();
        ASSERT_TRUE(one);
        if (!*one) break;
        frames.push_back(std::move(**one));
      }
    }
    ASSERT_EQ(frames.size(), 4U);
    EXPECT_EQ(frames[0].payload, "meow");
    const auto fields = frames[1].fields();
    ASSERT_TRUE(fields);
    EXPECT_EQ((*fields)[0].first, "cls");
    EXPECT_EQ((*fields)[0].second, "7");
    EXPECT_EQ((*fields)[1].second.size(), 4U);
    EXPECT_EQ(frames[2].header.status, 404);
    EXPECT_TRUE(reader.has_ended());
  }
}

TEST(Frames, EveryFlippedBitIsNoticed) {
  const std::string all = answer();
  for (std::size_t bit = 0; bit < all.size() * 8; ++bit) {
    std::string damaged = all;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    Reader reader(1 * kMiB);
    reader.feed(as_bytes(damaged));
    bool is_noticed = false;
    for (;;) {
      const auto one = reader.next();
      is_noticed = !one;
      if (!one || !*one) break;
    }
    EXPECT_TRUE(is_noticed || !reader.has_ended()) << "bit " << bit;
  }
}

TEST(Frames, ItemsOutOfOrderAndBytesBehindTheEndAreRefused) {
  Reader skips;
  skips.feed(as_bytes(frame({.item = 1}, "x")));
  EXPECT_EQ(skips.next().error().code(), Errc::corrupt);
  Reader goes_on;
  goes_on.feed(as_bytes(frame({.item = 0, .kind = Kind::end}, "{}") + "x"));
  EXPECT_TRUE(goes_on.next());
  EXPECT_EQ(goes_on.next().error().code(), Errc::corrupt);
}

TEST(Frames, ALengthThatLiesFillsNoMemory) {
  Reader reader(1000);
  std::string out;
  append_header(out, {.length = 1001});
  reader.feed(as_bytes(out));
  EXPECT_EQ(reader.next().error().code(), Errc::corrupt);
}

TEST(Frames, FieldsThatDoNotFillTheirFrameAreRefused) {
  for (const std::string& payload :
       {encode_fields({{"cls", 2}}) + "7", encode_fields({{"cls", 1}}) + "77",
        std::string("\1\0", 2), std::string("\xFF\xFF\xFF\xFF", 4)}) {
    const Frame bad{.header = {.kind = Kind::sample}, .payload = payload};
    EXPECT_FALSE(bad.fields());
  }
}

}  // namespace
}  // namespace leat::frames
