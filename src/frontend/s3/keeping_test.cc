// How durable writes are and how long deleted objects stay, set by sub-resources; tags of buckets.
#include "s3/s3_fixture_test.h"

namespace leat::s3 {
namespace {

class KeepingTest : public S3Test {
 protected:
  std::string tags(int count) {
    std::string body = "<Tagging><TagSet>";
    for (int i = 0; i < count; ++i)
      body += fmt::format("<Tag><Key>k{}</Key><Value>v &amp; {}</Value></Tag>", i, i);
    return body + "</TagSet></Tagging>";
  }
};

TEST_F(KeepingTest, EveryWriteNamesItsDurability) {
  ASSERT_EQ(ask("PUT", "/photos?leat-durability", {}, "group").status, 204);
  const auto durability = [](const Reply& reply) {
    EXPECT_LT(reply.status, 300) << reply.body;
    return reply.field("x-leat-durability");
  };
  EXPECT_EQ(durability(put("a", "abc")), "group");
  EXPECT_EQ(durability(put("b", "", {{"x-amz-copy-source", "/photos/a"}})), "group");
  EXPECT_EQ(durability(ask("PUT", "/photos/a?tagging", {}, tags(1))), "group");
  EXPECT_EQ(durability(ask("DELETE", "/photos/b")), "group");
  EXPECT_EQ(durability(ask("POST", "/photos?delete", {},
                           "<Delete><Object><Key>a</Key></Object></Delete>")),
            "group");
  const Reply begun = ask("POST", "/photos/c?uploads");
  EXPECT_EQ(durability(begun), "sync") << "the beginning of an upload always is";
  const std::string upload = element(begun, "UploadId");
  const Reply part = ask("PUT", "/photos/c?partNumber=1&uploadId=" + upload, {}, "part");
  EXPECT_EQ(durability(part), "group");
  EXPECT_EQ(durability(ask("POST", "/photos/c?uploadId=" + upload, {},
                           listing({{1, part.field("etag")}}))),
            "group");
  EXPECT_EQ(durability(ask("PUT", "/photos?leat-undo", {}, "1h")), "sync") << "as all of buckets";
  EXPECT_EQ(ask("GET", "/photos/c").field("x-leat-durability"), "(none)") << "not a write";
  EXPECT_EQ(put("d", "x", {{"If-Match", "\"no\""}}).field("x-leat-durability"), "(none)")
      << "refused";
}

TEST_F(KeepingTest, TheDurabilityIsSetAndShown) {
  EXPECT_EQ(ask("GET", "/photos?leat-durability").body, "sync");
  for (const std::string word : {"relaxed", "group", "sync"}) {
    ASSERT_EQ(ask("PUT", "/photos?leat-durability", {}, word).status, 204);
    EXPECT_EQ(ask("GET", "/photos?leat-durability").body, word);
    EXPECT_EQ(put("k", "x").field("x-leat-durability"), word);
  }
  for (const std::string_view word : {"", "Sync", "none", "sync\n"}) {
    EXPECT_EQ(code(ask("PUT", "/photos?leat-durability", {}, word)), "400 InvalidArgument");
  }
  EXPECT_EQ(code(ask("PUT", "/none?leat-durability", {}, "group")), "404 NoSuchBucket");
}

TEST_F(KeepingTest, WhatIsDeletedWithinAWindowThatWasSetLaterComesBack) {
  EXPECT_EQ(ask("GET", "/photos?leat-undo").body, "off");
  ASSERT_EQ(put("k", "precious").status, 200);
  ASSERT_EQ(ask("PUT", "/photos?leat-undo", {}, "90m").status, 204);
  EXPECT_EQ(ask("GET", "/photos?leat-undo").body, "90m");
  ASSERT_EQ(ask("DELETE", "/photos/k").status, 204);
  const auto bucket = rig_.store().find_bucket("photos")->id;
  EXPECT_TRUE(rig_.run(rig_.store().restore({bucket, "k"}, std::nullopt)));
  EXPECT_EQ(ask("GET", "/photos/k").body, "precious");
  ASSERT_EQ(ask("PUT", "/photos?leat-undo", {}, "off").status, 204);
  ASSERT_EQ(ask("DELETE", "/photos/k").status, 204);
  EXPECT_FALSE(rig_.run(rig_.store().restore({bucket, "k"}, std::nullopt)));
}

TEST_F(KeepingTest, AWindowHasAUnitAndABound) {
  for (const std::string text : {"1ms", "1500ms", "36500d", "7d", "49h"}) {
    ASSERT_EQ(ask("PUT", "/photos?leat-undo", {}, text).status, 204) << text;
    EXPECT_EQ(ask("GET", "/photos?leat-undo").body, text);
  }
  for (const std::string_view text : {"", "7", "-7d", "36501d", "1us", "7d ", "week"}) {
    EXPECT_EQ(code(ask("PUT", "/photos?leat-undo", {}, text)), "400 InvalidArgument") << text;
  }
  EXPECT_EQ(ask("GET", "/photos?leat-undo").body, "49h");
}

TEST_F(KeepingTest, OnlyWhoAdministersSetsThem) {
  const auto writer = key_with({{.bucket = "photos", .rights = {keys::Right::write}}});
  EXPECT_EQ(ask_as(writer, "GET", "/photos?leat-durability").body, "sync");
  EXPECT_EQ(ask_as(writer, "GET", "/photos?leat-undo").body, "off");
  EXPECT_EQ(code(ask_as(writer, "PUT", "/photos?leat-durability", {}, "relaxed")),
            "403 AccessDenied");
  EXPECT_EQ(code(ask_as(writer, "PUT", "/photos?leat-undo", {}, "1d")), "403 AccessDenied");
  EXPECT_EQ(code(ask_as(writer, "PUT", "/photos?tagging", {}, tags(1))), "403 AccessDenied");
}

TEST_F(KeepingTest, TagsOfABucketAreSetShownAndRemoved) {
  EXPECT_EQ(code(ask("GET", "/photos?tagging")), "404 NoSuchTagSet");
  ASSERT_EQ(ask("PUT", "/photos?tagging", {}, tags(50)).status, 204);
  const Reply shown = ask("GET", "/photos?tagging");
  EXPECT_EQ(elements(shown, "Key").size(), 50U);
  EXPECT_EQ(element(shown, "Value"), "v &amp; 0");
  EXPECT_EQ(code(ask("PUT", "/photos?tagging", {}, tags(51))), "400 BadRequest");
  EXPECT_EQ(code(ask("PUT", "/photos?tagging", {}, "<Tagging/>")), "400 MalformedXML");
  EXPECT_EQ(elements(ask("GET", "/photos?tagging"), "Key").size(), 50U);
  ASSERT_EQ(ask("DELETE", "/photos?tagging").status, 204);
  EXPECT_EQ(code(ask("GET", "/photos?tagging")), "404 NoSuchTagSet");
}

TEST_F(KeepingTest, TagsOfABucketAreNotThoseOfItsObjects) {
  ASSERT_EQ(put("k", "x").status, 200);
  ASSERT_EQ(ask("PUT", "/photos?tagging", {}, tags(2)).status, 204);
  EXPECT_EQ(elements(ask("GET", "/photos/k?tagging"), "Key").size(), 0U);
}

}  // namespace
}  // namespace leat::s3
