// What loaders and servers agreed on once stays: the order of an epoch, the bytes of a snapshot and
// of a batch.
#include <gtest/gtest.h>

#include "frames/frames.h"
#include "golden/golden_batch.h"
#include "golden/golden_order.h"
#include "golden/golden_snapshot.h"
#include "io/disk.h"
#include "snapshot/view.h"

namespace leat::golden {
namespace {

std::string golden_file(const std::string& name) {
  io::PosixDisk disk;
  auto text = io::read_text(disk, std::string(LEAT_GOLDEN_FOLDER) + "/" + name);
  EXPECT_TRUE(text) << name;
  return text.value_or("");
}

TEST(GoldenOrder, IsWhatItWas) {
  EXPECT_EQ(make_order_vectors(), golden_file("order-1.txt"));
}

TEST(GoldenSnapshot, IsWrittenAsItWas) {
  EXPECT_TRUE(make_snapshot() == golden_file("snapshot-1.snap"));
}

TEST(GoldenSnapshot, IsRead) {
  const std::string bytes = golden_file("snapshot-1.snap");
  const auto view = snapshot::View::open(as_bytes(bytes));
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->verify_all());
  EXPECT_EQ(view->fields(), (std::vector<std::string>{"jpg", "cls"}));
  EXPECT_EQ(view->find("cat/tom").value(), 0U);
  EXPECT_EQ(view->key(4).value(), "cat/tom");
  EXPECT_EQ(view->block_counts().value(), (std::vector<std::uint32_t>{2, 1, 3}));
  EXPECT_EQ(view->shard(1)->etag, "f00d");
  const snapshot::Sample lynx = view->sample(2).value();
  EXPECT_EQ(lynx.fields[0]->size_bytes, 512U);
  EXPECT_EQ(lynx.fields[1], std::nullopt);
  const snapshot::Sample wolf = view->sample(5).value();
  EXPECT_EQ(wolf.shard, 1U);
  EXPECT_EQ(wolf.fields[0], (snapshot::FieldPlace{.offset = 15'872, .size_bytes = 400}));
}

TEST(GoldenBatch, IsWrittenAsItWas) {
  EXPECT_TRUE(make_batch() == golden_file("batch-1.frames"));
}

TEST(GoldenBatch, IsRead) {
  frames::Reader reader;
  const std::string bytes = golden_file("batch-1.frames");
  reader.feed(as_bytes(bytes));
  const auto sample = reader.next();
  ASSERT_TRUE(sample && *sample);
  using Field = std::pair<std::string_view, std::string_view>;
  EXPECT_EQ((*sample)->fields().value(), (std::vector<Field>{{"cls", "7"}, {"jpg", "meow"}}));
  EXPECT_EQ(reader.next().value()->payload, "yt");
  const auto missing = reader.next().value();
  EXPECT_EQ(missing->header.kind, frames::Kind::error);
  EXPECT_EQ(missing->header.status, 404);
  EXPECT_FALSE(reader.has_ended());
  EXPECT_EQ(reader.next().value()->header.kind, frames::Kind::end);
  EXPECT_TRUE(reader.has_ended());
}

}  // namespace
}  // namespace leat::golden
