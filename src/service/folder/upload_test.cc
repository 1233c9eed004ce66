#include "folder/upload.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "sim/world.h"

namespace leat::folder {
namespace {

using namespace std::chrono_literals;
using sim::CrashMode;
using sim::DiskCall;

rt::Task<void> fill(io::WriteBehind& writer, std::string_view text) {
  while (!text.empty()) {
    LEAT_CO_TRY(const MutableBytes buffer, co_await writer.next_buffer());
    const std::size_t count = std::min(buffer.size(), text.size());
    std::memcpy(buffer.data(), text.data(), count);
    writer.commit(count);
    text.remove_prefix(count);
  }
  co_return Status{};
}

rt::Task<bool> put(FolderState& state, UploadTools tools, std::string path, std::string_view text) {
  LEAT_CO_TRY(const auto upload, co_await Upload::begin(state, tools));
  LEAT_CO_DO(co_await fill(upload->writer(), text));
  co_return co_await upload->publish(std::move(path));
}

// Begins, writes, and goes away.
rt::Task<void> abandon(FolderState& state, UploadTools tools, std::string_view text) {
  LEAT_CO_TRY(const auto upload, co_await Upload::begin(state, tools));
  co_return co_await fill(upload->writer(), text);
}

std::string read(io::Disk& disk, const std::string& path) {
  const auto file = disk.open(path, io::OpenMode::read);
  if (!file) return "(none)";
  std::string text((*file)->info().value().size_bytes, '?');
  EXPECT_EQ((*file)->read_at(0, std::as_writable_bytes(std::span(text))).value(), text.size());
  return text;
}

class UploadTest : public ::testing::Test {
 protected:
  ~UploadTest() override {
    EXPECT_TRUE(world.run_until_idle());
    EXPECT_EQ(buffers.in_use(), 0U);
  }

  Result<bool> put(const std::string& path, std::string_view text) {
    auto replaced = world.run(folder::put(state, tools, path, text));
    EXPECT_TRUE(world.run_until_idle());
    return replaced;
  }

  std::vector<std::string> names() { return disk.list(".").value(); }

