#include <gtest/gtest.h>

#include "segment/scan.h"
#include "segment/segment_folder.h"
#include "sim/world.h"

namespace leat::segment {
namespace {

using record::kSegmentHeaderBytes;

class SegmentTest : public testing::Test {
 protected:
  SegmentTest() {
    EXPECT_TRUE(disk_.make_directories("segments"));
    file_ = folder_.create(id_, 1).value();
  }

  // Writes one batch of `count` small objects; `durable` is what it says was on the disk before.
  void append(int count, std::uint64_t durable) {
    record::BatchBuilder builder(folder_.site(id_), end_, durable);
    const std::string data(100, 'd');
    for (int i = 0; i < count; ++i) {
      record::Change change =
          record::PutObject{.object = {record::BucketId(1), std::to_string(next_)}};
      builder.add(record::Sequence(next_++), change, record::sum_blocks({as_bytes(data)}), false);
    }
    const Bytes bytes = builder.finish();
    EXPECT_TRUE(file_->write_all_at(end_, bytes));
    end_ += bytes.size();
  }

  Result<ScanEnd> scan_all(bool is_sealed = false) {
    seen_ = 0;
    const Visit visit = [this](const record::Record&) -> Status {
      ++seen_;
      return {};
    };
    return scan(*file_, folder_.site(id_), {.is_sealed = is_sealed}, visit);
  }

  sim::SimWorld world_{1};
  sim::SimDisk& disk_ = world_.disk("node");
  SegmentFolder folder_{disk_, "segments", record::DiskId{}};
  const record::SegmentId id_{7};
  std::unique_ptr<io::File> file_;
  std::uint64_t end_ = kSegmentHeaderBytes;
  std::uint64_t next_ = 1;
  int seen_ = 0;
};

// Counts the bytes that are asked for; everything else is not used.
class CountingFile final : public io::File {
 public:
  explicit CountingFile(const io::File& file) : file_(file) {}

  std::uint64_t asked_bytes() const { return asked_bytes_; }
  Result<std::size_t> read_at(std::uint64_t offset, MutableBytes target) const override {
    asked_bytes_ += target.size();
    return file_.read_at(offset, target);
  }
  Result<std::size_t> try_read_at(std::uint64_t offset, MutableBytes target) const override {
    return read_at(offset, target);
  }
  Result<std::size_t> write_at(std::uint64_t, Bytes) override { return fail(Errc::denied); }
  Status sync_data() override { return fail(Errc::denied); }
  Status truncate(std::uint64_t) override { return fail(Errc::denied); }
  Result<io::FileInfo> info() const override { return file_.info(); }
  Status lock() override { return fail(Errc::denied); }
  bool is_cached(std::uint64_t, std::uint64_t) const override { return false; }
  Result<std::unique_ptr<io::Mapping>> map_locked(std::uint64_t) const override {
    return fail(Errc::denied);
  }
  int descriptor() const override { return -1; }

