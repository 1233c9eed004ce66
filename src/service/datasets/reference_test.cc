#include "datasets/reference.h"

#include <gtest/gtest.h>

namespace leat::datasets {
namespace {

Which which(std::string_view text) {
  const auto parsed = parse_reference(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? parsed->which : Which{};
}
bool is_refused(std::string_view text) {
  const auto parsed = parse_reference(text);
  return !parsed && parsed.error().code() == Errc::bad_request;
}

TEST(Reference, NamesADatasetAndAVersionOfIt) {
  const auto plain = parse_reference("imagenet/train");
  EXPECT_EQ(plain->dataset, (DatasetName{.bucket = "imagenet", .name = "train"}));
  EXPECT_EQ(plain->which, Which(Latest{}));
  EXPECT_EQ(parse_reference("leat://imagenet/a/b@7")->dataset.name, "a/b");
  EXPECT_EQ(which("imagenet/train@7"), Which(VersionNumber{7}));
  EXPECT_EQ(which("imagenet/train@v1.0-best_one"), Which(Tag{"v1.0-best_one"}));
}

TEST(Reference, ATimeMeansTheEndOfWhatItNames) {
  constexpr std::int64_t kDay = 1'793'491'200'000;  // 2026-11-01T00:00:00Z
  EXPECT_EQ(which("a/b@2026-11-01"), Which(AsOf{kDay + 86'400'000 - 1}));
  EXPECT_EQ(which("a/b@2026-11-01T12:30"), Which(AsOf{kDay + (12 * 60 + 31) * 60'000 - 1}));
  EXPECT_EQ(which("a/b@2026-11-01T12:30:45Z"),
            Which(AsOf{kDay + ((12 * 60 + 30) * 60 + 46) * 1000 - 1}));
  EXPECT_EQ(which("a/b@2024-02-29"), Which(AsOf{1'709'251'199'999}));
}

TEST(Reference, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", "imagenet", "/train", "imagenet/", "a//", "a/b@", "a/b@c@d", "a/b@x/y", "a/b@ ",
        "a/b\n", "a/\xff", "a/_leat", "a/x/_leat/y", "a/b@2026-11-01T12:30:45+01"}) {
    EXPECT_TRUE(is_refused(text)) << text;
  }
}

TEST(Reference, ATagIsNoNumberAndNoDate) {
  EXPECT_TRUE(check_tag("best"));
  EXPECT_TRUE(check_tag("2026-13-45")) << "no such day";
  for (const char* tag : {"", "7", "2026-11-01", "a b", "a@b", "a/b"})
    EXPECT_FALSE(check_tag(tag)) << tag;
  EXPECT_FALSE(check_tag(std::string(101, 'a')));
}

}  // namespace
}  // namespace leat::datasets
