#include "ingest/shard_image.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "ingest/tar_pieces.h"
#include "shard/scanner.h"
#include "support/temp_folder.h"

namespace leat::ingest {
namespace {

class ShardImageTest : public ::testing::Test {
 protected:
  ShardImageTest() { origin_ = catalog_.add_origin({.path = folder_.path()}); }

  // A file on the disk and, as it is there, in the catalog.
  void add(const std::string& name, const std::string& data) {
    const auto file = disk_.open(folder_.path(name), io::OpenMode::create).value();
    ASSERT_TRUE(file->write_all_at(0, as_bytes(data)));
    const io::FileInfo info = file->info().value();
    catalog_.begin_group(0, true);
    catalog_.add({.name = name,
                  .origin = origin_,
                  .size_bytes = data.size(),
                  .mtime_s = 1'000'000'000,
                  .changed_ns = info.changed.time_since_epoch().count()});
    groups_.push_back(static_cast<GroupId>(catalog_.group_count() - 1));
    files_.emplace_back(name, data);
  }

  std::string bytes_of(const ShardImage& image, std::uint64_t piece) {
    std::string bytes(image.size_bytes(), '?');
    const auto room = std::as_writable_bytes(std::span(bytes));
    for (std::uint64_t at = 0; at < bytes.size(); at += piece) {
      const std::uint64_t count = std::min<std::uint64_t>(piece, bytes.size() - at);
      const auto bad = image.fill(disk_, at, room.subspan(at, count));
      EXPECT_FALSE(bad) << bad->error.detail();
    }
    return bytes;
  }

  testing::TempFolder folder_;
  io::PosixDisk disk_;
  Catalog catalog_;
  std::uint32_t origin_ = 0;
  std::vector<GroupId> groups_;
  std::vector<std::pair<std::string, std::string>> files_;
};

TEST_F(ShardImageTest, IsTheSameTarHoweverItIsCut) {
  add("a.jpg", "");
  add("b.jpg", std::string(512, 'b'));
  add("c.jpg", std::string(5000, 'c'));
  add("d.txt", "d");
  const ShardImage image(catalog_, groups_);
  const std::string whole = bytes_of(image, image.size_bytes());
  for (const std::uint64_t piece : {1U, 7U, 511U, 512U, 513U, 4096U})
    EXPECT_EQ(bytes_of(image, piece), whole) << piece;
  EXPECT_EQ(image.samples(), 4U);
  std::uint64_t files = 0;
  for (std::uint64_t at = 0; at < image.size_bytes(); at += 700)
    files += image.files_in(at, 700);
  EXPECT_EQ(files, 4U);
}

TEST_F(ShardImageTest, CarriesTheIndexThatAScanGives) {
  for (int i = 0; i < 50; ++i)
    add(fmt::format("{:03}.jpg", i), std::string(static_cast<std::size_t>(i) * 37, 'x'));
  const ShardImage image(catalog_, groups_);
  const std::string whole = bytes_of(image, 1000);
  shard::ShardScanner scanner;
  scanner.feed(as_bytes(whole));
  const auto summary = scanner.finish();
  ASSERT_TRUE(summary.is_shard) << summary.problem;
  EXPECT_EQ(summary.samples, 50U);
  EXPECT_EQ(summary.members, 51U);
  EXPECT_NE(whole.find(scanner.take_index()), std::string::npos);
}

TEST_F(ShardImageTest, GivesBackTheFilesWithAnyNames) {
  add("d\xC3\xA4.jpg", "umlaut");
  add("\xFF\xFE.jpg", "no utf-8");
  add("new\nline.jpg", "line");
  const std::string long_name(200, 'l');
  add(long_name + ".jpg", "long");
  const ShardImage image(catalog_, groups_);
  std::vector<std::pair<std::string, std::string>> found;
  TarPieces pieces({.begin = [&](const tar::Member& member) -> Status {
                      found.emplace_back(member.name, "");
                      return {};
                    },
                    .data = [&](Bytes piece) -> Status {
                      found.back().second += as_text(piece);
                      return {};
                    },
                    .end = []() -> Status { return {}; }});
  const std::string whole = bytes_of(image, 4096);
  for (std::size_t at = 0; at < whole.size(); at += 100)
    ASSERT_TRUE(pieces.feed(as_bytes(std::string_view(whole).substr(at, 100))));
  ASSERT_TRUE(pieces.finish());
  EXPECT_EQ(found, files_);
}

TEST_F(ShardImageTest, AFileThatIsAnotherOneNowIsToldWithItsGroup) {
  add("a.jpg", "aaaa");
  add("b.jpg", "bbbb");
  add("c.jpg", "cccc");
  const ShardImage image(catalog_, groups_);
  ASSERT_TRUE(disk_.open(folder_.path("b.jpg"), io::OpenMode::read_write)
                  .value()
                  ->write_all_at(4, as_bytes("longer")));
  ASSERT_TRUE(disk_.remove(folder_.path("c.jpg")));
  std::string bytes(image.size_bytes(), '?');
  const auto bad = image.fill(disk_, 0, std::as_writable_bytes(std::span(bytes)));
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->group, groups_[1]);
  EXPECT_EQ(bad->error.code(), Errc::conflict);
  const auto all = image.inspect(disk_);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].error.code(), Errc::not_found);
  EXPECT_EQ(all[1].path, folder_.path("c.jpg"));
}

TEST_F(ShardImageTest, AFileThatWasEmptyAndIsNotAnyMoreIsTold) {
  add("a.jpg", "");
  const ShardImage image(catalog_, groups_);
  EXPECT_NE(bytes_of(image, 100), "");
  ASSERT_TRUE(disk_.open(folder_.path("a.jpg"), io::OpenMode::read_write)
                  .value()
                  ->write_all_at(0, as_bytes("late")));
  std::string bytes(image.size_bytes(), '?');
  const auto bad = image.fill(disk_, 0, std::as_writable_bytes(std::span(bytes)));
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->error.code(), Errc::conflict);
}

TEST_F(ShardImageTest, BeginsWithThePrefaceOfTheCatalog) {
  const std::string text = "{\"classes\":[]}";
  const std::uint64_t at = catalog_.add_text(text);
  catalog_.set_preface({.name = "__leat__/classes.json", .offset = at, .size_bytes = text.size()});
  add("a.jpg", "a");
  const ShardImage image(catalog_, groups_);
  const std::string whole = bytes_of(image, 100);
  EXPECT_TRUE(whole.starts_with("__leat__/classes.json"));
  EXPECT_EQ(whole.substr(512, text.size()), text);
  EXPECT_EQ(image.samples(), 1U);
}

}  // namespace
}  // namespace leat::ingest
