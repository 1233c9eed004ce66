#include <gtest/gtest.h>

#include "log/sink.h"
#include "shards/batch.h"
#include "shards/indexes.h"
#include "shards/ranges.h"
#include "support/store_world.h"
#include "support/tar_maker.h"

namespace leat::shards {
namespace {

class NullSink final : public log::Sink {
 public:
  Status write(std::string_view /*lines*/) override { return {}; }
};

std::string pattern(std::size_t size, std::uint64_t seed) {
  std::string text(size, '\0');
  io::SeededRng(seed).fill(std::as_writable_bytes(std::span(text)));
  return text;
}

std::string jpg(std::size_t sample) {
  return pattern(sample * 700, sample);
}

class ShardsServiceTest : public testing::Test {
 protected:
  ShardsServiceTest() {
    EXPECT_TRUE(rig_.open());
    indexes_.emplace(rig_.store(), 1 * kMiB);
    bucket_ = rig_.make_bucket("sets");
    EXPECT_TRUE(rig_.put(key("a.tar"), archive_));
    EXPECT_TRUE(rig_.put(key("small.tar"), test::tar_of({{"x.txt", "ex"}, {"y.txt", "why"}})));
    EXPECT_TRUE(rig_.put(key("plain"), "plain bytes"));
  }

  static std::string make_archive() {
    std::vector<std::pair<std::string, std::string>> members = {{"readme", "not a sample"}};
    for (std::size_t i = 0; i < 60; ++i) {
      members.emplace_back(fmt::format("{:03}.cls", i), std::to_string(i));
      members.emplace_back(fmt::format("{:03}.jpg", i), jpg(i));
    }
    return test::tar_of(members);
  }

  record::ObjectKey key(std::string name) const {
    return {.bucket = bucket_, .key = std::move(name)};
  }
  IndexPtr index(const std::string& name) {
    return rig_.run(indexes_->find(*rig_.find(key(name)))).value();
  }

  std::string read(RangesSource& source) {
    std::string all;
    for (;;) {
      const auto piece = rig_.run(source.next());
      if (!piece) return "error: " + std::string(piece.error().detail());
      if (piece->empty()) return all;
      all += as_text(*piece);
    }
  }
  std::string read(const std::string& name, Ranges ranges, std::string tail = "") {
    RangesSource source(rig_.store(), *rig_.find(key(name)), std::move(ranges), std::move(tail));
    return read(source);
  }

