#include "config/nearest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace leat::config {
namespace {

TEST(TypingDistance, CountsEachKindOfErrorOnce) {
  EXPECT_EQ(typing_distance("listen", "listen", 3), 0U);
  EXPECT_EQ(typing_distance("listn", "listen", 3), 1U);
  EXPECT_EQ(typing_distance("listeen", "listen", 3), 1U);
  EXPECT_EQ(typing_distance("lisden", "listen", 3), 1U);
  EXPECT_EQ(typing_distance("lsiten", "listen", 3), 1U);
  EXPECT_EQ(typing_distance("kitten", "sitting", 5), 3U);
  EXPECT_EQ(typing_distance("", "abc", 5), 3U);
  EXPECT_EQ(typing_distance("ca", "abc", 5), 3U);  // 2 if a swapped pair could be edited again
}

TEST(TypingDistance, StopsAtItsLimit) {
  EXPECT_EQ(typing_distance("kitten", "sitting", 2), 3U);
  EXPECT_EQ(typing_distance("abcdef", "uvwxyz", 2), 3U);
  EXPECT_EQ(typing_distance("a", "abcdefghij", 2), 3U);
}

TEST(Nearest, FindsTheClosestWordAndTheFirstOfEquals) {
  constexpr std::array<std::string_view, 4> kCommands = {"serve", "server", "bench", "mount"};
  EXPECT_EQ(nearest("sreve", kCommands), "serve");
  EXPECT_EQ(nearest("serverr", kCommands), "server");
  EXPECT_EQ(nearest("benhc", kCommands), "bench");
  EXPECT_EQ(nearest("mount", kCommands), "mount");
  constexpr std::array<std::string_view, 2> kEquals = {"cat", "bat"};
  EXPECT_EQ(nearest("rat", kEquals), "cat");
}

TEST(Nearest, SaysNothingWhenNothingIsNear) {
  constexpr std::array<std::string_view, 2> kCommands = {"serve", "x"};
  EXPECT_EQ(nearest("dashboard", kCommands), std::nullopt);
  EXPECT_EQ(nearest("y", kCommands), std::nullopt);
  EXPECT_EQ(nearest("", kCommands), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 's'), kCommands), std::nullopt);
  EXPECT_EQ(nearest("serve", {}), std::nullopt);
}

}  // namespace
}  // namespace leat::config
