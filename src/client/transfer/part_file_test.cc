#include "transfer/part_file.h"

#include <gtest/gtest.h>

#include "sim/world.h"

namespace leat::transfer {
namespace {

class PartFileTest : public ::testing::Test {
 protected:
  std::unique_ptr<PartFile> open(const std::string& etag = "tag") {
    return PartFile::open(disk_, "f", plan_, etag).value();
  }

  sim::SimWorld world_{3};
  sim::SimDisk& disk_ = world_.disk("here");
  PartPlan plan_{.size_bytes = 10, .part_bytes = 4, .count = 3};
};

TEST_F(PartFileTest, RemembersWhichPartsHaveArrived) {
  {
    const auto file = open();
    EXPECT_FALSE(file->has(0));
    ASSERT_TRUE(file->file().write_all_at(4, as_bytes("efgh")));
    ASSERT_TRUE(file->file().write_all_at(file->mark_offset(1), as_bytes("1")));
  }
  const auto again = open();
  EXPECT_FALSE(again->has(0));
  EXPECT_TRUE(again->has(1));
  EXPECT_FALSE(again->has(2));
}

TEST_F(PartFileTest, BeginsAnewForAnotherObjectOrOtherParts) {
  {
    const auto file = open();
    ASSERT_TRUE(file->file().write_all_at(file->mark_offset(1), as_bytes("1")));
  }
  EXPECT_FALSE(open("other")->has(1));
  {
    const auto file = open("other");
    ASSERT_TRUE(file->file().write_all_at(file->mark_offset(1), as_bytes("1")));
  }
  plan_ = {.size_bytes = 10, .part_bytes = 5, .count = 2};
  EXPECT_FALSE(open("other")->has(1));
}

TEST_F(PartFileTest, BecomesTheFileWhenItIsComplete) {
  const auto file = open();
  ASSERT_TRUE(file->file().write_all_at(0, as_bytes("abcdefghij")));
  ASSERT_TRUE(file->complete(WallTime{}));
  EXPECT_EQ(io::read_text(disk_, "f").value(), "abcdefghij");
  EXPECT_FALSE(disk_.info("f.leat-part"));
}

TEST_F(PartFileTest, OutlastsAPowerCutIfItIsToBeDurable) {
  const auto file = open();
  ASSERT_TRUE(file->file().write_all_at(0, as_bytes("abcdefghij")));
  ASSERT_TRUE(file->complete(WallTime{}, /*is_durable=*/true));
  disk_.crash(sim::CrashMode::drop_unsynced);
  EXPECT_EQ(io::read_text(disk_, "f").value(), "abcdefghij");
}

TEST_F(PartFileTest, BeginsAnewIfNothingCanProveItsParts) {
  {
    const auto file = open();
    ASSERT_TRUE(file->file().write_all_at(file->mark_offset(1), as_bytes("1")));
  }
  EXPECT_FALSE(PartFile::open(disk_, "f", plan_, "tag", /*goes_on=*/false).value()->has(1));
}

// Completes the file for another process right after it was opened here.
class RacingDisk final : public io::Disk {
 public:
  explicit RacingDisk(io::Disk& disk) : disk_(disk) {}
  Result<std::unique_ptr<io::File>> open(const std::string& path, io::OpenMode mode) override {
    auto file = disk_.open(path, mode);
    if (!std::exchange(has_raced_, true)) {
      EXPECT_TRUE(disk_.rename(path, "f"));
    }
    return file;
  }
  Result<io::FileInfo> info(const std::string& path) override { return disk_.info(path); }
  Status rename(const std::string& from, const std::string& to) override {
    return disk_.rename(from, to);
  }
  Status remove(const std::string& path) override { return disk_.remove(path); }
  Status make_directories(const std::string& path) override { return disk_.make_directories(path); }
  Result<std::vector<std::string>> list(const std::string& path) override {
    return disk_.list(path);
  }
  Status sync_directory(const std::string& path) override { return disk_.sync_directory(path); }
  Result<io::DiskSpace> space(const std::string& path) override { return disk_.space(path); }

 private:
  io::Disk& disk_;
  bool has_raced_ = false;
};

TEST_F(PartFileTest, DoesNotWriteIntoAFileThatAnotherProcessHasCompleted) {
  ASSERT_TRUE(open()->file().write_all_at(0, as_bytes("abcdefghij")));
  const std::string before = io::read_text(disk_, "f.leat-part").value();
  RacingDisk racing(disk_);
  const auto file = PartFile::open(racing, "f", plan_, "other");
  ASSERT_TRUE(file);
  EXPECT_EQ(io::read_text(disk_, "f").value(), before);
  EXPECT_TRUE(disk_.info("f.leat-part"));
}

TEST_F(PartFileTest, IsGoneWhenItWasBad) {
  ASSERT_TRUE(open()->discard());
  EXPECT_FALSE(disk_.info("f.leat-part"));
  EXPECT_FALSE(disk_.info("f"));
}

}  // namespace
}  // namespace leat::transfer
