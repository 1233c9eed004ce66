#include "folder/folder.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "sim/world.h"

namespace leat::folder {
namespace {

using namespace std::chrono_literals;

constexpr FolderOptions kOptions{
    .small_max_bytes = 100, .memory_max_bytes = 250, .files_max = 4, .trust = 1s};

// A file of a simulated disk that is not in the page cache.
class ColdFile final : public io::File {
 public:
  explicit ColdFile(std::unique_ptr<io::File> real) : real_(std::move(real)) {}
  Result<std::size_t> read_at(std::uint64_t offset, MutableBytes target) const override {
    return real_->read_at(offset, target);
  }
  Result<std::size_t> try_read_at(std::uint64_t, MutableBytes) const override {
    return fail(Errc::would_block);
  }
  Result<std::size_t> write_at(std::uint64_t offset, Bytes source) override {
    return real_->write_at(offset, source);
  }
  Status sync_data() override { return real_->sync_data(); }
  Status truncate(std::uint64_t size_bytes) override { return real_->truncate(size_bytes); }
  Result<io::FileInfo> info() const override { return real_->info(); }
  Status lock() override { return real_->lock(); }
  bool is_cached(std::uint64_t, std::uint64_t) const override { return false; }
  Result<std::unique_ptr<io::Mapping>> map_locked(std::uint64_t length) const override {
    return real_->map_locked(length);
  }
  int descriptor() const override { return -1; }

 private:
  std::unique_ptr<io::File> real_;
};

// Nothing is in its page cache, and `between` runs before a file is opened a second time.
class ColdDisk final : public io::Disk {
 public:
  explicit ColdDisk(io::Disk& real) : real_(real) {}
  Result<std::unique_ptr<io::File>> open(const std::string& path, io::OpenMode mode) override {
    if (mode == io::OpenMode::read_uncached && between) between();
    LEAT_TRY(auto file, real_.open(path, mode));
    return std::make_unique<ColdFile>(std::move(file));
  }
  Result<io::FileInfo> info(const std::string& path) override { return real_.info(path); }
  Status rename(const std::string& from, const std::string& to) override {
    return real_.rename(from, to);
  }
  Status remove(const std::string& path) override { return real_.remove(path); }
  Status make_directories(const std::string& path) override { return real_.make_directories(path); }
  Result<std::vector<std::string>> list(const std::string& path) override {
    return real_.list(path);
  }
  Status sync_directory(const std::string& path) override { return real_.sync_directory(path); }
  Result<io::DiskSpace> space(const std::string& path) override { return real_.space(path); }

  std::function<void()> between;

 private:
  io::Disk& real_;
};

class FolderTest : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    auto file = disk.open(path, io::OpenMode::create).value();
    ASSERT_TRUE(file->truncate(0));
    ASSERT_TRUE(file->write_all_at(0, as_bytes(text)));
    world.run_for(1us);  // so that every version has an hour of its own
  }

  Result<OpenFilePtr> open(const std::string& path) { return world.run(folder.open(path)); }
  std::string content(const std::string& path) { return open(path).value()->content; }

  sim::SimWorld world{1};
  sim::SimDisk& disk{world.disk("server")};
  rt::BlockingPool pool{"test", 0, 1};
  FolderState state{disk, pool, kOptions};
  Folder folder{state, world.clock("server")};
  Folder other{state, world.clock("server")};  // of another shard
};

TEST_F(FolderTest, SmallFilesAreInMemoryAndLargerOnesOpen) {
  write("small", std::string(100, 's'));
  write("large", std::string(101, 'l'));
  const OpenFilePtr small = open("small").value();
  EXPECT_EQ(small->content, std::string(100, 's'));
  EXPECT_EQ(small->file, nullptr);
  const OpenFilePtr large = open("large").value();
  EXPECT_EQ(large->content, "");
  ASSERT_NE(large->file, nullptr);
  EXPECT_EQ(large->file->info().value().size_bytes, 101U);
}

TEST_F(FolderTest, AnEmptyFileIsAFile) {
  write("empty", "");
  EXPECT_EQ(open("empty").value()->info.size_bytes, 0U);
}

TEST_F(FolderTest, AnEntryIsTrustedForItsTimeAndThenLookedAtAgain) {
  write("f", "one");
  EXPECT_EQ(folder.find("f"), nullptr) << "never opened";
  const OpenFilePtr one = open("f").value();
  write("f", "two");
  world.run_for(900ms);
  EXPECT_EQ(folder.find("f"), one);
  world.run_for(200ms);
  EXPECT_EQ(folder.find("f"), nullptr);
  const OpenFilePtr two = open("f").value();
  EXPECT_EQ(two->content, "two");
  EXPECT_NE(two->etag, one->etag);
  EXPECT_EQ(one->content, "one") << "who has the old version keeps it";
}

