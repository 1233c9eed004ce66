// Archives are indexed on whatever way they come in.
#include "store/shards.h"

#include <fmt/format.h>

#include "record/frame.h"
#include "shard/index.h"
#include "store/store_fixture_test.h"
#include "support/tar_maker.h"

namespace leat::store {
namespace {

// A sample of two fields for each size.
std::string archive_of(const std::vector<std::size_t>& sizes) {
  std::vector<std::pair<std::string, std::string>> members;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    members.emplace_back(fmt::format("{:03}.cls", i), std::to_string(i));
    members.emplace_back(fmt::format("{:03}.jpg", i), pattern(sizes[i], i));
  }
  return test::tar_of(members);
}

class ShardsTest : public StoreTest {
 protected:
  ShardNote note(const record::ObjectKey& object) {
    const auto found = rig_.find(object);
    EXPECT_TRUE(found);
    return shard_note(found->version).value_or(ShardNote{.problem = "no note"});
  }

  // What the index behind the object says of a member.
  std::string member(const record::ObjectKey& object, std::string_view name) {
    const auto found = rig_.find(object);
    const std::uint64_t size = record::appendix_bytes(found->version);
    const auto bytes = rig_.read(*found, {found->version.size_bytes, size});
    if (!bytes) return "no index";
    const auto view = shard::View::open(as_bytes(*bytes));
    if (!view || view->shard_bytes() != found->version.size_bytes) return "a bad index";
    const auto number = view->find_member(name);
    if (!number) return "no such member";
    const shard::MemberRef one = view->member(*number);
    return rig_.read(*found, {one.data_offset, one.size_bytes}).value();
  }

