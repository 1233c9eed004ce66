#include "s3client/endpoint.h"

#include <gtest/gtest.h>

namespace leat::s3client {
namespace {

TEST(Endpoint, TakesTheUrlApart) {
  const auto plain = parse_endpoint("http://127.0.0.1:9000/");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->address, (io::Address{"127.0.0.1", 9000}));
  EXPECT_FALSE(plain->is_encrypted);
  EXPECT_EQ(plain->host, "127.0.0.1:9000");
  EXPECT_EQ(plain->url, "http://127.0.0.1:9000");
}

TEST(Endpoint, LeavesTheUsualPortOutOfTheHostField) {
  const auto usual = parse_endpoint("https://s3.example");
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->address, (io::Address{"s3.example", 443}));
  EXPECT_TRUE(usual->is_encrypted);
  EXPECT_EQ(usual->host, "s3.example");
  EXPECT_EQ(parse_endpoint("http://s3.example:443")->host, "s3.example:443");
}

TEST(Endpoint, WithoutASchemeIsPlainHttp) {
  const auto bare = parse_endpoint("localhost:9000");
  ASSERT_TRUE(bare);
  EXPECT_FALSE(bare->is_encrypted);
  EXPECT_EQ(bare->address.port, 9000);
}

TEST(Endpoint, TakesAddressesInBrackets) {
  const auto six = parse_endpoint("http://[::1]:9000");
  ASSERT_TRUE(six);
  EXPECT_EQ(six->address, (io::Address{"::1", 9000}));
  EXPECT_EQ(parse_endpoint("http://[::1]")->address.port, 80);
}

TEST(Endpoint, RefusesWhatItCannotMean) {
  for (const char* bad : {"", "http://", "ftp://host", "http://host/path", "http://a:b@host",
                          "http://host:99999", "http://host?x"}) {
    const auto refused = parse_endpoint(bad);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().code(), Errc::bad_request) << bad;
  }
}

}  // namespace
}  // namespace leat::s3client