  sim::SimWorld world_{1};
  NullSink sink_;
  log::Logger logger_{sink_, world_.clock("log")};
  test::StoreWorld rig_{world_, logger_, 2};
  const std::string archive_ = make_archive();
  std::optional<ShardIndexes> indexes_;  // of the open store
  record::BucketId bucket_{};
};

TEST_F(ShardsServiceTest, IndexesComeFromBehindTheObjectOrAreMade) {
  EXPECT_EQ(index("a.tar")->view().sample_count(), 60U);
  EXPECT_EQ(index("small.tar")->view().sample_count(), 2U);
  EXPECT_EQ(index("a.tar"), index("a.tar")) << "it is kept";
  const auto none = rig_.run(indexes_->find(*rig_.find(key("plain"))));
  EXPECT_EQ(none.error().code(), Errc::bad_request);
  EXPECT_TRUE(rig_.put(key("a.tar"), test::tar_of({{"new.txt", ""}})));
  EXPECT_EQ(index("a.tar")->view().sample_count(), 1U) << "a new version has its own";
}

TEST_F(ShardsServiceTest, IndexesThatNobodyUsesMakeRoom) {
  ShardIndexes few(rig_.store(), index("small.tar")->size_bytes() + 1);
  const auto find = [&](const std::string& name) {
    return rig_.run(few.find(*rig_.find(key(name)))).value();
  };
  const IndexPtr small = find("small.tar");
  static_cast<void>(find("a.tar"));
  EXPECT_EQ(few.size_bytes(), find("a.tar")->size_bytes());
  EXPECT_NE(find("small.tar"), small) << "it was read again";
}

TEST_F(ShardsServiceTest, ADamagedIndexIsNeverBelieved) {
  const auto found = rig_.find(key("a.tar"));
  const auto& extents = std::get<std::vector<record::FileExtent>>(found->version.place);
  const std::size_t disk = rig_.number_of(found->disk);
  const std::string path = rig_.volume(disk).folders().file(extents.back().file);
  ASSERT_TRUE(rig_.disk(disk).flip_bit(path, 300, 1));
  EXPECT_EQ(rig_.run(indexes_->find(*found)).error().code(), Errc::corrupt);
}

TEST_F(ShardsServiceTest, AMemberAndTheFieldsOfASampleAreFound) {
  const auto a = index("a.tar");
  EXPECT_EQ(read("a.tar", {select_member(a->view(), "readme").value()}), "not a sample");
  EXPECT_EQ(select_member(a->view(), "nope").error().code(), Errc::not_found);
  const auto all = select_sample(a->view(), "007", {});
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ(read("a.tar", {(*all)[0].data}), "7");
  const auto turned = select_sample(a->view(), "007", {"jpg", "cls"});
  EXPECT_EQ((*turned)[0].field, "jpg");
  EXPECT_EQ(read("a.tar", {(*turned)[0].data, (*turned)[1].data}), jpg(7) + "7");
  EXPECT_EQ(select_sample(a->view(), "900", {}).error().code(), Errc::not_found);
  const auto lacking = select_sample(a->view(), "007", {"png"});
  EXPECT_EQ(lacking.error().detail(), R"(the sample "007" has no field "png"; it has cls, jpg)");
}

TEST_F(ShardsServiceTest, WhatIsNarrowedDownIsAnArchive) {
  const auto a = index("a.tar");
  const std::string end(tar::kEndBytes, '\0');
  std::vector<std::pair<std::string, std::string>> labels;
  for (std::size_t i = 0; i < 60; ++i)
    labels.emplace_back(fmt::format("{:03}.cls", i), std::to_string(i));
  EXPECT_EQ(read("a.tar", select_members(a->view(), {.fields = {"cls"}}).value(), end),
            test::tar_of(labels));
  EXPECT_EQ(read("a.tar", select_members(a->view(), {.sample = "007"}).value(), end),
            test::tar_of({{"007.cls", "7"}, {"007.jpg", jpg(7)}}));
  EXPECT_EQ(
      read("a.tar", select_members(a->view(), {.sample = "007", .fields = {"jpg"}}).value(), end),
      test::tar_of({{"007.jpg", jpg(7)}}));
  EXPECT_EQ(select_members(a->view(), {.fields = {"png"}}).error().detail(),
            R"(no sample of the shard has "png"; its fields are cls, jpg)");
}

TEST_F(ShardsServiceTest, RangesOfRangesAreExact) {
  const Ranges ranges = {{.offset = 100, .length = 10}, {.offset = 500, .length = 5}};
  const std::string all = archive_.substr(100, 10) + archive_.substr(500, 5);
  for (std::uint64_t offset = 0; offset <= all.size(); ++offset) {
    for (std::uint64_t length = 0; length <= all.size() + 2; ++length) {
      EXPECT_EQ(read("a.tar", cut(ranges, offset, length)), all.substr(offset, length));
    }
  }
}

TEST_F(ShardsServiceTest, RangesInAnyOrderAreRead) {
  io::SeededRng rng(3);
  for (int round = 0; round < 50; ++round) {
    Ranges ranges;
    std::string expected;
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t offset = rng.next() % archive_.size();
      const std::uint64_t length = rng.next() % std::min<std::uint64_t>(archive_.size() - offset,
                                                                        i % 2 == 0 ? 100 : 200'000);
      ranges.push_back({.offset = offset, .length = length});
      expected += archive_.substr(offset, length);
    }
    EXPECT_EQ(read("a.tar", ranges, "tail"), expected + "tail") << "round " << round;
  }
}

TEST_F(ShardsServiceTest, RangesOutsideOfAnObjectEndInAnError) {
  const Ranges behind = {{.offset = archive_.size() - 5, .length = 10 * kMiB}};
  EXPECT_TRUE(read("a.tar", behind).starts_with("error: "));
  EXPECT_TRUE(read("plain", {{.offset = 0, .length = 12}}).starts_with("error: "));
}

TEST_F(ShardsServiceTest, WhatIsTooLargeForMemoryIsNotReadIntoIt) {
  const auto found = rig_.find(key("a.tar"));
  const std::uint64_t size = archive_.size();
  EXPECT_TRUE(rig_.run(read_whole(rig_.store(), *found, size)).value() == archive_);
  EXPECT_EQ(rig_.run(read_whole(rig_.store(), *found, size - 1)).error().code(), Errc::too_large);
}

// Batches.

class BatchTest : public ShardsServiceTest {
 protected:
  struct Got {
    Errc error = Errc::internal;  // none
    std::string text{};           // of all parts
    bool operator==(const Got&) const = default;
  };

