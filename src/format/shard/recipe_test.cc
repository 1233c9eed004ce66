#include "shard/recipe.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "shard/scanner.h"
#include "tar/writer.h"

namespace leat::shard {
namespace {

Recipe example() {
  return {
      .members = {{.name = "cat/1.cls", .key = "raw/cat/1.cls", .etag = "aa", .size_bytes = 1},
                  {.name = "cat/1.jpg", .key = "raw/cat/1.jpg", .etag = "bb", .size_bytes = 513},
                  {.name = std::string(200, 'n') + ".txt", .key = "raw/n", .size_bytes = 0}}};
}

TEST(Recipe, IsReadAsItWasWritten) {
  const std::string bytes = encode(example());
  EXPECT_EQ(decode_recipe(as_bytes(bytes)).value(), example());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] ^ 1);
    const auto read = decode_recipe(as_bytes(other));
    EXPECT_FALSE(read && *read != example()) << i;
    EXPECT_FALSE(decode_recipe(as_bytes(bytes).first(i))) << i;
  }
}

// The tar that is laid out is the one that a scanner of its bytes sees.
TEST(Recipe, FixesATar) {
  const Recipe recipe = example();
  const RecipeLayout layout = lay_out(recipe);
  std::string bytes;
  for (const Ingredient& one : recipe.members) {
    bytes += tar::header({.name = one.name, .size_bytes = one.size_bytes});
    bytes.append(one.size_bytes, 'x');
    bytes.append(tar::padding(one.size_bytes), '\0');
  }
  bytes.append(tar::kEndBytes, '\0');
  EXPECT_EQ(layout.size_bytes, bytes.size());
  ShardScanner scanner;
  scanner.feed(as_bytes(bytes));
  ASSERT_TRUE(scanner.finish().is_shard);
  EXPECT_EQ(make_index(layout).value(), scanner.take_index());
}

TEST(Recipe, KnowsWhichMemberHasAByte) {
  const RecipeLayout layout = lay_out(example());
  EXPECT_EQ(layout.member_at(0), 0U);
  EXPECT_EQ(layout.member_at(1023), 0U);
  EXPECT_EQ(layout.member_at(1024), 1U);
  EXPECT_EQ(layout.member_at(layout.size_bytes - 1), 3U) << "the end";
  EXPECT_EQ(RecipeLayout{.size_bytes = 1024}.member_at(0), 0U);
}

// Anybody may write one: its sizes are to add up, and its members to fit into memory.
TEST(Recipe, WithTooMuchInItIsRefused) {
  Recipe large;
  for (int i = 0; i < 4; ++i)
    large.members.push_back({.name = fmt::format("{}.x", i), .size_bytes = kRecipeTarMaxBytes / 4});
  const auto read = decode_recipe(as_bytes(encode(large)));
  ASSERT_TRUE(read);
  EXPECT_TRUE(make_index(lay_out(*read)));
  large.members.push_back({.name = "4.x", .size_bytes = 1});
  EXPECT_FALSE(decode_recipe(as_bytes(encode(large))));
  large.members = {{.name = "0.x", .size_bytes = std::numeric_limits<std::uint64_t>::max()}};
  EXPECT_FALSE(decode_recipe(as_bytes(encode(large))));

  Recipe many;
  many.members.assign(kRecipeMembersMax, {.name = "x"});
  EXPECT_TRUE(decode_recipe(as_bytes(encode(many))));
  many.members.push_back({.name = "x"});
  EXPECT_FALSE(decode_recipe(as_bytes(encode(many))));
}

TEST(Recipe, WithAFieldTwiceIsRefused) {
  const Recipe twice{.members = {{.name = "1.a"}, {.name = "1.A"}}};
  EXPECT_FALSE(make_index(lay_out(twice)));
}

}  // namespace
}  // namespace leat::shard
