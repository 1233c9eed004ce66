#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "record/change.h"
#include "record/frame.h"
#include "record/identity.h"
#include "record/members.h"
#include "record/object_file.h"

namespace leat::record {
namespace {

DiskId disk_id(std::uint8_t first) {
  DiskId id{};
  id[0] = std::byte{first};
  return id;
}

Version version_in_files() {
  return {.id = VersionId(7),
          .sequence = Sequence(9),
          .size_bytes = 100,
          .modified_ms = 1'700'000'000'000,
          .etag = "0123456789abcdef",
          .attributes = {{.name = "content-type", .value = "image/jpeg"}},
          .place = std::vector<FileExtent>{{.file = FileId(1), .size_bytes = 60},
                                           {.file = FileId(~0ULL), .size_bytes = 40}}};
}

ObjectKey key() {
  return {.bucket = BucketId(3), .key = std::string("a\0b/c", 5)};
}

std::vector<Change> one_of_each() {
  Version in_segment = version_in_files();
  in_segment.place = SegmentPlace{.segment = SegmentId(2), .offset = 4096, .sums_crc = 0xABCD};
  in_segment.etag = "not hexadecimal";
  const Bucket bucket{.id = BucketId(3),
                      .name = "photos",
                      .created_ms = 5,
                      .durability = Durability::group,
                      .undo_window_ms = 60'000,
                      .properties = {{.name = "a", .value = "b"}}};
  return {
      PutObject{.object = key(),
                .version = version_in_files(),
                .upload = UploadId(5),
                .replaced = VersionId(6)},
      PutObject{.object = key(), .version = in_segment},
      RemoveObject{.object = key(), .removed = VersionId(7), .at_ms = 77},
      RestoreObject{.object = key(), .restored = VersionId(7), .at_ms = 78},
      PurgeVersion{.object = key(), .purged = VersionId(7)},
      PutBucket{.bucket = bucket},
      RemoveBucket{.bucket = BucketId(3)},
      BeginUpload{.upload = {.id = UploadId(5), .object = key(), .begun_ms = 6, .attributes = {}}},
      PutPart{.part = {.upload = UploadId(5), .number = 10'000, .content = version_in_files()}},
      EndUpload{.object = key(), .upload = UploadId(5)},
      KeepTrashed{.object = key(), .version = in_segment, .since_ms = 7, .until_ms = 8},
  };
}

TEST(Change, EveryKindComesBackAndNoTruncationDoes) {
  for (const Change& change : one_of_each()) {
    const std::string bytes = encode(change);
    const auto kind = static_cast<std::uint8_t>(change.index());
    const auto back = decode_change(kind, bytes);
    ASSERT_TRUE(back) << int{kind};
    EXPECT_EQ(encode(*back), bytes) << int{kind};
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto cut = decode_change(kind, std::string_view(bytes).substr(0, size));
      EXPECT_FALSE(cut) << int{kind} << " cut at " << size;
    }
  }
  EXPECT_FALSE(decode_change(kChangeKinds, ""));
}

TEST(Version, AllFieldsComeBack) {
  const auto back = decode_version(encode(version_in_files()));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, version_in_files());
}

TEST(Version, ASmallObjectTakesFewBytesInTheIndex) {
  Version version = version_in_files();
  version.attributes.clear();
  version.sequence = Sequence(1'000'000);
  version.id = VersionId(1'000'000);
  version.etag = std::string(32, 'a');
  version.place = SegmentPlace{.segment = SegmentId(16), .offset = 200'000'000, .sums_crc = 1};
  EXPECT_LE(encode(version).size(), 48U);
}

class SegmentTest : public testing::Test {
 protected:
  SegmentTest() {
    BatchBuilder builder(site_, offset_, kSegmentHeaderBytes);
    const SummedData data = sum_blocks({as_bytes(data_)});
    for (Change change : one_of_each()) {
      const Version* version = version_in(change);
      const bool carries = version && std::holds_alternative<SegmentPlace>(version->place);
      builder.add(Sequence(sequence_++), change, carries ? data : SummedData{}, false);
      changes_.push_back(change);
    }
    bytes_ = as_text(builder.finish());
    EXPECT_EQ(builder.end_offset(), offset_ + bytes_.size());
  }

  // Decodes everything; how many records were right before the first that was not.
  std::size_t count_good(std::string_view bytes) const {
    const auto header = decode_batch_header(site_, offset_, as_bytes(bytes));
    if (!header) return 0;
    std::size_t at = kBatchHeaderBytes;
    for (std::size_t i = 0; i < header->records; ++i) {
      if (at > bytes.size()) return i;
      const auto record = decode_record(site_, offset_ + at, as_bytes(bytes.substr(at)));
      if (!record || record->data_offset() - offset_ > bytes.size()) return i;
      const std::string_view sums =
          bytes.substr(record->sums_offset() - offset_, record->header.sums_bytes());
      const std::string_view data =
          bytes.substr(record->data_offset() - offset_, record->header.data_bytes);
      if (data.size() < record->header.data_bytes) return i;
      if (!verify_blocks(sums, as_bytes(data))) return i;
      at += record->header.length_bytes();
    }
    return header->records;
  }

