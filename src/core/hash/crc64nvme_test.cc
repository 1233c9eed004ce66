#include "hash/crc64nvme.h"

#include <gtest/gtest.h>

#include <vector>

namespace leat::hash {
namespace {

// Bytes without a pattern that a CRC could like: a multiplicative generator.
std::vector<std::byte> noise(std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::uint64_t state = 0x9E3779B97F4A7C15U;
  for (std::byte& byte : bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(state >> 56);
  }
  return bytes;
}

TEST(Crc64Nvme, HasTheCheckValueOfItsDefinition) {
  EXPECT_EQ(crc64nvme(as_bytes("123456789")), 0xAE8B14860A799888U);
  EXPECT_EQ(crc64nvme_by_table(as_bytes("123456789")), 0xAE8B14860A799888U);
  EXPECT_EQ(crc64nvme({}), 0U);
}

// NVM Command Set specification: 4 KiB of zeros and of ones.
TEST(Crc64Nvme, MatchesThePublishedVectors) {
  EXPECT_EQ(crc64nvme(std::vector<std::byte>(4096)), 0x6482D367EB22B64EU);
  EXPECT_EQ(crc64nvme(std::vector<std::byte>(4096, std::byte{0xFF})), 0xC0DDBA7302ECA3ACU);
}

TEST(Crc64Nvme, FoldingAndTablesAgreeAtEverySizeAndPlace) {
  const auto bytes = noise(700);
  for (std::size_t size = 0; size <= 640; ++size) {
    const std::size_t offset = size % 17;
    const Bytes part = Bytes(bytes).subspan(offset, size);
    EXPECT_EQ(crc64nvme(part, size), crc64nvme_by_table(part, size)) << size;
  }
}

TEST(Crc64Nvme, GoesOnWhereItStopped) {
  const auto bytes = noise(1024);
  const Bytes all = bytes;
  for (std::size_t cut = 0; cut <= all.size(); cut += 13)
    EXPECT_EQ(crc64nvme(all.subspan(cut), crc64nvme(all.first(cut))), crc64nvme(all)) << cut;
}

}  // namespace
}  // namespace leat::hash
