#include "http1/media_type.h"

#include <gtest/gtest.h>

namespace leat::http1 {
namespace {

TEST(MediaType, FollowsFromTheEnding) {
  EXPECT_EQ(media_type_of("a/cat.JPEG"), "image/jpeg");
  EXPECT_EQ(media_type_of("shard-000001.tar"), "application/x-tar");
  EXPECT_EQ(media_type_of("a.b/cat"), "application/octet-stream");
  EXPECT_EQ(media_type_of(""), "application/octet-stream");
}

}  // namespace
}  // namespace leat::http1
