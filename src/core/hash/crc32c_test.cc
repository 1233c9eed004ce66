#include "hash/crc32c.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace leat::hash {
namespace {

// RFC 3720, appendix B.4.
TEST(Crc32c, MatchesThePublishedVectors) {
  EXPECT_EQ(crc32c(std::vector<std::byte>(32)), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0xFF})), 0x62A8AB43U);
  std::vector<std::byte> rising(32);
  for (std::size_t i = 0; i < rising.size(); ++i)
    rising[i] = static_cast<std::byte>(i);
  EXPECT_EQ(crc32c(rising), 0x46DD794EU);
  EXPECT_EQ(crc32c(as_bytes("123456789")), 0xE3069283U);
  EXPECT_EQ(crc32c(Bytes{}), 0U);
}

TEST(Crc32c, GoesOnWhereItStopped) {
  const std::string text = "the leat carries water to the mill";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const Bytes all = as_bytes(text);
    EXPECT_EQ(crc32c(all.subspan(cut), crc32c(all.first(cut))), crc32c(all)) << cut;
  }
}

}  // namespace
}  // namespace leat::hash