 private:
  const io::File& file_;
  mutable std::uint64_t asked_bytes_ = 0;
};

TEST_F(SegmentTest, OneRecordCostsLittleMoreThanItself) {
  append(4000, kSegmentHeaderBytes);
  ASSERT_GT(end_, 500'000U);
  std::vector<std::uint64_t> offsets;
  const Visit visit = [&offsets](const record::Record& record) -> Status {
    offsets.push_back(record.offset);
    return {};
  };
  ASSERT_TRUE(scan(*file_, folder_.site(id_), {}, visit));
  const CountingFile counting(*file_);
  for (std::size_t i = 0; i < 100; ++i) {
    const auto record = read_record(counting, folder_.site(id_), offsets[i * 29]);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->header.sequence, record::Sequence(i * 29 + 1));
  }
  EXPECT_LE(counting.asked_bytes(), 100U * 1024);
}

TEST_F(SegmentTest, AllBatchesAreVisitedInOrder) {
  append(3, kSegmentHeaderBytes);
  append(2, end_);
  append(0, end_);
  const auto end = scan_all();
  ASSERT_TRUE(end);
  EXPECT_EQ(seen_, 5);
  EXPECT_EQ(end->offset, end_);
  EXPECT_EQ(end->last, record::Sequence(5));
  EXPECT_EQ(end->torn_bytes, 0U);
}

TEST_F(SegmentTest, ATornLastBatchEndsTheSegmentAsAWhole) {
  append(3, kSegmentHeaderBytes);
  const std::uint64_t good = end_;
  append(4, good);
  for (std::uint64_t size = good; size < end_; size += 13) {
    ASSERT_TRUE(file_->truncate(size));
    const auto end = scan_all();
    ASSERT_TRUE(end) << size;
    EXPECT_EQ(seen_, 3) << size;
    EXPECT_EQ(end->offset, good);
    EXPECT_EQ(end->torn_bytes, size - good);
  }
}

TEST_F(SegmentTest, DamageBeforeWhatWasDurableIsAnErrorAndNotAnEnd) {
  append(3, kSegmentHeaderBytes);
  const std::uint64_t second = end_;
  append(1, second);
  append(1, end_);  // says that the second was on the disk
  // Headers and the change; damage in the data behind them is found when it is read.
  const std::uint64_t covered = record::kBatchHeaderBytes + record::kRecordHeaderBytes + 10;
  for (std::uint64_t at = second; at < second + covered; ++at) {
    ASSERT_TRUE(disk_.flip_bit("segments/0000000000000007.seg", at, 2));
    EXPECT_EQ(scan_all().error().code(), Errc::corrupt) << at;
    ASSERT_TRUE(disk_.flip_bit("segments/0000000000000007.seg", at, 2));
  }
  EXPECT_TRUE(scan_all());
}

TEST_F(SegmentTest, UnsyncedBatchesBehindAHoleAreGivenUp) {
  append(3, kSegmentHeaderBytes);
  const std::uint64_t hole = end_;
  append(1, kSegmentHeaderBytes);
  append(1, kSegmentHeaderBytes);  // was written, but never said to be on the disk
  ASSERT_TRUE(disk_.flip_bit("segments/0000000000000007.seg", hole + 50, 2));
  const auto end = scan_all();
  ASSERT_TRUE(end);
  EXPECT_EQ(seen_, 3);
  EXPECT_EQ(end->offset, hole);
}

TEST_F(SegmentTest, ASealedSegmentHasNoTornEnd) {
  append(3, kSegmentHeaderBytes);
  append(3, kSegmentHeaderBytes);
  EXPECT_TRUE(scan_all(true));
  ASSERT_TRUE(file_->truncate(end_ - 1));
  EXPECT_EQ(scan_all(true).error().code(), Errc::corrupt);
}

TEST_F(SegmentTest, TheFolderListsWhatIsASegmentAndOpensOnlyItsOwn) {
  ASSERT_TRUE(folder_.create(record::SegmentId(0x1F), 1));
  ASSERT_TRUE(disk_.open("segments/notes.txt", io::OpenMode::create));
  ASSERT_TRUE(disk_.open("segments/00000000000000zz.seg", io::OpenMode::create));
  EXPECT_EQ(*folder_.list(), (std::vector{id_, record::SegmentId(0x1F)}));
  ASSERT_TRUE(disk_.rename("segments/000000000000001f.seg", "segments/0000000000000020.seg"));
  EXPECT_EQ(folder_.open(record::SegmentId(0x20), io::OpenMode::read).error().code(),
            Errc::corrupt);
  ASSERT_TRUE(folder_.remove(id_));
  EXPECT_TRUE(folder_.remove(id_));
  EXPECT_EQ(folder_.open(id_, io::OpenMode::read).error().code(), Errc::not_found);
}

}  // namespace
}  // namespace leat::segment
