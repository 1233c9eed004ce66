#include "hash/digest.h"

#include <gtest/gtest.h>

#include <string>

#include "base/encoding.h"

namespace leat::hash {
namespace {

template <class Digest>
std::string hex_of(std::string_view text) {
  return to_hex(Digest::of(as_bytes(text)));
}

// FIPS 180-4, RFC 3174 and RFC 1321.
TEST(Digest, MatchesThePublishedVectors) {
  EXPECT_EQ(hex_of<Sha256>(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex_of<Sha256>("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex_of<Sha1>("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hex_of<Md5>("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
}

TEST(Digest, PiecesGiveWhatTheWholeGives) {
  const std::string text(1000, 'q');
  Sha256 digest;
  for (std::size_t at = 0; at < text.size(); at += 37)
    digest.update(as_bytes(std::string_view(text).substr(at, 37)));
  EXPECT_EQ(digest.finish(), Sha256::of(as_bytes(text)));
}

TEST(Digest, IsAsNewOnceItIsFinished) {
  Md5 digest;
  digest.update(as_bytes("first"));
  EXPECT_EQ(digest.finish(), Md5::of(as_bytes("first")));
  digest.update(as_bytes("second"));
  EXPECT_EQ(digest.finish(), Md5::of(as_bytes("second")));
}

TEST(Digest, ACopyGoesItsOwnWay) {
  Sha1 one;
  one.update(as_bytes("a"));
  Sha1 other = one;
  other.update(as_bytes("b"));
  EXPECT_EQ(one.finish(), Sha1::of(as_bytes("a")));
  EXPECT_EQ(other.finish(), Sha1::of(as_bytes("ab")));
  one = other;
  one.update(as_bytes("c"));
  EXPECT_EQ(one.finish(), Sha1::of(as_bytes("c")));
}

// RFC 4231, cases 1, 2 and 6.
TEST(Hmac, MatchesThePublishedVectors) {
  const auto hmac = [](const std::string& key, std::string_view message) {
    return to_hex(hmac_sha256(as_bytes(key), as_bytes(message)));
  };
  EXPECT_EQ(hmac(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hmac("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(
      hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Hmac, TakesAnEmptyKeyAndAnEmptyMessage) {
  EXPECT_EQ(to_hex(hmac_sha256({}, {})),
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(ConstantTimeEqual, ComparesEveryByteAndTheSize) {
  EXPECT_TRUE(constant_time_equal({}, {}));
  EXPECT_TRUE(constant_time_equal(as_bytes("secret"), as_bytes("secret")));
  EXPECT_FALSE(constant_time_equal(as_bytes("secret"), as_bytes("secreT")));
  EXPECT_FALSE(constant_time_equal(as_bytes("secret"), as_bytes("Secret")));
  EXPECT_FALSE(constant_time_equal(as_bytes("secret"), as_bytes("secrets")));
  EXPECT_FALSE(constant_time_equal(as_bytes("secret"), {}));
}

}  // namespace
}  // namespace leat::hash
