// UringIo, PoolIo and InlineIo keep the same promises: each is given the same calls on a real file.
#include "io/file_io.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/pool_io.h"
#include "io/rng.h"
#include "io/uring_io.h"
#include "support/run_task.h"
#include "support/temp_folder.h"

namespace leat::io {
namespace {

using testing::run_task;
using testing::TempFolder;

enum class Kind : std::uint8_t { inline_io, pool, uring, uring_of_depth_two };

class FileIoTest : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    switch (GetParam()) {
      case Kind::inline_io: io = std::make_unique<InlineIo>(); return;
      case Kind::pool: io = std::make_unique<PoolIo>(pool); return;
      case Kind::uring: return open_ring(UringIo::kDepth);
      case Kind::uring_of_depth_two: return open_ring(2);
    }
  }

  void open_ring(std::uint32_t depth) {
    auto opened = UringIo::open(shard, depth);
    if (!opened) GTEST_SKIP() << opened.error().message();
    io = std::move(*opened);
  }

  std::unique_ptr<File> open(OpenMode mode) { return disk.open(folder.path("f"), mode).value(); }

  TempFolder folder;
  PosixDisk disk;
  rt::Shard shard{rt::ShardId(0)};
  rt::BlockingPool pool{"test", 3, 1000};
  std::unique_ptr<FileIo> io;
};

INSTANTIATE_TEST_SUITE_P(All, FileIoTest,
                         ::testing::Values(Kind::inline_io, Kind::pool, Kind::uring,
                                           Kind::uring_of_depth_two));

