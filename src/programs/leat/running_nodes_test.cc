#include "leat/running_nodes.h"

#include <gtest/gtest.h>

#include "sim/sim_disk.h"
#include "sim/world.h"

namespace leat::programs {
namespace {

class RunningNodesTest : public ::testing::Test {
 protected:
  // A node on the directory, as long as the file is kept.
  std::unique_ptr<io::File> run_on(const std::string& directory) {
    EXPECT_TRUE(disk_.make_directories(directory));
    auto file = publish_node(disk_, directory, {.url = "http://node" + directory});
    EXPECT_TRUE(file);
    return std::move(*file);
  }

  std::unique_ptr<NodeNote> note(const std::string& directory) {
    auto left = NodeNote::leave(disk_, "/state", directory);
    EXPECT_TRUE(left) << left.error().message();
    return std::move(*left);
  }

  std::vector<std::string> directories() {
    std::vector<std::string> all;
    for (const RunningNode& node : running_nodes(disk_, "/state"))
      all.push_back(node.directory);
    return all;
  }

  using Names = std::vector<std::string>;
  sim::SimWorld world_{1};
  sim::SimDisk& disk_ = world_.disk("home");
};

TEST_F(RunningNodesTest, ANodeIsKnownWhileItsNoteIsThere) {
  EXPECT_EQ(directories(), Names{});
  const auto one = run_on("/one");
  auto left = note("/one");
  EXPECT_EQ(directories(), Names{"/one"});
  EXPECT_EQ(only_running_node(disk_, "/state", "leat env")->file.url, "http://node/one");
  left.reset();
  EXPECT_EQ(directories(), Names{});
  EXPECT_EQ(disk_.list("/state/nodes")->size(), 0U);
}

TEST_F(RunningNodesTest, ANodeThatDiedIsPassedOverAndItsNoteClearedAwayByTheNext) {
  auto dead = run_on("/dead");
  const auto stale = note("/dead");
  dead.reset();
  EXPECT_EQ(directories(), Names{});
  const auto two = run_on("/two");
  const auto left = note("/two");
  EXPECT_EQ(directories(), Names{"/two"});
  EXPECT_EQ(disk_.list("/state/nodes")->size(), 1U);
}

TEST_F(RunningNodesTest, OneIsChosenOnlyIfItIsTheOnlyOne) {
  EXPECT_EQ(only_running_node(disk_, "/state", "leat env").error().code(), Errc::not_found);
  const auto b = run_on("/b");
  const auto a = run_on("/a");
  const auto note_b = note("/b");
  const auto note_a = note("/a");
  EXPECT_EQ(directories(), (Names{"/a", "/b"}));
  EXPECT_EQ(only_running_node(disk_, "/state", "leat env").error().code(), Errc::bad_request);
}

}  // namespace
}  // namespace leat::programs
