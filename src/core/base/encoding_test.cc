#include "base/encoding.h"

#include <gtest/gtest.h>

namespace leat {
namespace {

std::string decoded(std::string_view base64) {
  const auto bytes = from_base64(base64);
  return bytes ? std::string(as_text(*bytes)) : "refused";
}

// RFC 4648 §10.
TEST(Encoding, Base64MatchesThePublishedVectors) {
  const std::pair<std::string_view, std::string_view> vectors[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
  };
  for (const auto& [plain, base64] : vectors) {
    EXPECT_EQ(to_base64(as_bytes(plain)), base64);
    EXPECT_EQ(decoded(base64), plain);
  }
}

TEST(Encoding, Base64HasOneSpellingOnly) {
  for (const std::string_view text :
       {"Zg", "Zg=", "Zg===", "Z===", "====", "Zh==", "Zm9=", "Zm8=\n", " Zm8=", "Zm-_", "Zm=v",
        "Zg==Zg==", "=Zg=", "Zm9vYg", "A"}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

TEST(Encoding, EveryByteGoesThereAndBack) {
  std::vector<std::byte> all;
  for (unsigned i = 0; i < 256; ++i) {
    all.push_back(static_cast<std::byte>(i));
    EXPECT_EQ(from_base64(to_base64(all)), all);
    EXPECT_EQ(from_hex(to_hex(all)), all);
  }
}

TEST(Encoding, HexIsWrittenInLowerCaseAndReadInBoth) {
  EXPECT_EQ(to_hex(as_bytes("\xde\xad\x01")), "dead01");
  EXPECT_EQ(from_hex("DEad01"), from_hex("dead01"));
  for (const std::string_view text : {"a", "0x", "g0", "0 ", "-1"})
    EXPECT_EQ(from_hex(text), std::nullopt) << text;
}

}  // namespace
}  // namespace leat
