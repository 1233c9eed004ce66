#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>

#include "io/buffer_pool.h"
#include "io/disk.h"
#include "support/temp_folder.h"

namespace leat::io {
namespace {

using testing::TempFolder;

std::string content_of(const File& file) {
  std::string text(file.info().value().size_bytes, '?');
  EXPECT_EQ(file.read_at(0, std::as_writable_bytes(std::span(text))).value(), text.size());
  return text;
}

// Everything is asked of both: the machine's disk by absolute paths, and one below a root.
class PosixDiskTest : public ::testing::TestWithParam<bool> {
 protected:
  PosixDiskTest() {
    if (GetParam()) {
      disk.emplace(PosixDisk::below(folder.path()).value());
    } else {
      disk.emplace();
    }
  }

  std::string at(const std::string& name) const { return GetParam() ? name : folder.path(name); }
  Result<std::unique_ptr<File>> open(const std::string& name, OpenMode mode) {
    return disk->open(at(name), mode);
  }
  Errc open_error(const std::string& name, OpenMode mode) {
    return open(name, mode).error().code();
  }

  TempFolder folder;
  std::optional<PosixDisk> disk;
};

INSTANTIATE_TEST_SUITE_P(MachineAndRoot, PosixDiskTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "BelowARoot" : "Machine"; });

TEST_P(PosixDiskTest, AFileTakesTheTimeItIsGiven) {
  const auto file = open("f", OpenMode::create).value();
  const WallTime then(std::chrono::seconds(1'000'000'000) + std::chrono::nanoseconds(5));
  ASSERT_TRUE(file->set_modified(then));
  EXPECT_EQ(disk->info(at("f"))->modified, then);
}

TEST_P(PosixDiskTest, LookTellsFilesFoldersLinksAndTheRestApart) {
  ASSERT_TRUE(open("b", OpenMode::create).value()->write_all_at(0, as_bytes("four")));
  ASSERT_TRUE(disk->make_directories(at("a")));
  ASSERT_EQ(symlink("b", folder.path("c").c_str()), 0);
  ASSERT_EQ(mkfifo(folder.path("d").c_str(), 0600), 0);
  const auto entries = disk->look(GetParam() ? "." : folder.path()).value();
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[0].name, "a");
  EXPECT_EQ(entries[0].kind, EntryKind::folder);
  EXPECT_EQ(entries[1].kind, EntryKind::file);
  EXPECT_EQ(entries[1].info.size_bytes, 4U);
  EXPECT_EQ(entries[1].info.changed, disk->info(at("b"))->changed);
  EXPECT_EQ(entries[2].kind, EntryKind::link);
  EXPECT_EQ(entries[3].kind, EntryKind::other);
}

TEST_P(PosixDiskTest, AFileIsReadInOneCallWithWhatItWasThen) {
  ASSERT_TRUE(open("f", OpenMode::create).value()->write_all_at(0, as_bytes("0123456789")));
  std::string text(20, '?');
  const auto read = disk->read_file(at("f"), 4, std::as_writable_bytes(std::span(text))).value();
  EXPECT_EQ(text.substr(0, read.count), "456789");
  EXPECT_EQ(read.info.size_bytes, 10U);
  ASSERT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);
  for (const std::string name : {"pipe", "missing", "."}) {
    const auto none = disk->read_file(at(name), 0, std::as_writable_bytes(std::span(text)));
    EXPECT_EQ(none.error().code(), Errc::not_found) << name;
  }
}

TEST_P(PosixDiskTest, ModesMakeAndFindFilesAsTheySay) {
  EXPECT_EQ(open_error("f", OpenMode::read), Errc::not_found);
  EXPECT_EQ(open_error("f", OpenMode::read_write), Errc::not_found);
  EXPECT_EQ(open_error("f", OpenMode::read_uncached), Errc::not_found);
  EXPECT_TRUE(open("f", OpenMode::create_new).value()->write_all_at(0, as_bytes("text")));
  EXPECT_EQ(open_error("f", OpenMode::create_new), Errc::conflict);
  EXPECT_EQ(open_error("f", OpenMode::create_private), Errc::conflict);
  EXPECT_EQ(content_of(*open("f", OpenMode::create).value()), "text") << "kept";
  EXPECT_EQ(content_of(*open("f", OpenMode::read).value()), "text");
  EXPECT_FALSE(open("f", OpenMode::read).value()->write_at(0, as_bytes("x")));
}

TEST_P(PosixDiskTest, APrivateFileIsReadableByItsOwnerAlone) {
  ASSERT_TRUE(open("key", OpenMode::create_private));
  struct stat s{};
  ASSERT_EQ(::stat(folder.path("key").c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0600U);
}

TEST_P(PosixDiskTest, ReadsStopAtTheEndOfTheFile) {
  auto file = open("f", OpenMode::create).value();
  ASSERT_TRUE(file->write_all_at(3, as_bytes("abc")));
  std::array<std::byte, 10> buffer{};
  EXPECT_EQ(file->read_at(0, buffer).value(), 6U);
  EXPECT_EQ(as_text(Bytes(buffer).first(6)), std::string_view("\0\0\0abc", 6));
  EXPECT_EQ(file->read_at(5, buffer).value(), 1U);
  EXPECT_EQ(file->read_at(6, buffer).value(), 0U);
  EXPECT_EQ(file->read_at(1000, buffer).value(), 0U);
  ASSERT_TRUE(file->truncate(4));
  EXPECT_EQ(file->read_at(0, buffer).value(), 4U);
  EXPECT_TRUE(file->sync_data());
}

TEST_P(PosixDiskTest, InfoTellsSizeKindAndIdentity) {
  folder.write("f", "12345");
  folder.make_folder("d");
  const FileInfo info = disk->info(at("f")).value();
  EXPECT_EQ(info.size_bytes, 5U);
  EXPECT_FALSE(info.is_directory);
  const FileInfo same = open("f", OpenMode::read).value()->info().value();
  EXPECT_EQ(same.inode, info.inode);
  EXPECT_EQ(same.modified, info.modified);
  EXPECT_TRUE(disk->info(at("d")).value().is_directory);
  EXPECT_EQ(disk->info(at("nothing")).error().code(), Errc::not_found);
  EXPECT_EQ(disk->info(at("f/below")).error().code(), Errc::not_found);
}

TEST_P(PosixDiskTest, RenameReplacesAndRemoveRemoves) {
  folder.write("a", "a");
  folder.write("d/b", "b");
  EXPECT_TRUE(disk->rename(at("a"), at("d/b")));
  EXPECT_EQ(folder.read("d/b"), "a");
  EXPECT_FALSE(folder.exists("a"));
  EXPECT_TRUE(disk->remove(at("d/b")));
  EXPECT_EQ(disk->remove(at("d/b")).error().code(), Errc::not_found);
  EXPECT_EQ(disk->rename(at("a"), at("b")).error().code(), Errc::not_found);
  EXPECT_FALSE(disk->remove(at("d"))) << "folders are not removed";
}

TEST_P(PosixDiskTest, MakesFoldersWithTheirParentsAndIsFineIfTheyAreThere) {
  EXPECT_TRUE(disk->make_directories(at("a/b/c")));
  EXPECT_TRUE(disk->make_directories(at("a/b/c")));
  EXPECT_TRUE(disk->make_directories(at("a/b/d")));
  EXPECT_EQ(TempFolder::names_in(folder.path("a/b")), (std::vector<std::string>{"c", "d"}));
  folder.write("file", "x");
  EXPECT_EQ(disk->make_directories(at("file")).error().code(), Errc::conflict);
  EXPECT_FALSE(disk->make_directories(at("file/below")));
}

TEST_P(PosixDiskTest, EmptyNamesInAFoldersPathAreSkipped) {
  EXPECT_TRUE(disk->make_directories(at("a/")));
  EXPECT_TRUE(disk->make_directories(at("b//c///d//")));
  EXPECT_TRUE(disk->make_directories(at("b//c///d//")));
  EXPECT_TRUE(disk->info(at("a")).value().is_directory);
  EXPECT_TRUE(disk->info(at("b/c/d")).value().is_directory);
}

TEST_P(PosixDiskTest, ListsNamesInOrder) {
  for (const char* name : {"b", "a", ".hidden", "C"}) {
    folder.write(name, "");
  }
  EXPECT_EQ(disk->list(at(".")).value(), (std::vector<std::string>{".hidden", "C", "a", "b"}));
  EXPECT_EQ(disk->list(at("a")).error().code(), Errc::not_found);
  EXPECT_EQ(disk->list(at("nothing")).error().code(), Errc::not_found);
}

TEST_P(PosixDiskTest, SyncsFoldersAndKnowsItsSpace) {
  EXPECT_TRUE(disk->sync_directory(at(".")));
  EXPECT_EQ(disk->sync_directory(at("nothing")).error().code(), Errc::not_found);
  const DiskSpace space = disk->space(at(".")).value();
  EXPECT_GT(space.total_bytes, 0U);
  EXPECT_LE(space.available_bytes, space.total_bytes);
}

TEST_P(PosixDiskTest, ALockIsHeldByOneUntilItIsClosed) {
  auto first = open("lock", OpenMode::create).value();
  auto second = open("lock", OpenMode::create).value();
  EXPECT_TRUE(first->lock());
  EXPECT_EQ(second->lock().error().code(), Errc::conflict);
  first.reset();
  EXPECT_TRUE(second->lock());
}

TEST_P(PosixDiskTest, BytesJustWrittenAreCached) {
  auto file = open("f", OpenMode::create).value();
  ASSERT_TRUE(file->write_all_at(0, as_bytes(std::string(100'000, 'x'))));
  EXPECT_TRUE(file->is_cached(0, 100'000));
  EXPECT_TRUE(file->is_cached(99'999, 1));
  EXPECT_TRUE(file->is_cached(5000, 50'000));
}

TEST_P(PosixDiskTest, UncachedReadsGiveTheSameBytes) {
  const std::string text(10'000, 'u');
  folder.write("f", text);
  auto file = open("f", OpenMode::read_uncached);
  if (!file) GTEST_SKIP() << "this file system cannot bypass its cache";
  BufferPool pool(16384, 1);
  const auto buffer = pool.try_acquire();
  EXPECT_EQ((*file)->read_at(0, buffer.bytes()).value(), text.size());
  EXPECT_EQ(as_text(Bytes(buffer.bytes()).first(text.size())), text);
}

class BelowTest : public ::testing::Test {
 protected:
  BelowTest() {
    folder.write("secret", "secret");
    folder.write("root/file", "file");
    folder.make_folder("root/d");
    disk.emplace(PosixDisk::below(folder.path("root")).value());
  }

  TempFolder folder;
  std::optional<PosixDisk> disk;
};

TEST_F(BelowTest, ARootThatIsNotThereIsAnError) {
  EXPECT_EQ(PosixDisk::below(folder.path("nothing")).error().code(), Errc::not_found);
  EXPECT_FALSE(PosixDisk::below(folder.path("secret")));
}

TEST_F(BelowTest, NoCallLeavesTheRoot) {
  folder.make_link("root/out", "../secret");
  folder.make_link("root/up", "..");
  folder.make_link("root/absolute", folder.path("secret"));
  folder.make_link("root/machine", "/");
  for (const std::string path : {"../secret", "d/../../secret", "out", "up/secret", "absolute",
                                 "machine/etc/passwd", "/etc/passwd", "..", "up", "machine"}) {
    EXPECT_FALSE(disk->open(path, OpenMode::read)) << path;
    EXPECT_FALSE(disk->info(path)) << path;
    EXPECT_FALSE(disk->list(path)) << path;
    EXPECT_FALSE(disk->sync_directory(path)) << path;
    EXPECT_FALSE(disk->space(path)) << path;
  }
  for (const std::string path : {"../new", "up/new", "d/../../new", "machine/tmp/leat-test-new"}) {
    EXPECT_FALSE(disk->open(path, OpenMode::create)) << path;
    EXPECT_FALSE(disk->open(path, OpenMode::create_new)) << path;
    EXPECT_FALSE(disk->make_directories(path)) << path;
    EXPECT_FALSE(disk->rename("file", path)) << path;
  }
  for (const std::string path : {"../secret", "up/secret", "d/../../secret"}) {
    EXPECT_FALSE(disk->remove(path)) << path;
    EXPECT_FALSE(disk->rename(path, "stolen")) << path;
  }
  EXPECT_FALSE(disk->rename("file", ".."));
  EXPECT_FALSE(disk->remove(".."));
  EXPECT_FALSE(disk->make_directories(".."));
  EXPECT_EQ(TempFolder::names_in(folder.path()), (std::vector<std::string>{"root", "secret"}));
  EXPECT_EQ(folder.read("secret"), "secret");
  EXPECT_EQ(folder.read("root/file"), "file");
}

TEST_F(BelowTest, ALinkIsRemovedOrReplacedItselfAndNotWhatItPointsTo) {
  folder.make_link("root/out", "../secret");
  EXPECT_TRUE(disk->rename("file", "out"));
  EXPECT_EQ(folder.read("root/out"), "file");
  folder.make_link("root/again", "../secret");
  EXPECT_TRUE(disk->remove("again"));
  EXPECT_EQ(folder.read("secret"), "secret");
}

TEST_F(BelowTest, PathsInsideMayGoUpAndDown) {
  EXPECT_TRUE(disk->open("d/../file", OpenMode::read));
  EXPECT_TRUE(disk->open("./file", OpenMode::read));
}

TEST_F(BelowTest, PipesAreNotThereAndDoNotBlock) {
  folder.make_pipe("root/pipe");
  for (const OpenMode mode : {OpenMode::read, OpenMode::read_write, OpenMode::create}) {
    EXPECT_EQ(disk->open("pipe", mode).error().code(), Errc::not_found);
  }
}

TEST_F(BelowTest, StaysWithItsFolderWhenThatIsRenamed) {
  EXPECT_TRUE(PosixDisk().rename(folder.path("root"), folder.path("moved")));
  EXPECT_TRUE(disk->open("file", OpenMode::read));
  EXPECT_TRUE(disk->open("new", OpenMode::create_new));
  EXPECT_TRUE(folder.exists("moved/new"));
}

}  // namespace
}  // namespace leat::io
