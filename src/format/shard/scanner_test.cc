#include "shard/scanner.h"

#include <gtest/gtest.h>

#include "tar/archive_fixture_test.h"

namespace leat::shard {
namespace {

using tar::file;
using tar::kEnd;

struct Scan {
  Summary summary;
  std::string index{};
};

Scan scan(std::string_view archive, std::uint64_t index_max_bytes = kIndexMaxBytes) {
  ShardScanner scanner(index_max_bytes);
  scanner.feed(as_bytes(archive));
  Scan result{.summary = scanner.finish()};
  if (result.summary.is_shard) result.index = scanner.take_index();
  return result;
}

TEST(ShardScanner, IndexesAShardWhileItPassesBy) {
  const std::string archive = file("a.jpg", "one") + file("a.cls", "1") + file("b.jpg", "") + kEnd;
  const Scan result = scan(archive);
  ASSERT_TRUE(result.summary.is_shard);
  EXPECT_EQ(result.summary.samples, 2U);
  EXPECT_EQ(result.summary.members, 3U);
  EXPECT_EQ(result.summary.problem, "");
  const auto view = View::open(as_bytes(result.index));
  ASSERT_TRUE(view) << view.error().message();
  EXPECT_EQ(view->shard_bytes(), archive.size());
  EXPECT_EQ(view->sample(1).key, "b");
}

TEST(ShardScanner, PiecesAndSkipsChangeNothing) {
  std::string archive;
  for (int i = 0; i < 50; ++i)
    archive +=
        file(fmt::format("{:04}.bin", i), std::string(static_cast<std::size_t>(i) * 97, 'x'));
  archive += kEnd;
  const std::string wanted = scan(archive).index;
  const std::uint64_t seed = 99;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  tar::Dice random(seed);
  for (int round = 0; round < 100; ++round) {
    ShardScanner scanner;
    std::string_view rest = archive;
    while (!rest.empty()) {
      std::size_t bytes = std::min<std::size_t>(rest.size(), 1 + random() % 3000);
      if (round % 2 == 1 && scanner.skippable() > 0) {
        bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, scanner.skippable()));
        scanner.skip(bytes);
      } else {
        scanner.feed(as_bytes(rest.substr(0, bytes)));
      }
      rest.remove_prefix(bytes);
    }
    ASSERT_TRUE(scanner.finish().is_shard);
    ASSERT_EQ(scanner.take_index(), wanted);
  }
}

TEST(ShardScanner, ABrokenTarHasAProblemAndNoIndex) {
  const Scan result = scan(file("a.jpg", "one") + file("b.jpg", "two"));
  EXPECT_FALSE(result.summary.is_shard);
  EXPECT_EQ(result.summary.problem, "truncated: no end-of-archive blocks (at byte 2048)");
  EXPECT_EQ(result.summary.members, 0U);
}

TEST(ShardScanner, WhatIsNoTarHasNoProblem) {
  const Scan result = scan("text");
  EXPECT_FALSE(result.summary.is_shard);
  EXPECT_EQ(result.summary.problem, "");
}

TEST(ShardScanner, ATarWithoutSamplesIsIndexedToo) {
  const Scan result = scan(file("README", "text") + kEnd);
  ASSERT_TRUE(result.summary.is_shard);
  EXPECT_EQ(result.summary.samples, 0U);
  EXPECT_EQ(result.summary.members, 1U);
}

TEST(ShardScanner, AnIndexThatWouldBeTooLargeIsNotMade) {
  std::string archive;
  for (int i = 0; i < 100; ++i)
    archive += file(fmt::format("{}.x", i), "");
  const Scan result = scan(archive + kEnd, /*index_max_bytes=*/4096);
  EXPECT_FALSE(result.summary.is_shard);
  EXPECT_EQ(result.summary.problem, "it has too many members for an index");
}

TEST(ShardScanner, DuplicateFieldsAreAProblemBesideTheIndex) {
  const Scan result = scan(file("a.jpg", "") + file("a.JPG", "") + kEnd);
  ASSERT_TRUE(result.summary.is_shard);
  EXPECT_EQ(result.summary.problem, "a sample has a field twice: a.JPG");
}

TEST(ShardScanner, AProblemShowsNamesAsPlainShortText) {
  const std::string name = "a.\n\xff\\" + std::string(80, 'b');
  const Scan result = scan(file(name, "") + file(name, "") + kEnd);
  ASSERT_TRUE(result.summary.is_shard);
  EXPECT_EQ(result.summary.problem,
            "a sample has a field twice: a.\\x0a\\xff\\x5c" + std::string(45, 'b') + "...");
}

}  // namespace
}  // namespace leat::shard
