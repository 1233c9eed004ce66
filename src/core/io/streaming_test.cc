// ReadAhead and WriteBehind over a simulated disk whose calls take time and overtake each other.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "io/read_ahead.h"
#include "io/write_behind.h"
#include "sim/world.h"

namespace leat::io {
namespace {

using namespace std::chrono_literals;

// Counts how many calls run at the same time.
class CountingIo final : public FileIo {
 public:
  explicit CountingIo(FileIo& real) : real_(real) {}

  rt::Task<std::size_t> read_at(const File& file, std::uint64_t offset,
                                MutableBytes target) override {
    begin();
    asked_bytes += target.size();
    auto count = co_await real_.read_at(file, offset, target);
    --running;
    co_return count;
  }
  rt::Task<void> write_at(File& file, std::uint64_t offset, Bytes source) override {
    begin();
    auto done = co_await real_.write_at(file, offset, source);
    --running;
    co_return done;
  }
  rt::Task<void> sync_data(File& file) override { return real_.sync_data(file); }

  int calls = 0;
  int running = 0;
  int most = 0;
  std::uint64_t asked_bytes = 0;

 private:
  void begin() {
    ++calls;
    most = std::max(most, ++running);
  }
  FileIo& real_;
};

class StreamingTest : public ::testing::Test {
 protected:
  StreamingTest() {
    SeededRng(3).fill(std::as_writable_bytes(std::span(content)));
    auto made = disk.open("f", OpenMode::create).value();
    EXPECT_TRUE(made->write_all_at(0, as_bytes(content)));
    file = std::move(made);
  }

  ~StreamingTest() override {
    EXPECT_TRUE(world.run_until_idle());
    EXPECT_EQ(pool.in_use(), 0U);
    EXPECT_EQ(counting.running, 0);
  }

  std::unique_ptr<ReadAhead> reader(std::uint64_t offset, std::uint64_t length) {
    return std::make_unique<ReadAhead>(world.shard(), counting, pool,
                                       ReadAheadSource{file, offset, length});
  }

  // All pieces to the end, or the error that came instead.
  Result<std::string> read_all(ReadAhead& from) {
    std::string text;
    while (true) {
      auto piece = world.run(from.next());
      if (!piece) return fail(std::move(piece).error());
      if (piece->empty()) return text;
      text += as_text(*piece);
    }
  }

  static sim::WorldOptions slow_files() {
    sim::WorldOptions options;
    options.files = {.read = 1ms, .write = 1ms, .sync = 1ms, .jitter = 10ms};
    return options;
  }

