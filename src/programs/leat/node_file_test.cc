#include "leat/node_file.h"

#include <gtest/gtest.h>

#include "sim/sim_disk.h"
#include "sim/world.h"

namespace leat::programs {
namespace {

class NodeFileTest : public ::testing::Test {
 protected:
  NodeFileTest() { EXPECT_TRUE(disk_.make_directories("/d")); }

  sim::SimWorld world_{1};
  sim::SimDisk& disk_ = world_.disk("node");
  const NodeFile node_{.url = "https://127.0.0.1:9443", .region = "leat", .ca_file = "/d/tls.pem"};
};

TEST_F(NodeFileTest, ANodeIsFoundWhileItHoldsItsFile) {
  auto held = publish_node(disk_, "/d", node_);
  ASSERT_TRUE(held) << held.error().message();
  const auto found = running_node(disk_, "/d");
  ASSERT_TRUE(found && *found);
  EXPECT_EQ(**found, node_);
}

TEST_F(NodeFileTest, AFileThatNobodyHoldsTellsNothing) {
  EXPECT_EQ(*running_node(disk_, "/d"), std::nullopt);
  ASSERT_TRUE(publish_node(disk_, "/d", node_));
  EXPECT_EQ(*running_node(disk_, "/d"), std::nullopt);
}

TEST_F(NodeFileTest, ANewStartIsNotHeldUpByWhoLooksAtTheOldFile) {
  ASSERT_TRUE(publish_node(disk_, "/d", node_));
  const auto looked_at = disk_.open("/d/node.json", io::OpenMode::read);
  ASSERT_TRUE((*looked_at)->lock());
  auto held = publish_node(disk_, "/d", {.url = "http://127.0.0.1:1"});
  ASSERT_TRUE(held) << held.error().message();
  EXPECT_EQ((*running_node(disk_, "/d"))->url, "http://127.0.0.1:1");
}

TEST_F(NodeFileTest, WhatWasLeftHalfWrittenIsReplaced) {
  ASSERT_TRUE(disk_.open("/d/node.json.new", io::OpenMode::create_new));
  auto held = publish_node(disk_, "/d", node_);
  ASSERT_TRUE(held) << held.error().message();
  EXPECT_TRUE(running_node(disk_, "/d")->has_value());
}

TEST(Reachable, AddressesThatMeanAllAreNamedByOneThatIsHere) {
  EXPECT_EQ(reachable({"0.0.0.0", 9000}).to_string(), "127.0.0.1:9000");
  EXPECT_EQ(reachable({"::", 9000}).to_string(), "[::1]:9000");
  EXPECT_EQ(reachable({"10.0.0.1", 9000}).to_string(), "10.0.0.1:9000");
}

}  // namespace
}  // namespace leat::programs