TEST_F(FolderTest, AnUnchangedFileIsNotReadAgain) {
  write("f", "text");
  const OpenFilePtr first = open("f").value();
  world.run_for(1h);
  const std::uint64_t opened = disk.calls(sim::DiskCall::open);
  EXPECT_EQ(open("f").value(), first);
  EXPECT_EQ(disk.calls(sim::DiskCall::open), opened);
  EXPECT_EQ(folder.find("f"), first) << "trusted again";
}

TEST_F(FolderTest, AChangeThroughLeatIsSeenByAllShardsAtOnce) {
  write("f", "one");
  write("g", "other");
  EXPECT_EQ(content("f"), "one");
  EXPECT_EQ(world.run(other.open("f")).value()->content, "one");
  EXPECT_TRUE(world.run(other.remove("f")));
  EXPECT_EQ(folder.find("f"), nullptr);
  EXPECT_EQ(open("f").error().code(), Errc::not_found);
  EXPECT_EQ(open("f").error().code(), Errc::not_found) << "and its entry is forgotten";
}

TEST_F(FolderTest, ARemovedFileStaysRemovedAfterAPowerCut) {
  ASSERT_TRUE(disk.make_directories("d"));
  write("d/f", "text");
  ASSERT_TRUE(disk.open("d/f", io::OpenMode::read).value()->sync_data());
  ASSERT_TRUE(disk.sync_directory("d"));
  ASSERT_TRUE(disk.sync_directory("."));
  EXPECT_TRUE(world.run(folder.remove("d/f")));
  disk.crash(sim::CrashMode::drop_unsynced);
  EXPECT_EQ(disk.info("d/f").error().code(), Errc::not_found);
}

TEST_F(FolderTest, FoldersAreNotRemoved) {
  ASSERT_TRUE(disk.make_directories("d"));
  EXPECT_EQ(world.run(folder.remove("d")).error().code(), Errc::not_found);
  EXPECT_TRUE(disk.info("d"));
  EXPECT_EQ(world.run(folder.remove("missing")).error().code(), Errc::not_found);
}

TEST_F(FolderTest, TheLeastRecentlyUsedFileGoesWhenThereAreTooMany) {
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    write(name, name);
  }
  for (const char* name : {"a", "b", "c", "d"}) {
    EXPECT_EQ(content(name), name);
  }
  EXPECT_NE(folder.find("a"), nullptr) << "used: b is the oldest now";
  EXPECT_EQ(content("e"), "e");
  EXPECT_EQ(folder.find("b"), nullptr);
  for (const char* name : {"a", "c", "d", "e"}) {
    EXPECT_NE(folder.find(name), nullptr) << name;
  }
}

TEST_F(FolderTest, SmallFilesStayWithinTheirMemory) {
  for (const char* name : {"a", "b", "c"}) {
    write(name, std::string(100, *name));
    EXPECT_EQ(content(name), std::string(100, *name));
  }
  EXPECT_EQ(folder.find("a"), nullptr);
  EXPECT_NE(folder.find("b"), nullptr);
  EXPECT_NE(folder.find("c"), nullptr);
}

TEST_F(FolderTest, ADiskThatFailsIsAnErrorAndNotAMissingFile) {
  write("f", "text");
  disk.faults().add({.call = sim::DiskCall::open, .nth = 1});
  EXPECT_EQ(open("f").error().code(), Errc::io);
  disk.faults().add({.call = sim::DiskCall::read, .nth = 1});
  EXPECT_EQ(open("f").error().code(), Errc::io);
  EXPECT_EQ(content("f"), "text");
}

TEST_F(FolderTest, FilesNotUsedForLongestAreClosedWhenDescriptorsRunOut) {
  for (const char* name : {"a", "b", "c", "d"}) {
    write(name, name);
  }
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(content(name), name);
  }
  disk.faults().add({.call = sim::DiskCall::open, .posix_errno = EMFILE, .nth = 1});
  EXPECT_EQ(content("d"), "d") << "one more try, after room was made";
  EXPECT_EQ(folder.find("a"), nullptr);
  EXPECT_EQ(folder.find("b"), nullptr);
  EXPECT_NE(folder.find("c"), nullptr);
  disk.faults().add(
      {.call = sim::DiskCall::open, .posix_errno = EMFILE, .nth = 1, .and_after = true});
  EXPECT_EQ(open("a").error().code(), Errc::busy);
}