  void expect_indexed(const record::ObjectKey& object, const std::string& archive) {
    EXPECT_EQ(rig_.get(object), archive);
    EXPECT_EQ(member(object, "001.jpg"), pattern(70'000, 1));
    EXPECT_EQ(member(object, "002.cls"), "2");
    const ShardNote seen = note(object);
    EXPECT_TRUE(seen.is_indexed);
    EXPECT_EQ(seen.samples, 3U);
    EXPECT_EQ(seen.members, 6U);
    EXPECT_EQ(seen.problem, "");
  }

  const std::string large_ = archive_of({200'000, 70'000, 3 * kMiB});
};

TEST_F(ShardsTest, ALargeArchiveHasItsIndexBehindItsBytes) {
  ASSERT_TRUE(rig_.put(key("a.tar"), large_));
  ASSERT_TRUE(rig_.put(key("b.tar"), large_, {}, large_.size()));
  expect_indexed(key("a.tar"), large_);
  expect_indexed(key("b.tar"), large_);
  EXPECT_EQ(rig_.find(key("a.tar"))->version.etag, rig_.find(key("b.tar"))->version.etag);
  ASSERT_TRUE(rig_.crash());
  expect_indexed(key("a.tar"), large_);
  expect_indexed(key("b.tar"), large_);
}

TEST_F(ShardsTest, TheIndexIsNoPartOfTheObject) {
  ASSERT_TRUE(rig_.put(key("a.tar"), large_));
  const auto found = rig_.find(key("a.tar"));
  EXPECT_EQ(found->version.size_bytes, large_.size());
  EXPECT_EQ(rig_.run(rig_.store().counts(bucket_))->bytes, large_.size());
}

TEST_F(ShardsTest, FilesForOthersHoldTheObjectAndNotItsIndex) {
  ASSERT_TRUE(rig_.put(key("a.tar"), large_));
  const auto found = rig_.find(key("a.tar"));
  ASSERT_GT(record::appendix_bytes(found->version), 0U);
  const auto files = rig_.run(rig_.store().open_apart(*found));
  ASSERT_TRUE(files);
  ASSERT_TRUE(rig_.put(key("a.tar"), archive_of({10})));
  for (std::size_t disk = 0; disk < rig_.disk_count(); ++disk)
    EXPECT_TRUE(rig_.run(rig_.volume(disk).reclaim(record::kForever - 1)));
  EXPECT_EQ(error_of(rig_.run(rig_.store().open_apart(*found))), Errc::not_found) << "it is gone";
  std::string text;
  for (const volume::ObjectFilePtr& one : *files) {
    std::string part(one->tail.data_bytes, '?');
    EXPECT_TRUE(one->file->read_at(0, std::as_writable_bytes(std::span(part))));
    EXPECT_TRUE(record::verify_blocks(one->tail.sums, as_bytes(part)));
    text += part;
  }
  EXPECT_TRUE(text == large_) << "what was opened is read to its end";
  const auto small = rig_.find(key("a.tar"));
  EXPECT_EQ(error_of(rig_.run(rig_.store().open_apart(*small))), Errc::not_implemented);
}

TEST_F(ShardsTest, ASmallArchiveIsNotedAndHasNoIndexOfItsOwn) {
  ASSERT_TRUE(rig_.put(key("a.tar"), archive_of({10, 20})));
  EXPECT_EQ(note(key("a.tar")).samples, 2U);
  EXPECT_EQ(record::appendix_bytes(rig_.find(key("a.tar"))->version), 0U);
}

TEST_F(ShardsTest, WhatIsNoArchiveHasNoNote) {
  ASSERT_TRUE(rig_.put(key("x"), pattern(2 * kMiB, 1)));
  ASSERT_TRUE(rig_.put(key("empty"), ""));
  EXPECT_EQ(note(key("x")).problem, "no note");
  EXPECT_EQ(note(key("empty")).problem, "no note");
  EXPECT_EQ(record::appendix_bytes(rig_.find(key("x"))->version), 0U);
}

TEST_F(ShardsTest, ACutArchiveIsStoredAndSaysWhyItHasNoIndex) {
  const std::string cut = large_.substr(0, large_.size() / 2);
  ASSERT_TRUE(rig_.put(key("cut.tar"), cut));
  EXPECT_EQ(rig_.get(key("cut.tar")), cut);
  EXPECT_FALSE(note(key("cut.tar")).is_indexed);
  EXPECT_NE(note(key("cut.tar")).problem.find("truncated"), std::string::npos);
  EXPECT_EQ(record::appendix_bytes(rig_.find(key("cut.tar"))->version), 0U);
}

TEST_F(ShardsTest, CopiesAreIndexedAnewAndOtherAttributesLeaveTheIndex) {
  ASSERT_TRUE(rig_.put(key("a.tar"), large_));
  const auto found = rig_.find(key("a.tar"));
  store::PutDetails details{.attributes = {{"leat-shard", "9 9 a lie"}, {"mine", "stays"}}};
  ASSERT_TRUE(rig_.run(rig_.store().copy(*found, key("copy.tar"), details)));
  expect_indexed(key("copy.tar"), large_);
  ASSERT_TRUE(rig_.run(rig_.store().set_attributes(*found, found->version.attributes)));
  expect_indexed(key("a.tar"), large_);
}

TEST_F(ShardsTest, PartsBecomeAnArchiveWithAnIndex) {
  const auto upload = rig_.run(rig_.store().begin_upload(key("up.tar"), {}));
  volume::Completion completion{.object = key("up.tar"), .upload = upload->id, .etag = "abcd-3"};
  // The cuts are anywhere: within a header, within data.
  const std::size_t cuts[] = {0, 700, 1'000'000, large_.size()};
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::string part = large_.substr(cuts[i], cuts[i + 1] - cuts[i]);
    ASSERT_TRUE(rig_.put_part(key("up.tar"), upload->id, i + 1, part));
    completion.parts.push_back({.number = i + 1});
  }
  ASSERT_TRUE(rig_.run(rig_.store().complete_upload(completion, {})));
  expect_indexed(key("up.tar"), large_);
  ASSERT_TRUE(rig_.crash());
  expect_indexed(key("up.tar"), large_);
}

TEST_F(ShardsTest, AnUploadThatIsRefusedLeavesNoIndexBehind) {
  const auto upload = rig_.run(rig_.store().begin_upload(key("up.tar"), {}));
  ASSERT_TRUE(rig_.put_part(key("up.tar"), upload->id, 1, large_));
  const volume::Completion completion{
      .object = key("up.tar"), .upload = upload->id, .parts = {{.number = 1}}, .etag = "a-1"};
  volume::Precondition never{.etag = "another"};
  EXPECT_EQ(error_of(rig_.run(rig_.store().complete_upload(completion, never))),
            Errc::precondition_failed);
  ASSERT_TRUE(rig_.run(rig_.store().complete_upload(completion, {})));
  expect_indexed(key("up.tar"), large_);
}

TEST_F(ShardsTest, AnArchiveThatGoesTakesItsIndexAlong) {
  const auto files = [this] {
    std::size_t count = 0;
    for (std::size_t disk = 0; disk < rig_.disk_count(); ++disk) {
      EXPECT_TRUE(rig_.run(rig_.volume(disk).reclaim(record::kForever - 1)));
      const auto folders = rig_.disk(disk).list(fmt::format("d{}/files", disk));
      for (const auto& folder : *folders)
        count += rig_.disk(disk).list(fmt::format("d{}/files/{}", disk, folder))->size();
    }
    return count;
  };
  const std::size_t before = files();
  ASSERT_TRUE(rig_.put(key("a.tar"), large_));
  EXPECT_GT(files(), before);
  ASSERT_TRUE(rig_.run(rig_.store().remove(key("a.tar"), {})));
  EXPECT_EQ(files(), before);
}

TEST_F(ShardsTest, AnArchiveThatCameBeforeThereWereIndexesCanBeScanned) {
  ASSERT_TRUE(rig_.put(key("a.tar"), large_));
  const auto found = rig_.find(key("a.tar"));
  shard::ShardScanner scanner;
  ASSERT_TRUE(rig_.run(rig_.store().scan_shard(*found, scanner)));
  EXPECT_EQ(scanner.finish().samples, 3U);
  ASSERT_TRUE(rig_.put(key("s.tar"), archive_of({10})));
  shard::ShardScanner small;
  ASSERT_TRUE(rig_.run(rig_.store().scan_shard(*rig_.find(key("s.tar")), small)));
  EXPECT_EQ(small.finish().samples, 1U);
}

}  // namespace
}  // namespace leat::store
