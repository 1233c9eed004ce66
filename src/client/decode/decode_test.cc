#include "decode/decode.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace leat::decode {
namespace {

// Lossless images whose pixel (x, y) is (37x, 53y, 11xy) modulo 256: a PNG of 7 × 5, a WebP of
// 6 × 6.
constexpr std::string_view kPng =
    "89504e470d0a1a0a0000000d494844520000000700000005080200000006f8618f0000002449444154789c63"
    "64606050c5402c0ca60c0c0cdc68082e2a868c904515e1084d54078200c94803eac3671e3c0000000049454e"
    "44ae426082";
constexpr std::string_view kWebp =
    "5249464634000000574542505650384c280000002f05400100b93244f43f7611d1ff8082b66d98902a7f706f"
    "833025428214d3adc60400b940fe8601";

std::vector<std::byte> bytes_of(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

std::array<std::uint8_t, 3> pixel(std::uint32_t x, std::uint32_t y) {
  return {static_cast<std::uint8_t>(x * 37), static_cast<std::uint8_t>(y * 53),
          static_cast<std::uint8_t>(x * y * 11)};
}

Options rgb(std::uint32_t height, std::uint32_t width, Crop crop) {
  return {.to = To::rgb8, .height = height, .width = width, .crop = crop};
}

template <class Number>
std::optional<Number> number(std::string_view text, Dtype dtype) {
  Number value{};
  const Options options{.to = To::number, .dtype = dtype};
  const auto target = std::span(reinterpret_cast<std::uint8_t*>(&value), sizeof(value));
  if (!decode_number(as_bytes(text), options, target)) return std::nullopt;
  return value;
}

TEST(Number, TakesDigitsAndSpacesAroundThem) {
  EXPECT_EQ(number<std::int64_t>("7", Dtype::int64), 7);
  EXPECT_EQ(number<std::int64_t>(" -12\r\n", Dtype::int64), -12);
  EXPECT_EQ(number<std::int64_t>("9223372036854775807", Dtype::int64), INT64_MAX);
  for (const std::string_view text : {"", " ", "x", "1x", "1 2", "9223372036854775808", "1.5"})
    EXPECT_FALSE(number<std::int64_t>(text, Dtype::int64)) << text;
}

TEST(Number, HasTheTypeThatWasAskedFor) {
  EXPECT_EQ(number<std::int32_t>("-2147483648", Dtype::int32), INT32_MIN);
  EXPECT_FALSE(number<std::int32_t>("2147483648", Dtype::int32));
  EXPECT_EQ(number<float>("0.5", Dtype::float32), 0.5F);
  EXPECT_EQ(number<float>("-1e10\n", Dtype::float32), -1e10F);
  EXPECT_FALSE(number<float>("1e99", Dtype::float32)) << "no float32 holds it";
  EXPECT_EQ(number<double>("1e99", Dtype::float64), 1e99);
  EXPECT_FALSE(number<double>("0.5.5", Dtype::float64));
}

TEST(Text, IsCheckedAndLeftAsItIs) {
  const Options text{.to = To::text};
  EXPECT_TRUE(check_text(as_bytes("grüße\n"), text));
  EXPECT_FALSE(check_text(as_bytes("gr\xfc\xdf"), text));
  EXPECT_FALSE(check_text(as_bytes("\xed\xa0\x80"), text)) << "a surrogate";
  const Options json{.to = To::json};
  EXPECT_TRUE(check_text(as_bytes(R"({"a": [1, null]})"), json));
  for (const std::string_view wrong : {"", "{", "[1,]", "{} {}", "\"\xff\""})
    EXPECT_FALSE(check_text(as_bytes(wrong), json)) << wrong;
  EXPECT_FALSE(check_text(as_bytes(std::string(100'000, '[')), json)) << "deep, and not the end";
}

TEST(Box, IsInsideTheImageWhateverIsDrawn) {
  for (std::uint64_t key = 0; key < 2000; ++key) {
    const auto width = static_cast<std::uint32_t>(1 + key % 97);
    const auto height = static_cast<std::uint32_t>(1 + key % 31);
    Options options = rgb(224, 224, Crop::random_resized);
    options.flip = true;
    const Box box = choose_box(width, height, options, key);
    EXPECT_GT(box.width, 0U);
    EXPECT_GT(box.height, 0U);
    EXPECT_LE(box.x + box.width, width);
    EXPECT_LE(box.y + box.height, height);
    EXPECT_EQ(box, choose_box(width, height, options, key));
  }
}

TEST(Box, ChanceHasTheScaleAndTheShapeThatWereAskedFor) {
  Options options = rgb(224, 224, Crop::random_resized);
  options.flip = true;
  int mirrored = 0;
  for (std::uint64_t key = 0; key < 4000; ++key) {
    const Box box = choose_box(1000, 1000, options, key * 0x9E3779B97F4A7C15U);
    const double area = static_cast<double>(box.width) * box.height / 1e6;
    const double ratio = static_cast<double>(box.width) / box.height;
    EXPECT_GE(area, 0.079);
    EXPECT_LE(area, 1.0);
    EXPECT_GE(ratio, 0.74);
    EXPECT_LE(ratio, 1.35);
    mirrored += box.is_mirrored ? 1 : 0;
  }
  EXPECT_NEAR(mirrored, 2000, 200);
}

TEST(Box, TheMiddleHasTheShapeOfTheTarget) {
  EXPECT_EQ(choose_box(400, 200, rgb(100, 100, Crop::center), 0), (Box{100, 0, 200, 200}));
  EXPECT_EQ(choose_box(200, 400, rgb(100, 200, Crop::center), 0), (Box{0, 150, 200, 100}));
  EXPECT_EQ(choose_box(200, 400, rgb(7, 9, Crop::none), 0), (Box{0, 0, 200, 400}));
}

TEST(Image, WhatIsNoneIsRefused) {
  Scratch scratch;
  std::vector<std::uint8_t> target(12);
  for (const std::string_view text : {"", "GIF89a", "\xFF\xD8\xFF", "\x89PNG\r\n\x1A\n", "RIFF"}) {
    const Status decoded = decode_image(as_bytes(text), rgb(2, 2, Crop::none), 0, scratch, target);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code(), Errc::bad_request) << text;
  }
  const std::string webp = "RIFF\x04\x01\x01\x01WEBPVP8 ";
  EXPECT_FALSE(decode_image(as_bytes(webp), rgb(2, 2, Crop::none), 0, scratch, target));
}

// The whole image at its own size, mirrored or not.
void expect_exact(std::string_view hex, std::uint32_t width, std::uint32_t height) {
  Scratch scratch;
  const std::vector<std::byte> image = bytes_of(hex);
  Options options = rgb(height, width, Crop::none);
  for (const bool flips : {false, true}) {
    options.flip = flips;
    for (std::uint64_t key = 0; key < 4; ++key) {
      std::vector<std::uint8_t> target(size_of(options));
      const Status decoded = decode_image(image, options, key, scratch, target);
      ASSERT_TRUE(decoded) << decoded.error().message();
      const bool is_mirrored = choose_box(width, height, options, key).is_mirrored;
      for (std::uint32_t y = 0; y < height; ++y) {
        for (std::uint32_t x = 0; x < width; ++x) {
          const auto wanted = pixel(is_mirrored ? width - 1 - x : x, y);
          for (std::size_t c = 0; c < 3; ++c)
            EXPECT_EQ(target[(y * width + x) * 3 + c], wanted[c]) << x << ' ' << y;
        }
      }
    }
  }
}

TEST(Image, LosslessFormatsGiveTheirPixels) {
  expect_exact(kPng, 7, 5);
  expect_exact(kWebp, 6, 6);
}

TEST(Image, ACutImageIsDamagedWhereverItIsCut) {
  Scratch scratch;
  const Options options = rgb(4, 4, Crop::center);
  std::vector<std::uint8_t> target(size_of(options));
  for (const std::string_view hex : {kPng, kWebp}) {
    const std::vector<std::byte> image = bytes_of(hex);
    // The last bytes of a PNG are its end mark, which holds nothing.
    for (std::size_t size = 0; size + 16 < image.size(); ++size) {
      EXPECT_FALSE(decode_image(Bytes(image).first(size), options, 0, scratch, target)) << size;
    }
  }
}

}  // namespace
}  // namespace leat::decode