  std::vector<Got> ask(BatchRequest request, BatchReader::Admit admit = everything()) {
    BatchReader reader(rig_.store(), *indexes_, std::move(request), std::move(admit));
    std::vector<Got> all;
    for (;;) {
      const auto lot = rig_.run(reader.next());
      if (!lot || lot->empty()) return all;
      for (BatchReader::Outcome& one : *lot) {
        EXPECT_EQ(one.item, all.size());
        Got got;
        if (!one.status) got.error = one.status.error().code();
        for (const BatchReader::Part& part : one.parts) {
          const std::string text =
              part.stream ? read(*part.stream) : std::string(as_text(part.bytes));
          EXPECT_EQ(text.size(), part.size_bytes);
          got.text += text;
        }
        all.push_back(std::move(got));
      }
    }
  }

  static BatchReader::Admit everything() {
    return [](const ObjectName&, const record::Version* version) -> Status {
      if (version == nullptr) return fail(Errc::not_found, "none");
      return {};
    };
  }
  static BatchItem sample(std::string name, std::uint32_t object = 0) {
    return {.what = BatchItem::What::sample, .object = object, .name = std::move(name)};
  }
  const std::vector<ObjectName> objects_ = {
      {"sets", "a.tar"}, {"sets", "small.tar"}, {"sets", "plain"}, {"sets", "none"}, {"none", "x"}};
};

TEST_F(BatchTest, ItemsOfAllKindsComeInTheirOrder) {
  const BatchRequest request{
      .objects = objects_,
      .field_lists = {{}, {"jpg", "cls"}},
      .items = {sample("009"),
                {.what = BatchItem::What::sample, .object = 0, .name = "003", .fields = 1},
                {.what = BatchItem::What::member, .object = 1, .name = "y.txt"},
                {.object = 2},
                {.object = 2, .range = volume::ByteRange{.offset = 6, .length = 100}},
                {.what = BatchItem::What::member,
                 .object = 0,
                 .name = "readme",
                 .range = volume::ByteRange{.offset = 4, .length = 1}},
                sample("009")}};
  const std::vector<Got> expected = {{.text = "9" + jpg(9)}, {.text = jpg(3) + "3"},
                                     {.text = "why"},        {.text = "plain bytes"},
                                     {.text = "bytes"},      {.text = "a"},
                                     {.text = "9" + jpg(9)}};
  EXPECT_EQ(ask(request), expected);
}

TEST_F(BatchTest, WhatIsMissingSaysSoAndHoldsUpNothing) {
  const BatchRequest request{
      .objects = objects_,
      .items = {sample("none"), {.object = 3}, {.object = 4}, sample("x", 2), sample("x", 1)}};
  const std::vector<Got> expected = {{.error = Errc::not_found},
                                     {.error = Errc::not_found},
                                     {.error = Errc::not_found},
                                     {.error = Errc::bad_request},
                                     {.text = "ex"}};
  EXPECT_EQ(ask(request), expected);
}

TEST_F(BatchTest, WhatIsForbiddenIsNotRead) {
  const auto admit = [](const ObjectName& name, const record::Version*) -> Status {
    if (name.key == "a.tar") return fail(Errc::denied, "no");
    return {};
  };
  const BatchRequest request{.objects = objects_, .items = {sample("001"), {.object = 2}}};
  const std::vector<Got> expected = {{.error = Errc::denied}, {.text = "plain bytes"}};
  EXPECT_EQ(ask(request, admit), expected);
}

TEST_F(BatchTest, ThousandsOfItemsInAnyOrderAreExact) {
  io::SeededRng rng(5);
  BatchRequest request{.objects = objects_};
  std::vector<Got> expected;
  for (int i = 0; i < 6000; ++i) {
    const std::size_t number = rng.next() % 60;
    request.items.push_back(sample(fmt::format("{:03}", number)));
    expected.push_back({.text = std::to_string(number) + jpg(number)});
  }
  EXPECT_EQ(ask(std::move(request)), expected);
}

TEST_F(BatchTest, WhatIsTooLargeForMemoryIsAStream) {
  const std::string large = pattern(9 * kMiB, 4);
  EXPECT_TRUE(rig_.put(key("large"), large));
  const BatchRequest request{.objects = {{"sets", "large"}, {"sets", "plain"}},
                             .items = {{.object = 1}, {.object = 0}, {.object = 1}}};
  const std::vector<Got> expected = {
      {.text = "plain bytes"}, {.text = large}, {.text = "plain bytes"}};
  EXPECT_TRUE(ask(request) == expected);
}

TEST_F(BatchTest, DamageIsToldOfTheItemsThatItHits) {
  EXPECT_TRUE(rig_.put(key("big"), pattern(2 * kMiB, 6)));
  const auto found = rig_.find(key("big"));
  const auto& extents = std::get<std::vector<record::FileExtent>>(found->version.place);
  const std::size_t disk = rig_.number_of(found->disk);
  const std::string path = rig_.volume(disk).folders().file(extents.front().file);
  ASSERT_TRUE(rig_.disk(disk).flip_bit(path, 100'000, 3));
  const auto piece = [](std::uint64_t offset) {
    return BatchItem{.object = 0, .range = volume::ByteRange{.offset = offset, .length = 100}};
  };
  const BatchRequest request{.objects = {{"sets", "big"}},
                             .items = {piece(0), piece(70'000), piece(100'000), piece(140'000)}};
  const auto got = ask(request);
  const std::string bytes = pattern(2 * kMiB, 6);
  EXPECT_EQ(got[0].text, bytes.substr(0, 100));
  EXPECT_EQ(got[1].error, Errc::corrupt);
  EXPECT_EQ(got[2].error, Errc::corrupt);
  EXPECT_EQ(got[3].text, bytes.substr(140'000, 100));
}

// What a snapshot says may be a forger's.
TEST_F(BatchTest, PlacesOutsideOfAnObjectAreNotRead) {
  EXPECT_TRUE(rig_.put(key("large"), pattern(9 * kMiB, 4)));
  const auto place = [](std::uint32_t object, std::uint64_t offset, std::uint64_t length) {
    BatchItem item{.what = BatchItem::What::places};
    item.places.push_back({.data = {.offset = offset, .length = length}, .object = object});
    return item;
  };
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const BatchRequest request{
      .objects = {{"sets", "plain"},
                  {"sets", "large"},
                  {.bucket = "sets", .key = "plain", .size_bytes = 10}},
      .field_names = {"txt"},
      .items = {place(0, 0, 11), place(0, 0, 12), place(0, 12, 0), place(0, 5, most),
                place(1, 0, 9 * kMiB + 1), place(1, most, 2), place(2, 0, 10)}};
  const std::vector<Got> expected = {{.text = "plain bytes"},
                                     {.error = Errc::corrupt},
                                     {.error = Errc::corrupt},
                                     {.error = Errc::corrupt},
                                     {.error = Errc::corrupt},
                                     {.error = Errc::corrupt},
                                     {.error = Errc::precondition_failed}};
  EXPECT_EQ(ask(request), expected);
}

// What was found is remembered for the items that follow.
TEST_F(BatchTest, AnObjectThatBecomesHugeMeanwhileFailsItsItem) {
  ASSERT_TRUE(rig_.put(key("big"), pattern(2 * kMiB, 6)));
  const BatchRequest request{
      .objects = {{"sets", "big"}, {"sets", "plain"}},
      .items = {{.object = 0, .range = volume::ByteRange{.offset = 0, .length = 10}},
                {.object = 0},
                {.object = 1}}};
  BatchReader reader(rig_.store(), *indexes_, request, everything());
  ASSERT_EQ(rig_.run(reader.next())->size(), 1U);
  const auto old = rig_.find(key("big"));
  ASSERT_TRUE(rig_.put(key("big"), pattern(9 * kMiB, 7)));
  // The one that was found cannot be read any more.
  const auto& extents = std::get<std::vector<record::FileExtent>>(old->version.place);
  const std::size_t disk = rig_.number_of(old->disk);
  const std::string path = rig_.volume(disk).folders().file(extents.front().file);
  ASSERT_TRUE(rig_.disk(disk).flip_bit(path, 100, 1));
  const auto lot = rig_.run(reader.next());
  ASSERT_EQ(lot->size(), 2U);
  ASSERT_FALSE((*lot)[0].status);
  EXPECT_EQ((*lot)[0].status.error().code(), Errc::conflict);
  EXPECT_TRUE((*lot)[0].parts.empty());
  EXPECT_EQ(as_text((*lot)[1].parts.front().bytes), "plain bytes");
}

// A link has no data of its own: an empty answer would be taken for an empty file.
TEST_F(BatchTest, MembersThatAreNoFilesAreRefused) {
  const std::vector<std::pair<char, std::string>> kinds = {
      {'1', "hard.txt"}, {'2', "soft.txt"}, {'5', "folder"}};
  std::string archive = test::tar_of({{"x.txt", "ex"}});
  archive.resize(archive.size() - tar::kEndBytes);
  for (const auto& [type, name] : kinds)
    archive += test::special_member(name, type);
  ASSERT_TRUE(rig_.put(key("links.tar"), archive.append(tar::kEndBytes, '\0')));
  const auto links = index("links.tar");
  EXPECT_EQ(select_member(links->view(), "hard.txt").error().detail(),
            R"("hard.txt" is a link in the archive and has no data of its own)");
  EXPECT_EQ(select_member(links->view(), "folder").error().detail(),
            R"("folder" is a directory in the archive and has no data of its own)");
  BatchRequest request{.objects = {{"sets", "links.tar"}}};
  for (const auto& [type, name] : kinds)
    request.items.push_back({.what = BatchItem::What::member, .name = name});
  request.items.push_back({.what = BatchItem::What::member, .name = "x.txt"});
  const std::vector<Got> expected = {{.error = Errc::bad_request},
                                     {.error = Errc::bad_request},
                                     {.error = Errc::bad_request},
                                     {.text = "ex"}};
  EXPECT_EQ(ask(request), expected);
}

// Names and bookkeeping take memory, too.
TEST_F(BatchTest, SamplesOfManyEmptyFieldsComeFewAtATime) {
  std::vector<std::pair<std::string, std::string>> members;
  for (std::size_t i = 0; i < kSampleMembersMax; ++i)
    members.emplace_back(fmt::format("1.{}", i), "");
  for (std::size_t i = 0; i <= kSampleMembersMax; ++i)
    members.emplace_back(fmt::format("2.{}", i), "");
  ASSERT_TRUE(rig_.put(key("many.tar"), test::tar_of(members)));
  BatchRequest request{.objects = {{"sets", "many.tar"}}};
  for (int i = 0; i < 200; ++i)
    request.items.push_back(sample("1"));
  BatchReader reader(rig_.store(), *indexes_, request, everything());
  std::size_t seen = 0;
  for (;;) {
    const auto lot = rig_.run(reader.next());
    ASSERT_TRUE(lot);
    if (lot->empty()) break;
    EXPECT_LE(lot->size(), 40U);
    EXPECT_EQ(lot->front().parts.size(), kSampleMembersMax);
    seen += lot->size();
  }
  EXPECT_EQ(seen, 200U);
  request.items = {sample("2")};
  EXPECT_EQ(ask(request).front().error, Errc::bad_request);
}

TEST_F(ShardsServiceTest, WhatIsMissingIsToldWithoutAllThatIsThere) {
  std::vector<std::pair<std::string, std::string>> members;
  for (int i = 0; i < 500; ++i)
    members.emplace_back(fmt::format("1.{}", i), "");
  ASSERT_TRUE(rig_.put(key("many.tar"), test::tar_of(members)));
  const auto many = index("many.tar");
  EXPECT_LT(select_sample(many->view(), "1", {"x"}).error().detail().size(), 200U);
  EXPECT_LT(select_members(many->view(), {.fields = {"x"}}).error().detail().size(), 200U);
}

TEST_F(BatchTest, NothingAskedIsNothingGiven) {
  EXPECT_TRUE(ask({.objects = objects_}).empty());
}

}  // namespace
}  // namespace leat::shards