TEST(FilesMaxFor, LeavesHalfOfTheDescriptorsToConnections) {
  EXPECT_EQ(files_max_for(1024, 2), 128U) << "two descriptors each: 512 in all";
  EXPECT_EQ(files_max_for(1 << 20, 2), 4096U);
  EXPECT_EQ(files_max_for(20, 64), 16U);
}

TEST_F(FolderTest, ARemovedFileIsClosedAtOnceHereAndByTheNextSweepElsewhere) {
  write("f", std::string(1000, 'f'));
  write("kept", "kept");
  ASSERT_TRUE(open("f"));
  ASSERT_TRUE(world.run(other.open("f")));
  const OpenFilePtr kept = world.run(other.open("kept")).value();
  ASSERT_TRUE(world.run(folder.remove("f")));
  EXPECT_EQ(folder.open_files(), 0U);
  EXPECT_EQ(other.open_files(), 2U);
  EXPECT_TRUE(world.run(other.sweep()));
  EXPECT_EQ(other.open_files(), 1U);
  EXPECT_EQ(other.find("kept"), kept) << "was looked at, and is trusted again";
}

TEST_F(FolderTest, ASweepClosesWhatWasReplacedBehindLeatsBack) {
  for (int i = 0; i < 4; ++i) {
    write("f" + std::to_string(i), std::string(1000, 'f'));
    ASSERT_TRUE(open("f" + std::to_string(i)));
  }
  write("new", std::string(1000, 'n'));
  ASSERT_TRUE(disk.rename("new", "f2"));
  EXPECT_TRUE(world.run(folder.sweep()));
  EXPECT_EQ(folder.open_files(), 4U) << "still trusted";
  world.run_for(2s);
  EXPECT_TRUE(world.run(folder.sweep()));
  EXPECT_EQ(folder.open_files(), 3U);
  EXPECT_EQ(folder.find("f2"), nullptr);
}

TEST_F(FolderTest, SweepsComeByThemselves) {
  write("f", "text");
  ASSERT_TRUE(open("f"));
  ASSERT_TRUE(disk.remove("f"));
  world.spawn(folder.keep_swept(), [](const Status&) {});
  world.run_for(kOptions.sweep_period + 1s);
  EXPECT_EQ(folder.open_files(), 0U);
}

TEST_F(FolderTest, ColdBytesAreReadAroundTheCacheTheFirstTimeOnly) {
  write("f", std::string(1000, 'f'));
  OpenFile file;
  file.info.size_bytes = 1000;
  file.uncached = disk.open("f", io::OpenMode::read).value();
  EXPECT_EQ(file.cold_source(600), file.uncached);
  EXPECT_EQ(file.cold_source(600), file.uncached);
  EXPECT_EQ(file.cold_source(600), nullptr);
}

TEST_F(FolderTest, BothDescriptorsOfAColdFileAreOfOneVersion) {
  write("f", std::string(1000, 'o'));
  write("new", std::string(1000, 'n'));
  ColdDisk cold(disk);
  FolderState cold_state(cold, pool, kOptions);
  Folder cold_folder(cold_state, world.clock("server"));
  cold.between = [&] { ASSERT_TRUE(disk.rename("new", "f")); };
  const OpenFilePtr mixed = world.run(cold_folder.open("f")).value();
  EXPECT_EQ(mixed->uncached, nullptr) << "it is another file";
  cold.between = nullptr;
  world.run_for(2s);
  const OpenFilePtr whole = world.run(cold_folder.open("f")).value();
  ASSERT_NE(whole->uncached, nullptr);
  EXPECT_EQ(whole->uncached->info().value().inode, whole->file->info().value().inode);
}

TEST(IsServable, TakesPlainNamesAndNothingElse) {
  using namespace std::string_view_literals;
  for (const std::string_view good :
       {"a", "a/b/c", "..a", "a..", "...", ".hidden", "a b", "~", "\\", "..\\..", "%2e%2e",
        "\xc3\xa4", "_/v1", ".leat-uploa"}) {
    EXPECT_TRUE(is_servable(good)) << good;
  }
  for (const std::string_view bad :
       {""sv, "/"sv, "/a"sv, "a/"sv, "a//b"sv, "."sv, ".."sv, "./a"sv, "../a"sv, "a/.."sv,
        "a/../b"sv, "a/./b"sv, "a\0b"sv, "\0"sv, ".leat-upload-1"sv, "a/.leat-upload-1"sv,
        ".leat-upload-/a"sv}) {
    EXPECT_FALSE(is_servable(bad)) << bad;
  }
}

TEST(ParentOf, IsEmptyForAFileInTheRoot) {
  EXPECT_EQ(parent_of("a"), "");
  EXPECT_EQ(parent_of("a/b/c"), "a/b");
}

}  // namespace
}  // namespace leat::folder