  const Site site_{.disk = disk_id(1), .segment = SegmentId(4)};
  const std::uint64_t offset_ = 8192;
  const std::string data_ = std::string(70'000, 'x') + "end";
  std::uint64_t sequence_ = 100;
  std::vector<Change> changes_;
  std::string bytes_;
};

TEST_F(SegmentTest, ABatchComesBackWithPlacesAndData) {
  ASSERT_EQ(count_good(bytes_), changes_.size());
  std::size_t at = kBatchHeaderBytes;
  for (const Change& change : changes_) {
    const auto record = decode_record(site_, offset_ + at, as_bytes(bytes_).subspan(at));
    ASSERT_TRUE(record);
    EXPECT_EQ(encode(record->change), encode(change));
    if (record->header.data_bytes > 0) {
      EXPECT_EQ(bytes_.substr(record->data_offset() - offset_, data_.size()), data_);
    }
    at += record->header.length_bytes();
  }
}

TEST_F(SegmentTest, EveryFlippedBitButThoseOfPaddingIsFound) {
  std::size_t unnoticed = 0;
  for (std::size_t i = 0; i < bytes_.size(); i += i < 2000 || i > 69'000 ? 1 : 997) {
    std::string damaged = bytes_;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    if (count_good(damaged) == changes_.size()) ++unnoticed;
  }
  // At most seven bytes of padding behind the one record that carries data, and behind the others.
  EXPECT_LE(unnoticed, 7 * changes_.size());
}

TEST_F(SegmentTest, BytesOfAnotherPlaceDoNotPass) {
  const Site other_disk{.disk = disk_id(2), .segment = site_.segment};
  const Site other_segment{.disk = site_.disk, .segment = SegmentId(5)};
  EXPECT_FALSE(decode_batch_header(other_disk, offset_, as_bytes(bytes_)));
  EXPECT_FALSE(decode_batch_header(other_segment, offset_, as_bytes(bytes_)));
  EXPECT_FALSE(decode_batch_header(site_, offset_ + 8, as_bytes(bytes_)));
  const Bytes record = as_bytes(bytes_).subspan(kBatchHeaderBytes);
  EXPECT_TRUE(decode_record(site_, offset_ + kBatchHeaderBytes, record));
  EXPECT_FALSE(decode_record(site_, offset_ + kBatchHeaderBytes + 8, record));
}

TEST_F(SegmentTest, EveryTruncationIsNoticed) {
  for (std::size_t size = 0; size < bytes_.size(); size += size < 2000 ? 1 : 501)
    EXPECT_LT(count_good(std::string_view(bytes_).substr(0, size)), changes_.size()) << size;
}

TEST(SegmentHeader, KnowsItsOwnAndRefusesTheFuture) {
  const SegmentHeader header{.site = {.disk = disk_id(1), .segment = SegmentId(4)},
                             .created_ms = 9};
  std::string bytes = encode(header);
  ASSERT_EQ(bytes.size(), kSegmentHeaderBytes);
  const auto back = decode_segment_header(as_bytes(bytes));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->site.disk, header.site.disk);
  EXPECT_EQ(back->site.segment, header.site.segment);
  EXPECT_EQ(back->created_ms, 9);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(decode_segment_header(as_bytes(damaged))) << i;
  }
}

TEST(ObjectFile, ItsTailComesBackAndEveryFlippedBitIsFound) {
  const std::string data(200'001, 'd');
  const FileTail tail{.disk = disk_id(1),
                      .file = FileId(77),
                      .data_bytes = data.size(),
                      .sums = sum_blocks({as_bytes(data)}).sums,
                      .owner = key()};
  const std::string bytes = encode(tail);
  const Bytes last = as_bytes(bytes).last(kFileTailBytes);
  const auto behind = bytes_behind_data(last, data.size() + bytes.size());
  ASSERT_TRUE(behind);
  EXPECT_EQ(*behind, bytes.size());
  EXPECT_FALSE(bytes_behind_data(last, data.size() + bytes.size() + 1));
  const auto back = decode_file_tail(tail.disk, tail.file, as_bytes(bytes));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->sums, tail.sums);
  EXPECT_EQ(back->owner, tail.owner);
  EXPECT_TRUE(verify_blocks(back->sums, as_bytes(data)));
  EXPECT_FALSE(decode_file_tail(tail.disk, FileId(78), as_bytes(bytes)));
  EXPECT_FALSE(decode_file_tail(disk_id(2), tail.file, as_bytes(bytes)));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(decode_file_tail(tail.disk, tail.file, as_bytes(damaged))) << i;
  }
}

TEST(Identity, IsReadableTextAndRefusesDamageAndTheFuture) {
  const Identity identity{.format = kDiskFormat,
                          .disk = disk_id(0xA1),
                          .node = disk_id(0xB2),
                          .created_ms = 1'700'000'000'000};
  const std::string text = encode(identity);
  EXPECT_TRUE(text.starts_with("leat-disk 1\ndisk a100000000000000"));
  const auto back = decode_identity(text);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->disk, identity.disk);
  EXPECT_EQ(back->node, identity.node);
  EXPECT_EQ(back->created_ms, identity.created_ms);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 2);
    EXPECT_FALSE(decode_identity(damaged)) << i;
  }
  Identity later = identity;
  later.format = kDiskFormat + 1;
  EXPECT_EQ(decode_identity(encode(later)).error().code(), Errc::not_implemented);
}

TEST(Members, AreReadableTextAndRefuseDamage) {
  const Members members{.generation = 7,
                        .disks = {{.disk = disk_id(0xA1), .path = "/d 0"},
                                  {.disk = disk_id(0xB2), .path = "/with\nline"}}};
  const std::string text = encode(members);
  EXPECT_TRUE(text.starts_with("leat-members 7\ndisk a100000000000000"));
  const auto back = decode_members(text);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->generation, 7U);
  ASSERT_EQ(back->disks.size(), 2U);
  EXPECT_EQ(back->disks[0].path, "/d 0");
  EXPECT_EQ(back->disks[1].path, "") << "a hint that does not fit in a line is left out";
  EXPECT_TRUE(back->contains(disk_id(0xB2)));
  EXPECT_FALSE(back->contains(disk_id(0xC3)));
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 2);
    EXPECT_FALSE(decode_members(damaged)) << i;
  }
}

}  // namespace
}  // namespace leat::record
