// Reading from the files of an object: across pieces and blocks, and never a wrong byte.
#include "local/local_object.h"

#include <gtest/gtest.h>

#include "io/rng.h"
#include "record/frame.h"
#include "support/temp_folder.h"

namespace leat::local {
namespace {

using record::kBlockBytes;
using testing::TempFolder;

class LocalObjectTest : public ::testing::Test {
 protected:
  // An object whose pieces have these sizes; behind the bytes stands what a file has there.
  LocalObject object_of(const std::vector<std::size_t>& sizes) {
    std::vector<LocalObject::Piece> pieces;
    for (const std::size_t size : sizes) {
      std::string part(size, '?');
      rng_.fill(std::as_writable_bytes(std::span(part)));
      const std::string name = std::to_string(pieces.size());
      folder_.write(name, part + "checksums and more");
      pieces.push_back({.file = disk_.open(folder_.path(name), io::OpenMode::read).value(),
                        .size_bytes = size,
                        .sums = record::sum_blocks({as_bytes(part)}).sums});
      content_ += part;
    }
    return LocalObject(std::move(pieces));
  }

  static std::string read(const LocalObject& object, std::uint64_t offset, std::size_t length) {
    std::string target(length, '?');
    const Status status = object.read(offset, std::as_writable_bytes(std::span(target)));
    return status ? target : "error: " + status.error().message();
  }

  void flip(const std::string& name, std::size_t offset) {
    std::string text = folder_.read(name);
    text[offset] = static_cast<char>(text[offset] ^ 1);
    io::PosixDisk disk;
    auto file = disk.open(folder_.path(name), io::OpenMode::read_write).value();
    ASSERT_TRUE(file->write_all_at(offset, as_bytes(text).subspan(offset, 1)));
  }

  const TempFolder folder_;
  io::PosixDisk disk_;
  io::SeededRng rng_{18};
  std::string content_;
};

TEST_F(LocalObjectTest, EveryRangeIsTheObjectsOwn) {
  // Pieces that end within a block, at the end of one, and that are shorter than one.
  const LocalObject object =
      object_of({5 * kBlockBytes + 777, 2 * kBlockBytes, 100, 9 * kBlockBytes + 1});
  ASSERT_EQ(object.size_bytes(), content_.size());
  EXPECT_EQ(object.descriptors(), 4U);
  EXPECT_TRUE(read(object, 0, content_.size()) == content_);
  for (int i = 0; i < 500; ++i) {
    std::uint64_t offset = rng_.below(content_.size());
    if (rng_.chance(1, 3)) offset = offset / kBlockBytes * kBlockBytes;
    std::uint64_t length = rng_.below(content_.size() - offset + 1);
    if (rng_.chance(1, 3)) length = length / kBlockBytes * kBlockBytes;
    ASSERT_TRUE(read(object, offset, length) == content_.substr(offset, length))
        << offset << " " << length;
  }
  EXPECT_EQ(read(object, content_.size(), 0), "");
}

TEST_F(LocalObjectTest, WhatIsBehindTheEndIsNotRead) {
  const LocalObject object = object_of({1000});
  for (const auto& [offset, length] :
       {std::pair(0UL, 1001UL), {1000UL, 1UL}, {1001UL, 0UL}, {~0UL, 2UL}}) {
    std::string target(length, '?');
    const Status status = object.read(offset, std::as_writable_bytes(std::span(target)));
    EXPECT_EQ(status.error().code(), Errc::range_not_satisfiable) << offset;
  }
}

TEST_F(LocalObjectTest, AFlippedBitIsNeverHandedOn) {
  const LocalObject object = object_of({3 * kBlockBytes, 3 * kBlockBytes});
  flip("1", kBlockBytes + 5);
  std::string target(kBlockBytes, '?');
  const MutableBytes into = std::as_writable_bytes(std::span(target));
  const std::uint64_t damaged = 4 * kBlockBytes;
  EXPECT_EQ(object.read(damaged, into).error().code(), Errc::corrupt);
  EXPECT_EQ(object.read(damaged + kBlockBytes - 1, into.first(1)).error().code(), Errc::corrupt)
      << "the byte itself is good, its block is not";
  EXPECT_TRUE(object.read(0, into.first(1)));
  EXPECT_TRUE(read(object, 0, damaged) == content_.substr(0, damaged));
  EXPECT_TRUE(read(object, damaged + kBlockBytes, kBlockBytes) ==
              content_.substr(damaged + kBlockBytes));
}

TEST_F(LocalObjectTest, AFileThatBecameShorterIsDamage) {
  const LocalObject object = object_of({3 * kBlockBytes});
  auto file = disk_.open(folder_.path("0"), io::OpenMode::read_write).value();
  ASSERT_TRUE(file->truncate(kBlockBytes + 1));
  EXPECT_TRUE(read(object, 0, kBlockBytes) == content_.substr(0, kBlockBytes));
  std::string target(1, '?');
  EXPECT_EQ(object.read(kBlockBytes, std::as_writable_bytes(std::span(target))).error().code(),
            Errc::corrupt);
}

TEST_F(LocalObjectTest, ARemovedFileIsReadToItsEnd) {
  const LocalObject object = object_of({2 * kBlockBytes});
  ASSERT_TRUE(disk_.remove(folder_.path("0")));
  EXPECT_TRUE(read(object, 0, content_.size()) == content_);
}

}  // namespace
}  // namespace leat::local