// The oracle is a string.
TEST_P(FileIoTest, RandomReadsAndWritesGiveWhatAStringWouldGive) {
  SeededRng rng(11);
  auto file = open(OpenMode::create_new);
  std::string model;
  for (int i = 0; i < 400; ++i) {
    const std::uint64_t offset = rng.below(40'000);
    std::string bytes(rng.chance(1, 20) ? 0 : rng.below(20'000), '?');
    if (rng.chance(1, 2)) {
      rng.fill(std::as_writable_bytes(std::span(bytes)));
      ASSERT_TRUE(run_task(shard, io->write_at(*file, offset, as_bytes(bytes))));
      if (!bytes.empty()) model.resize(std::max(model.size(), offset + bytes.size()));
      model.replace(std::min(offset, model.size()), bytes.size(), bytes);
    } else {
      const MutableBytes target = std::as_writable_bytes(std::span(bytes));
      const std::size_t got = run_task(shard, io->read_at(*file, offset, target)).value();
      const std::string want =
          offset < model.size() ? model.substr(offset, bytes.size()) : std::string();
      ASSERT_EQ(bytes.substr(0, got), want) << "call " << i;
    }
  }
  EXPECT_TRUE(run_task(shard, io->sync_data(*file)));
  EXPECT_TRUE(folder.read("f") == model);
}

TEST_P(FileIoTest, AWriteAndItsSyncMayBeOneCall) {
  SeededRng rng(12);
  auto file = open(OpenMode::create_new);
  std::string model;
  for (const std::size_t size : {1UL, 4096UL, 0UL, 70'000UL, 3'000'000UL}) {
    std::string bytes(size, '?');
    rng.fill(std::as_writable_bytes(std::span(bytes)));
    Status synced = fail(Errc::internal);
    const Bytes source = as_bytes(bytes);
    ASSERT_TRUE(run_task(shard, io->write_and_sync(*file, model.size(), source, synced)));
    EXPECT_TRUE(synced);
    model += bytes;
  }
  EXPECT_TRUE(folder.read("f") == model);
}

TEST_P(FileIoTest, AWriteThatFailsIsNotTakenForASync) {
  folder.write("f", "text");
  auto file = open(OpenMode::read);
  Status synced;
  EXPECT_FALSE(run_task(shard, io->write_and_sync(*file, 0, as_bytes("x"), synced)));
  EXPECT_EQ(folder.read("f"), "text");
}

TEST_P(FileIoTest, ErrorsOfTheKernelAreErrors) {
  folder.write("f", "text");
  auto file = open(OpenMode::read);
  EXPECT_FALSE(run_task(shard, io->write_at(*file, 0, as_bytes("x"))));
  EXPECT_EQ(folder.read("f"), "text");
}

rt::Task<void> read_block(FileIo& io, const File& file, std::size_t block, std::string& into) {
  const MutableBytes target = std::as_writable_bytes(std::span(into));
  LEAT_CO_TRY(const std::size_t got, co_await io.read_at(file, block * into.size(), target));
  if (got != into.size()) co_return fail(Errc::corrupt);
  co_return Status{};
}

TEST_P(FileIoTest, ManyReadsAtOnceAllEndWithTheirOwnBytes) {
  constexpr std::size_t kBlocks = 600;
  constexpr std::size_t kBlockBytes = 1024;
  std::string text(kBlocks * kBlockBytes, '?');
  SeededRng(5).fill(std::as_writable_bytes(std::span(text)));
  folder.write("f", text);
  auto file = open(OpenMode::read);
  std::vector<std::string> blocks(kBlocks, std::string(kBlockBytes, '?'));
  std::size_t done = 0;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    shard.spawn(read_block(*io, *file, i, blocks[i]), [&done](const Status& status) {
      EXPECT_TRUE(status) << status.error().message();
      ++done;
    });
  }
  while (done < kBlocks) {
    shard.context().restart();
    shard.context().run_one();
  }
  for (std::size_t i = 0; i < kBlocks; ++i) {
    EXPECT_EQ(blocks[i], text.substr(i * kBlockBytes, kBlockBytes)) << i;
  }
}

TEST_P(FileIoTest, UncachedReadsOfAlignedPiecesGiveTheSameBytes) {
  std::string text(4096 * 5 + 123, '?');
  SeededRng(6).fill(std::as_writable_bytes(std::span(text)));
  folder.write("f", text);
  auto file = disk.open(folder.path("f"), OpenMode::read_uncached);
  if (!file) GTEST_SKIP() << "this file system cannot bypass its cache";
  struct alignas(4096) Aligned {
    std::array<std::byte, 4096 * 8> bytes;
  };
  auto buffer = std::make_unique<Aligned>();
  EXPECT_EQ(run_task(shard, io->read_at(**file, 4096, buffer->bytes)).value(), text.size() - 4096);
  EXPECT_EQ(as_text(Bytes(buffer->bytes).first(text.size() - 4096)), text.substr(4096));
}

TEST(UringIo, AFailedSyncIsToldWhateverBecameOfTheWrite) {
  const LinkedOutcome both =
      judge_linked({.write = -EFBIG, .sync = -EIO, .wanted_bytes = 10, .was_split = true});
  EXPECT_FALSE(both.written);
  ASSERT_FALSE(both.synced);
  EXPECT_EQ(both.synced.error().code(), Errc::io);

  const LinkedOutcome sync_only = judge_linked({.write = 10, .sync = -ENOMEM, .wanted_bytes = 10});
  EXPECT_TRUE(sync_only.written);
  EXPECT_EQ(sync_only.synced.error().code(), Errc::io) << "busy would say that it was not tried";
  EXPECT_TRUE(sync_only.is_through);

  const LinkedOutcome write_only =
      judge_linked({.write = -ENOSPC, .sync = -ECANCELED, .wanted_bytes = 10});
  EXPECT_EQ(write_only.written.error().code(), Errc::no_space);
  EXPECT_TRUE(write_only.synced);
}

TEST(UringIo, AWriteThatWasShortOrLostItsLinkIsNotThrough) {
  EXPECT_TRUE(judge_linked({.write = 10, .sync = 0, .wanted_bytes = 10}).is_through);
  EXPECT_FALSE(judge_linked({.write = 4, .sync = -ECANCELED, .wanted_bytes = 10}).is_through);
  EXPECT_FALSE(
      judge_linked({.write = 10, .sync = 0, .wanted_bytes = 10, .was_split = true}).is_through);
}

TEST(UringIo, LeavesNothingOpenWhenItEnds) {
  TempFolder folder;
  folder.write("f", "text");
  rt::Shard shard(rt::ShardId(0));
  PosixDisk disk;
  auto file = disk.open(folder.path("f"), OpenMode::read).value();
  const int before = file->descriptor();
  for (int i = 0; i < 50; ++i) {
    auto ring = UringIo::open(shard);
    if (!ring) GTEST_SKIP() << ring.error().message();
    std::array<std::byte, 4> bytes{};
    EXPECT_EQ(run_task(shard, (*ring)->read_at(*file, 0, bytes)).value(), 4U);
  }
  shard.context().poll();
  auto again = disk.open(folder.path("f"), OpenMode::read).value();
  EXPECT_LE(again->descriptor(), before + 5);
}

}  // namespace
}  // namespace leat::io
