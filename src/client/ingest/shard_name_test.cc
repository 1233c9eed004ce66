#include "ingest/shard_name.h"

#include <gtest/gtest.h>

namespace leat::ingest {
namespace {

TEST(ShardName, PutsNumberAndIdWhereThePatternSays) {
  EXPECT_EQ(ShardName().key("train", 7, "1f3c"), "train/000007-1f3c.tar");
  const auto other = ShardName::parse("a_{id}.{number}.tar");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->key("a/b", 1234567, "{number}"), "a/b/a_{number}.1234567.tar");
}

TEST(ShardName, RefusesNamesThatVersionsCouldShareOrToolsMisread) {
  for (const char* pattern :
       {"", "{number}.tar", "{id}.tar", "{number}-{id}", "{number}/{id}.tar", "{number}-{id}*.tar",
        "{number}{number}-{id}.tar", "x{n}-{number}-{id}.tar", "_leat/{number}-{id}.tar"}) {
    EXPECT_FALSE(ShardName::parse(pattern)) << pattern;
  }
  EXPECT_FALSE(ShardName::parse(std::string(200, 'x') + "{number}-{id}.tar"));
}

}  // namespace
}  // namespace leat::ingest
