#include "keys/key.h"

#include <gtest/gtest.h>

namespace leat::keys {
namespace {

Key with(std::vector<Rule> rules) {
  return {.id = "LEATID", .secret = "s", .name = "test", .rules = std::move(rules)};
}

TEST(Key, MayDoNothingWithoutRules) {
  for (const Right right : kRights) {
    EXPECT_FALSE(allows(with({}), right, "photos", "a"));
    EXPECT_FALSE(allows(with({}), right, "", ""));
  }
  EXPECT_FALSE(knows(with({}), "photos"));
}

TEST(Key, MayDoWhatARuleNamesAndNothingElse) {
  for (const Right given : kRights) {
    const Key key = with({{.bucket = "photos", .rights = {given}}});
    for (const Right asked : kRights) {
      EXPECT_EQ(allows(key, asked, "photos", "a"), asked == given)
          << name_of(asked) << " with " << name_of(given);
      EXPECT_FALSE(allows(key, asked, "photo", "a"));
      EXPECT_FALSE(allows(key, asked, "photos2", "a"));
      EXPECT_FALSE(allows(key, asked, "Photos", "a"));
    }
  }
}

TEST(Key, APrefixOfKeysIsOneOfBytes) {
  const Key key = with({{.bucket = "b", .prefix = "a/", .rights = {Right::read, Right::list}}});
  EXPECT_TRUE(allows(key, Right::read, "b", "a/"));
  EXPECT_TRUE(allows(key, Right::read, "b", "a/x"));
  for (const std::string_view other : {"", "a", "b", "A/x", "/a/x", "x/a/"}) {
    EXPECT_FALSE(allows(key, Right::read, "b", other)) << other;
    EXPECT_FALSE(allows(key, Right::list, "b", other)) << other;
  }
  // Abuse case 35: nothing is folded, so this is a key below the prefix like any other.
  EXPECT_TRUE(allows(key, Right::read, "b", "a/../secret"));
}

TEST(Key, AStarStandsForTheRestOfABucketsName) {
  const Key key = with({{.bucket = "team-*", .rights = {Right::read}}});
  EXPECT_TRUE(allows(key, Right::read, "team-a", "x"));
  EXPECT_TRUE(allows(key, Right::read, "team-", "x"));
  EXPECT_FALSE(allows(key, Right::read, "team", "x"));
  EXPECT_FALSE(allows(key, Right::read, "other-team-a", "x"));
  EXPECT_TRUE(allows(with({{.bucket = "*", .rights = {Right::read}}}), Right::read, "any", "x"));
}

TEST(Key, RulesAddUp) {
  const Key key = with({{.bucket = "a", .rights = {Right::read}},
                        {.bucket = "b", .prefix = "mine/", .rights = {Right::write}}});
  EXPECT_TRUE(allows(key, Right::read, "a", "x"));
  EXPECT_FALSE(allows(key, Right::write, "a", "x"));
  EXPECT_TRUE(allows(key, Right::write, "b", "mine/x"));
  EXPECT_FALSE(allows(key, Right::read, "b", "mine/x"));
  EXPECT_TRUE(knows(key, "b"));
  EXPECT_FALSE(knows(key, "c"));
}

TEST(Key, ExpiresWhenItsTimeHasCome) {
  Key key = with({});
  EXPECT_FALSE(key.is_expired(1'000'000));
  key.expires_ms = 500;
  EXPECT_FALSE(key.is_expired(499));
  EXPECT_TRUE(key.is_expired(500));
}

TEST(KeyTable, FindsByIdAlone) {
  const KeyTable table("seal", {{.id = "B"}, {.id = "A"}, {.id = "C"}});
  EXPECT_EQ(table.find("B")->id, "B");
  EXPECT_EQ(table.find("b"), nullptr);
  EXPECT_EQ(table.find(""), nullptr);
  EXPECT_EQ(table.find("AA"), nullptr);
}

TEST(KeyTable, ReadsBackWhatItWrote) {
  const Key key{.id = "LEATX",
                .secret = "secret",
                .name = "ä \"quoted\"",
                .rules = {{.bucket = "b*", .prefix = "p/", .rights = {Right::read, Right::admin}}},
                .created_ms = 12,
                .expires_ms = 34};
  const auto again = decode(encode(KeyTable("seal", {key})));
  ASSERT_TRUE(again.has_value()) << again.error().message();
  EXPECT_EQ(again->seal(), "seal");
  EXPECT_EQ(*again->find("LEATX"), key);
}

TEST(KeyTable, AFlippedBitIsNoticedOrChangesNothing) {
  const Key key{.id = "LEATX",
                .secret = "secret",
                .name = "alice",
                .rules = {{.bucket = "b*", .prefix = "p/", .rights = {Right::read, Right::list}}},
                .created_ms = 12,
                .expires_ms = 34};
  const std::string whole = encode(KeyTable("seal", {key}));
  ASSERT_TRUE(decode(whole));
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string text = whole;
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
    const auto table = decode(text);
    if (!table) {
      EXPECT_EQ(table.error().code(), Errc::corrupt) << text;
      continue;
    }
    // Of the layout, or of the name of the checksum itself.
    ASSERT_EQ(table->all().size(), 1U) << text;
    EXPECT_EQ(*table->all().front(), key) << text;
    EXPECT_EQ(table->seal(), "seal") << text;
  }
}

TEST(KeyTable, AFileWithoutAChecksumIsReadAsItIs) {
  const auto table = decode(R"({"version": 1, "seal": "s", "keys": [{"id": "A", "secret": "s",
                                "name": "n", "created_ms": 1, "rules": []}]})");
  ASSERT_TRUE(table.has_value()) << table.error().message();
  EXPECT_NE(table->find("A"), nullptr);
}

TEST(KeyTable, AFileThatIsNoneIsDamaged) {
  for (const std::string_view text :
       {"", "{}", "[]", "null", R"({"version": 2, "seal": "s", "keys": []})",
        R"({"version": 1, "seal": 1, "keys": []})", R"({"version": 1, "seal": "s"})",
        R"({"version": 1, "seal": "s", "keys": [{"id": "a"}]})"}) {
    const auto table = decode(text);
    ASSERT_FALSE(table.has_value()) << text;
    EXPECT_EQ(table.error().code(), Errc::corrupt) << text;
  }
}

}  // namespace
}  // namespace leat::keys