  sim::SimWorld world{1};
  sim::SimDisk& disk{world.disk("server")};
  rt::BlockingPool pool{"test", 0, 1};
  io::BufferPool buffers{4096, 8};
  FolderState state{disk, pool, FolderOptions{}};
  UploadTools tools{.shard = world.shard(),
                    .file_io = world.file_io("server"),
                    .buffers = buffers,
                    .rng = world.rng()};
  const std::string old_text = std::string(9000, 'o');
  const std::string new_text = std::string(20000, 'n');
};

TEST_F(UploadTest, CreatesThenReplaces) {
  EXPECT_EQ(put("f", old_text).value(), false);
  EXPECT_EQ(read(disk, "f"), old_text);
  EXPECT_EQ(put("f", new_text).value(), true);
  EXPECT_EQ(read(disk, "f"), new_text);
  EXPECT_EQ(put("empty", "").value(), false);
  EXPECT_EQ(read(disk, "empty"), "");
  EXPECT_EQ(names(), (std::vector<std::string>{"empty", "f"}));
}

TEST_F(UploadTest, MakesTheFoldersAboveIt) {
  EXPECT_EQ(put("a/b/c", new_text).value(), false);
  EXPECT_EQ(read(disk, "a/b/c"), new_text);
}

// Abuse case 27.
TEST_F(UploadTest, AbandonedItLeavesNothing) {
  ASSERT_TRUE(put("f", old_text));
  EXPECT_TRUE(world.run(abandon(state, tools, new_text)));
  EXPECT_EQ(read(disk, "f"), old_text);
  EXPECT_TRUE(world.run_until_idle());
  EXPECT_EQ(names(), (std::vector<std::string>{"f"}));
}

TEST_F(UploadTest, CleanRemovesWhatACrashLeftAndNothingElse) {
  ASSERT_TRUE(put("f", old_text));
  for (const char* name : {".leat-upload-0123", ".leat-upload-4567", ".leat-other"}) {
    ASSERT_TRUE(disk.open(name, io::OpenMode::create_new));
  }
  EXPECT_TRUE(Upload::clean(disk));
  EXPECT_EQ(names(), (std::vector<std::string>{".leat-other", "f"}));
}

TEST_F(UploadTest, AFolderOrAFileInTheWayIsAConflict) {
  ASSERT_TRUE(disk.make_directories("d"));
  ASSERT_TRUE(put("f", old_text));
  EXPECT_EQ(put("d", new_text).error().code(), Errc::conflict);
  EXPECT_EQ(put("f/g", new_text).error().code(), Errc::conflict);
  EXPECT_EQ(put("f/g/h", new_text).error().code(), Errc::conflict);
  EXPECT_EQ(read(disk, "f"), old_text);
  EXPECT_EQ(names(), (std::vector<std::string>{"d", "f"}));
}

TEST_F(UploadTest, AFailingDiskIsAnErrorAndTheOldFileStays) {
  ASSERT_TRUE(put("f", old_text));
  for (const DiskCall call : {DiskCall::open, DiskCall::write, DiskCall::rename}) {
    disk.faults().add({.call = call, .nth = 1});
    EXPECT_EQ(put("f", new_text).error().code(), Errc::io) << sim::name_of(call);
    EXPECT_EQ(read(disk, "f"), old_text) << sim::name_of(call);
    EXPECT_EQ(names(), (std::vector<std::string>{"f"})) << sim::name_of(call);
  }
  EXPECT_TRUE(put("f", new_text));
}

TEST_F(UploadTest, AFullDiskIsSaidSoAndGivesItsSpaceBack) {
  ASSERT_TRUE(put("f", old_text));
  disk.set_capacity(15000);
  EXPECT_EQ(put("f", new_text).error().code(), Errc::no_space);
  EXPECT_EQ(read(disk, "f"), old_text);
  EXPECT_EQ(names(), (std::vector<std::string>{"f"}));
  EXPECT_EQ(disk.space(".").value().available_bytes, 15000U - old_text.size());
}

TEST_F(UploadTest, AnUnsyncedNameIsAnErrorEvenIfItIsThere) {
  ASSERT_TRUE(put("f", old_text));
  disk.faults().add({.call = DiskCall::sync_directory, .nth = 1});
  const auto replaced = put("f", new_text);
  EXPECT_EQ(replaced.error().code(), Errc::io);
  EXPECT_NE(replaced.error().message().find("can be seen, but may be gone"), std::string::npos);
  EXPECT_EQ(read(disk, "f"), new_text);
}

TEST_F(UploadTest, AfterAFailedSyncTheFolderTakesNoChanges) {
  ASSERT_TRUE(put("f", old_text));
  for (const DiskCall call : {DiskCall::sync, DiskCall::sync_directory}) {
    int reports = 0;
    FolderState failing(disk, pool, FolderOptions{}, [&](const Error&) { ++reports; });
    Folder folder(failing, world.clock("server"));
    disk.faults().add({.call = call, .nth = 1});
    EXPECT_EQ(world.run(folder::put(failing, tools, "f", new_text)).error().code(), Errc::io);
    EXPECT_TRUE(failing.is_failed());
    EXPECT_EQ(world.run(folder::put(failing, tools, "g", new_text)).error().code(),
              Errc::unavailable);
    EXPECT_EQ(world.run(folder.remove("f")).error().code(), Errc::unavailable);
    EXPECT_TRUE(world.run(folder.open("f"))) << "reading goes on";
    EXPECT_TRUE(world.run_until_idle());
    EXPECT_EQ(reports, 1);
  }
}

TEST_F(UploadTest, AFullDiskDoesNotFailTheFolder) {
  ASSERT_TRUE(put("f", old_text));
  disk.faults().add({.call = DiskCall::sync, .posix_errno = ENOSPC, .nth = 1});
  EXPECT_EQ(put("f", new_text).error().code(), Errc::no_space);
  EXPECT_EQ(put("f", new_text).value(), true);
}

TEST_F(UploadTest, ReadersOfOtherShardsSeeTheNewFileAtOnce) {
  Folder folder(state, world.clock("server"));
  ASSERT_TRUE(put("f", "old"));
  const OpenFilePtr before = world.run(folder.open("f")).value();
  EXPECT_EQ(folder.find("f"), before);
  ASSERT_TRUE(put("f", "new"));
  EXPECT_EQ(folder.find("f"), nullptr);
  EXPECT_EQ(world.run(folder.open("f")).value()->content, "new");
  EXPECT_EQ(before->content, "old");
}

constexpr std::array kModes = {CrashMode::drop_unsynced, CrashMode::keep_all,
                               CrashMode::keep_random_subset, CrashMode::torn};

// Puts `text` at `path`, then cuts the power after every prefix of what that did to the disk.
// Returns all contents that were found; checks that an acknowledged one is there.
class CrashAnywhere : public UploadTest {
 protected:
  std::set<std::string> contents_after_crashes(const std::string& path, const std::string& text) {
    disk.start_log();
    EXPECT_TRUE(put(path, text));
    const auto& log = disk.log();
    EXPECT_GE(log.size(), 4U);
    std::set<std::string> seen;
    auto walk = disk.replay_prefix(0);
    for (std::size_t count = 0;; ++count) {
      for (const CrashMode mode : kModes) {
        for (int round = 0; round < 20; ++round) {
          auto crashed = walk->fork();
          io::SeededRng rng(count * 1000 + static_cast<std::uint64_t>(round));
          crashed->crash_with(sim::make_chooser({.mode = mode, .garbage = true}, rng));
          seen.insert(read(*crashed, path));
          if (count == log.size()) {
            EXPECT_EQ(read(*crashed, path), text);
          }
          EXPECT_TRUE(Upload::clean(*crashed));
          const auto names = crashed->list(".");
          for (const std::string& name : *names) {
            EXPECT_FALSE(name.starts_with(Folder::kUploadPrefix)) << name;
          }
        }
      }
      if (count == log.size()) return seen;
      walk->apply(log[count]);
    }
  }
};

TEST_F(CrashAnywhere, AReplacedFileIsTheOldOrTheNewOne) {
  ASSERT_TRUE(put("f", old_text));
  EXPECT_EQ(contents_after_crashes("f", new_text), (std::set<std::string>{old_text, new_text}));
}

TEST_F(CrashAnywhere, ANewFileIsThereWholeOrNotAtAll) {
  EXPECT_EQ(contents_after_crashes("f", new_text), (std::set<std::string>{"(none)", new_text}));
}

TEST_F(CrashAnywhere, SoIsOneInFoldersThatWereMadeForIt) {
  EXPECT_EQ(contents_after_crashes("a/b/f", new_text), (std::set<std::string>{"(none)", new_text}));
}

TEST_F(CrashAnywhere, AFolderThatSomebodyElseMadeIsMadeDurable) {
  ASSERT_TRUE(disk.make_directories("a/b"));
  EXPECT_EQ(contents_after_crashes("a/b/f", new_text), (std::set<std::string>{"(none)", new_text}));
}

TEST_F(CrashAnywhere, SoIsOneWhoseFirstSyncFailed) {
  {
    FolderState before(disk, pool, FolderOptions{});  // of a process that was started anew since
    disk.faults().add({.call = DiskCall::sync_directory, .nth = 1});
    EXPECT_FALSE(world.run(folder::put(before, tools, "a/f", old_text)));
    EXPECT_TRUE(world.run_until_idle());
  }
  EXPECT_EQ(contents_after_crashes("a/g", new_text), (std::set<std::string>{"(none)", new_text}));
}

}  // namespace
}  // namespace leat::folder
