// Formats stay what they are: the files of tests/golden/disk-1 are read, and written again byte for
// byte.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "golden/golden_disk.h"
#include "io/disk.h"
#include "log/sink.h"
#include "support/volume_world.h"

namespace leat::golden {
namespace {

class NullSink final : public log::Sink {
 public:
  Status write(std::string_view /*lines*/) override { return {}; }
};

std::string golden_file(const std::string& name) {
  io::PosixDisk disk;
  auto text = io::read_text(disk, std::string(LEAT_GOLDEN_FOLDER) + "/" + name);
  EXPECT_TRUE(text) << name;
  return text.value_or("");
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

// A key of the index as index.txt shows it: its letter, then the rest.
std::string entry_line(std::string_view key, std::string_view value) {
  const std::string rest = key.size() > 1 ? " " + hex(key.substr(1)) : "";
  return fmt::format("{}{} = {}\n", key.front(), rest, value.empty() ? "-" : hex(value));
}

class GoldenDisk : public testing::Test {
 protected:
  // The golden files on a simulated disk, without an index.
  GoldenDisk() {
    sim::SimDisk& disk = world_.disk();
    for (const auto& [path, made] : make_disk()) {
      const std::string to = "d/" + path;
      const std::string bytes = golden_file("disk-1/" + path);
      EXPECT_TRUE(disk.make_directories(to.substr(0, to.rfind('/'))));
      const auto file = disk.open(to, io::OpenMode::create);
      EXPECT_TRUE((*file)->write_all_at(0, as_bytes(bytes)));
    }
    for (const std::string folder : {"d/index", "d/incoming"})
      EXPECT_TRUE(disk.make_directories(folder));
    disk.crash(sim::CrashMode::keep_all);  // all of it is on the disk
  }

  record::ObjectKey key(std::string name) const {
    return {.bucket = record::BucketId(7), .key = std::move(name)};
  }

  NullSink sink_;
  sim::Timeline log_time_;
  sim::SimClock log_clock_{log_time_};
  log::Logger logger_{sink_, log_clock_};
  test::VolumeWorld world_{1, logger_};
};

TEST(Golden, TheSameInputsGiveTheSameBytes) {
  for (const auto& [path, bytes] : make_disk())
    EXPECT_EQ(hex(bytes), hex(golden_file("disk-1/" + path))) << path;
}

TEST_F(GoldenDisk, OpensAndHoldsWhatWasPutIn) {
  const Status opened = world_.open();
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(world_.get(key(kSmallKey))->value_or("absent"), kSmallData);
  EXPECT_EQ(world_.get(key(kLargeKey))->value_or("absent"), large_data());
  EXPECT_EQ(world_.get(key(kTrashedKey))->value_or("absent"), "absent");
  EXPECT_EQ(world_.volume().opening().replayed, 7U);
  EXPECT_EQ(world_.volume().opening().torn_bytes, 0U);
  EXPECT_EQ(world_.volume().index().counts(record::BucketId(7)),
            (index::Counts{.objects = 2, .bytes = 41, .trashed_objects = 1, .trashed_bytes = 3}));
  EXPECT_EQ(world_.volume().index().find_parts(record::UploadId(0x1122334455667788))->size(), 1U);
  ASSERT_TRUE(world_.put(key("new"), "and can be written to"));
  ASSERT_TRUE(world_.crash({}));
  EXPECT_EQ(world_.get(key("new"))->value_or("absent"), "and can be written to");
}

TEST_F(GoldenDisk, GivesTheSameIndex) {
  ASSERT_TRUE(world_.open());
  std::string entries;
  kv::Cursor cursor = world_.volume().kv().cursor();
  for (cursor.seek(""); cursor.is_valid(); cursor.next())
    entries += entry_line(cursor.key(), cursor.value());
  ASSERT_TRUE(cursor.status());
  EXPECT_EQ(entries, golden_file("disk-1.index.txt"));
}

}  // namespace
}  // namespace leat::golden
