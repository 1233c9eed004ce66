#include "tar/writer.h"

#include <gtest/gtest.h>

#include "tar/archive_fixture_test.h"

namespace leat::tar {
namespace {

Member read_back(const NewMember& member) {
  Member found;
  Scanner scanner([&](const Member& seen) { found = seen; });
  scanner.feed(as_bytes(header(member)));
  EXPECT_EQ(scanner.state(), Scanner::State::reading) << scanner.problem();
  EXPECT_EQ(scanner.skippable(), member.size_bytes + padding(member.size_bytes));
  return found;
}

TEST(TarWriter, HeadersAreAlwaysTheSameBytes) {
  std::string wanted(512, '\0');
  const auto put = [&](std::size_t at, std::string_view text) {
    wanted.replace(at, text.size(), text);
  };
  put(0, "000001.jpg");
  put(100, "0000444");
  put(108, "0000000");
  put(116, "0000000");
  put(124, "00000000005");
  put(136, "00000000000");
  put(156, "0");
  put(257, "ustar");
  put(263, "00");
  put(329, "0000000");
  put(337, "0000000");
  unsigned sum = 8 * ' ';
  for (const char byte : wanted)
    sum += static_cast<unsigned char>(byte);
  put(148, fmt::format("{:06o}", sum));
  put(155, " ");
  EXPECT_EQ(header({.name = "000001.jpg", .size_bytes = 5}), wanted);
}

TEST(TarWriter, NamesUseThePrefixAndPaxOnlyWhereTheyMust) {
  const std::string at_limit = std::string(155, 'd') + "/" + std::string(100, 'n');
  EXPECT_EQ(header_bytes({.name = std::string(100, 'n')}), 512U);
  EXPECT_EQ(header_bytes({.name = at_limit}), 512U);
  EXPECT_EQ(header_bytes({.name = at_limit + "n"}), 1536U);
  EXPECT_EQ(header_bytes({.name = std::string(101, 'n')}), 1536U);
  EXPECT_EQ(header_bytes({.name = "/" + std::string(100, 'n')}), 1536U);
  EXPECT_EQ(header_bytes({.name = std::string(60, 'd') + "//" + std::string(60, 'n')}), 512U);
  EXPECT_EQ(header_bytes({.name = std::string(60, 'd') + "//" + std::string(100, 'n')}), 1536U);
}

TEST(TarWriter, SizesAndTimesUsePaxOnlyWhereTheyMust) {
  const std::uint64_t eight = 8 * kGiB;
  EXPECT_EQ(header_bytes({.name = "a", .size_bytes = eight - 1}), 512U);
  EXPECT_EQ(header_bytes({.name = "a", .size_bytes = eight}), 1536U);
  EXPECT_EQ(header_bytes({.name = "a", .mtime_s = 1763250000}), 512U);
  EXPECT_EQ(header_bytes({.name = "a", .mtime_s = -1}), 1536U);
  EXPECT_EQ(read_back({.name = "a", .size_bytes = eight}).size_bytes, eight);
}

TEST(TarWriter, WhatItWritesTheScannerReads) {
  const std::uint64_t seed = 4711;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Dice random(seed);
  for (std::size_t round = 0; round < 3000; ++round) {
    std::string name(1 + random() % (round % 10 == 0 ? 5000 : 300), 'n');
    for (char& byte : name) {
      const std::uint64_t dice = random() % 40;
      byte = dice == 0 ? '/' : dice < 20 ? 'n' : static_cast<char>(1 + random() % 255);
    }
    if (name.ends_with('/')) name.back() = 'n';
    const NewMember member{.name = name, .size_bytes = random() >> (20 + random() % 44)};
    const std::string bytes = header(member);
    ASSERT_EQ(bytes.size(), header_bytes(member)) << round;
    const Member found = read_back(member);
    ASSERT_EQ(found.name, name) << round;
    ASSERT_EQ(found.kind, Kind::file);
    ASSERT_EQ(found.size_bytes, member.size_bytes);
    ASSERT_EQ(found.data_offset, bytes.size());
  }
}

TEST(TarWriter, PaddingGoesToTheNextBlock) {
  EXPECT_EQ(padding(0), 0U);
  EXPECT_EQ(padding(1), 511U);
  EXPECT_EQ(padding(512), 0U);
  EXPECT_EQ(padding(513), 511U);
}

}  // namespace
}  // namespace leat::tar