  std::string content = std::string(100'000, '?');
  sim::SimWorld world{5, slow_files()};
  sim::SimDisk& disk{world.disk("a")};
  CountingIo counting{world.file_io("a")};
  BufferPool pool{4096, 16};
  std::shared_ptr<File> file;
};

using ReadAheadTest = StreamingTest;
using WriteBehindTest = StreamingTest;

TEST_F(ReadAheadTest, GivesEveryRangeInOrderHoweverTheReadsOvertake) {
  struct Range {
    std::uint64_t offset;
    std::uint64_t length;
  };
  for (const Range& r : {Range{0, 100'000}, Range{1, 99'999}, Range{4095, 2}, Range{4096, 4096},
                         Range{99'999, 1}, Range{5000, 50'000}, Range{7, 0}}) {
    const auto from = reader(r.offset, r.length);
    EXPECT_EQ(read_all(*from).value(), content.substr(r.offset, r.length)) << r.offset;
    EXPECT_EQ(world.run(from->next()).value().size(), 0U) << "the end stays the end";
  }
}

TEST_F(ReadAheadTest, ReadsNoMoreThanThePagesOfItsRange) {
  BufferPool large(64 * 1024, 4);
  const auto from = std::make_unique<ReadAhead>(world.shard(), counting, large,
                                                ReadAheadSource{file, 5000, 10'000});
  EXPECT_EQ(read_all(*from).value(), content.substr(5000, 10'000));
  EXPECT_EQ(counting.asked_bytes, 12'288U) << "4096 to 16384";
}

TEST_F(ReadAheadTest, KeepsSeveralReadsInFlightAndNoMoreThanItsDepth) {
  const auto from = reader(0, 100'000);
  EXPECT_TRUE(read_all(*from));
  EXPECT_EQ(counting.most, static_cast<int>(ReadAhead::kDepthMax));
  EXPECT_EQ(counting.calls, 25);
}

TEST_F(ReadAheadTest, NeedsOnlyOneBufferWhenOthersNeedTheRest) {
  std::vector<BufferPool::Buffer> others;
  for (int i = 0; i < 15; ++i) {
    others.push_back(pool.try_acquire());
  }
  const auto from = reader(0, 100'000);
  EXPECT_EQ(read_all(*from).value(), content);
  EXPECT_EQ(counting.most, 1);
}

TEST_F(ReadAheadTest, AFileThatEndsTooEarlyIsCorruptAndNotAShortRange) {
  const auto beyond = reader(90'000, 10'001);
  EXPECT_EQ(read_all(*beyond).error().code(), Errc::corrupt);
  const auto outside = reader(200'000, 1);
  EXPECT_EQ(read_all(*outside).error().code(), Errc::corrupt);
  const auto cut = reader(0, 100'000);
  EXPECT_TRUE(world.run(cut->next()));
  ASSERT_TRUE(file->truncate(50'000));
  EXPECT_EQ(read_all(*cut).error().code(), Errc::corrupt);
}

TEST_F(ReadAheadTest, AnErrorInTheMiddleComesWhereItBelongs) {
  disk.faults().add({.call = sim::DiskCall::read, .nth = 6});
  const auto from = reader(0, 100'000);
  std::size_t pieces = 0;
  Result<Bytes> piece = world.run(from->next());
  for (; piece && !piece->empty(); piece = world.run(from->next())) {
    ++pieces;
  }
  EXPECT_EQ(piece.error().code(), Errc::io);
  EXPECT_LT(pieces, 10U) << "reads overtake each other, so the sixth call is not the sixth piece";
}

// Under the address sanitizer this finds reads into memory that is gone.
TEST_F(ReadAheadTest, AbandonedItLetsItsReadsEndByThemselves) {
  for (int after = 0; after < 12; ++after) {
    auto from = reader(0, 100'000);
    EXPECT_TRUE(world.run(from->next()));
    world.run_for(Duration(after * 1ms));
    from.reset();
  }
  file.reset();
}

rt::Task<void> write_text(WriteBehind& writer, std::string_view text, std::size_t piece_max) {
  while (!text.empty()) {
    LEAT_CO_TRY(const MutableBytes buffer, co_await writer.next_buffer());
    const std::size_t count = std::min({buffer.size(), text.size(), piece_max});
    std::memcpy(buffer.data(), text.data(), count);
    writer.commit(count);
    text.remove_prefix(count);
  }
  co_return Status{};
}

std::string content_of(const File& file) {
  std::string text(file.info().value().size_bytes, '?');
  EXPECT_EQ(file.read_at(0, std::as_writable_bytes(std::span(text))).value(), text.size());
  return text;
}

TEST_F(WriteBehindTest, PutsEveryByteInItsPlaceHoweverTheWritesOvertake) {
  for (const std::size_t piece : {4096U, 1000U, 1U}) {
    const std::string text = content.substr(0, piece * 20);
    std::shared_ptr<File> target =
        disk.open("to" + std::to_string(piece), OpenMode::create_new).value();
    WriteBehind writer(world.shard(), counting, pool, target);
    EXPECT_TRUE(world.run(write_text(writer, text, piece)));
    EXPECT_TRUE(world.run(writer.finish()));
    EXPECT_EQ(writer.size_bytes(), text.size());
    EXPECT_EQ(content_of(*target), text);
  }
  EXPECT_EQ(counting.most, static_cast<int>(WriteBehind::kDepthMax));
}

TEST_F(WriteBehindTest, NothingWrittenIsAnEmptyFile) {
  std::shared_ptr<File> target = disk.open("to", OpenMode::create_new).value();
  WriteBehind writer(world.shard(), counting, pool, target);
  EXPECT_TRUE(world.run(writer.next_buffer()));
  writer.commit(0);
  EXPECT_TRUE(world.run(writer.finish()));
  EXPECT_EQ(content_of(*target), "");
}

TEST_F(WriteBehindTest, NeedsOnlyOneBufferWhenOthersNeedTheRest) {
  std::vector<BufferPool::Buffer> others;
  for (int i = 0; i < 15; ++i) {
    others.push_back(pool.try_acquire());
  }
  std::shared_ptr<File> target = disk.open("to", OpenMode::create_new).value();
  WriteBehind writer(world.shard(), counting, pool, target);
  EXPECT_TRUE(world.run(write_text(writer, content, 4096)));
  EXPECT_TRUE(world.run(writer.finish()));
  EXPECT_EQ(content_of(*target), content);
  EXPECT_EQ(counting.most, 1);
}

TEST_F(WriteBehindTest, AFailedWriteIsSaidBeforeTheEndAndAtTheEnd) {
  disk.faults().add({.call = sim::DiskCall::write, .posix_errno = ENOSPC, .nth = 3});
  std::shared_ptr<File> target = disk.open("to", OpenMode::create_new).value();
  WriteBehind writer(world.shard(), counting, pool, target);
  EXPECT_EQ(world.run(write_text(writer, content, 4096)).error().code(), Errc::no_space);
  EXPECT_EQ(world.run(writer.finish()).error().code(), Errc::no_space);
  EXPECT_LE(counting.calls, 8) << "it does not go on for long after an error";
}

TEST_F(WriteBehindTest, AFailureOfTheLastWriteIsNotMissed) {
  disk.faults().add({.call = sim::DiskCall::write, .nth = 1});
  std::shared_ptr<File> target = disk.open("to", OpenMode::create_new).value();
  WriteBehind writer(world.shard(), counting, pool, target);
  EXPECT_TRUE(world.run(write_text(writer, "short", 4096)));
  EXPECT_EQ(world.run(writer.finish()).error().code(), Errc::io);
}

TEST_F(WriteBehindTest, AbandonedItLetsItsWritesEndByThemselves) {
  for (int after = 0; after < 12; ++after) {
    std::shared_ptr<File> target = disk.open("to", OpenMode::create).value();
    auto writer = std::make_unique<WriteBehind>(world.shard(), counting, pool, std::move(target));
    EXPECT_TRUE(world.run(write_text(*writer, content.substr(0, 4096 * 3), 4096)));
    world.run_for(Duration(after * 1ms));
    writer.reset();
  }
}

}  // namespace
}  // namespace leat::io
