#include "transfer/entries.h"

#include <gtest/gtest.h>

#include "sim/world.h"

namespace leat::transfer {
namespace {

class FileEntriesTest : public ::testing::Test {
 protected:
  void write(const std::string& path) {
    ASSERT_TRUE(disk_.make_directories(path.substr(0, path.rfind('/'))));
    auto file = disk_.open(path, io::OpenMode::create);
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->write_all_at(0, as_bytes(path)));
  }

  std::vector<std::string> names(const std::string& root) {
    FileEntries entries({disk_, pool_}, root, [](const std::string&, const Error&) {});
    std::vector<std::string> all;
    while (true) {
      auto entry = world_.run(entries.next());
      EXPECT_TRUE(entry);
      if (!entry || !*entry) return all;
      all.push_back((*entry)->name);
    }
  }

  sim::SimWorld world_{7};
  io::Disk& disk_ = world_.disk("here");
  rt::BlockingPool pool_{"test", 0, 1};
};

// "a-b" < "a/x" < "a.txt" as bytes: '-' < '.' < '/'.
TEST_F(FileEntriesTest, ComeInTheOrderOfKeys) {
  for (const char* path : {"r/a/x", "r/a/y/z", "r/a.txt", "r/a-b", "r/b", "r/a0"}) {
    write(path);
  }
  const std::vector<std::string> expected = {"a-b", "a.txt", "a/x", "a/y/z", "a0", "b"};
  EXPECT_EQ(names("r"), expected);
  EXPECT_TRUE(std::ranges::is_sorted(expected));
}

TEST_F(FileEntriesTest, LeaveOutWhatIsStillArriving) {
  write("r/a.leat-part");
  write("r/b");
  EXPECT_EQ(names("r"), std::vector<std::string>{"b"});
}

TEST_F(FileEntriesTest, ComplainOfWhatIsStillArrivingWhereItWouldBeMissed) {
  write("r/a.leat-part");
  write("r/b");
  std::vector<std::string> told;
  const auto complain = [&told](const std::string& path, const Error&) { told.push_back(path); };
  FileEntries entries({disk_, pool_}, "r", complain, Incomplete::complain);
  EXPECT_EQ(world_.run(entries.next()).value()->name, "b");
  EXPECT_EQ(told, std::vector<std::string>{"r/a.leat-part"});
}

TEST_F(FileEntriesTest, OfAFolderThatIsNotThereAreNone) {
  EXPECT_TRUE(names("nowhere").empty());
}

}  // namespace
}  // namespace leat::transfer
