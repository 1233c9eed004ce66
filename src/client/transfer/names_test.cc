#include "transfer/names.h"

#include <gtest/gtest.h>

#include "transfer/location.h"
#include "transfer/upload_state.h"

namespace leat::transfer {
namespace {

TEST(Names, OrdinaryKeysAreFileNames) {
  for (const char* good : {"a", "a/b", ".hidden", "..a", "a..", "a b/ü", "-"}) {
    EXPECT_EQ(file_name_of(good).value(), good);
  }
}

TEST(Names, KeysThatWouldLeaveTheFolderAreRefused) {
  for (const char* bad : {"", "/a", "..", "../a", "a/..", "a/../b", "a//b", "./a", "a/./b", "a/"}) {
    ASSERT_FALSE(file_name_of(bad)) << bad;
    EXPECT_EQ(file_name_of(bad).error().code(), Errc::denied) << bad;
  }
  EXPECT_FALSE(file_name_of(std::string_view("a\0b", 3)));
}

TEST(Names, KeysThatAreCalledAsFilesThatAreStillArrivingAreRefused) {
  for (const char* bad : {"a.leat-part", "d/a.leat-part", "a.leat-part/b", ".leat-part"}) {
    EXPECT_FALSE(file_name_of(bad)) << bad;
  }
  EXPECT_TRUE(file_name_of("a.leat-part.txt"));
}

TEST(Names, AnIncompleteFileStandsBesideAndFits) {
  EXPECT_EQ(part_path("a/b"), "a/b.leat-part");
  const std::string longest(255, 'x');
  const std::string part = part_path("a/" + longest);
  EXPECT_LE(last_name(part).size(), 255U);
  EXPECT_TRUE(part.ends_with(kPartSuffix));
  EXPECT_NE(part, part_path("a/" + longest.substr(1) + "y"));
}

TEST(Location, TellsFilesFromObjects) {
  EXPECT_TRUE(parse_location("./a", "/h")->is_file());
  EXPECT_TRUE(parse_location("/a", "/h")->is_file());
  EXPECT_EQ(parse_location("~/a", "/h")->path, "/h/a");
  EXPECT_TRUE(parse_location("-", "/h")->is_stream());
  const auto object = parse_location("photos/a/b", "/h");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->object, (s3client::ObjectName{"photos", "a/b"}));
  EXPECT_EQ(parse_location("s3://photos", "")->object, (s3client::ObjectName{"photos", ""}));
  const auto elsewhere = parse_location("leat://node:9000/photos/a", "");
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->endpoint, "http://node:9000");
  EXPECT_EQ(elsewhere->object, (s3client::ObjectName{"photos", "a"}));
}

TEST(Location, RefusesWhatNamesNoBucket) {
  EXPECT_FALSE(parse_object("./a"));
  EXPECT_FALSE(parse_object("/a"));
  EXPECT_FALSE(parse_object("s3://"));
  EXPECT_FALSE(parse_object("-"));
}

TEST(Location, AFolderIsWhatIsBelowIt) {
  EXPECT_EQ(folder_prefix({"b", ""}), "");
  EXPECT_EQ(folder_prefix({"b", "a"}), "a/");
  EXPECT_EQ(folder_prefix({"b", "a/"}), "a/");
}

TEST(UploadState, IsReadBackForTheSameFileAlone) {
  UploadIdentity identity{.endpoint = "http://n",
                          .target = {"b", "k"},
                          .path = "f",
                          .size_bytes = 7,
                          .changed = WallTime(std::chrono::seconds(5))};
  const UploadState state{"upload-1", 8 * kMiB};
  const std::string text = encode(identity, state);
  const auto found = decode(text, identity);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, "upload-1");
  EXPECT_EQ(found->part_bytes, 8 * kMiB);
  UploadIdentity grown = identity;
  grown.size_bytes = 8;
  EXPECT_FALSE(decode(text, grown));
  EXPECT_EQ(state_path("s", identity), state_path("s", grown))
      << "the same place, whatever is in it";
  UploadIdentity described = identity;
  described.content.type = "image/jpeg";
  EXPECT_FALSE(decode(text, described)) << "the object would get what the first run said of it";
  described = identity;
  described.content.metadata = {{"a", "b"}};
  EXPECT_FALSE(decode(text, described));
  grown.target.key = "other";
  EXPECT_NE(state_path("s", identity), state_path("s", grown));
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    const auto cut = decode(std::string_view(text).substr(0, size), identity);
    EXPECT_TRUE(!cut || cut->id != "upload-1") << size;
  }
}

}  // namespace
}  // namespace leat::transfer
