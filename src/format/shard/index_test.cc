#include "shard/index.h"

#include <gtest/gtest.h>

#include "codec/codec.h"
#include "hash/crc32c.h"
#include "shard/layout.h"
#include "shard/scanner.h"
#include "tar/archive_fixture_test.h"

namespace leat::shard {
namespace {

using tar::Block;
using tar::file;
using tar::kEnd;
using tar::Kind;

// An archive's index, as bytes and as a view of them.
struct Indexed {
  explicit Indexed(const std::string& archive) {
    ShardScanner scanner;
    scanner.feed(as_bytes(archive));
    const Summary summary = scanner.finish();
    EXPECT_TRUE(summary.is_shard) << summary.problem;
    bytes = scanner.take_index();
  }
  View view() const {
    auto opened = View::open(as_bytes(bytes));
    EXPECT_TRUE(opened) << opened.error().message();
    return *opened;
  }

  std::string bytes;
};

// Both checksums made right again, as a writer with a fault would leave them.
std::string resealed(std::string bytes) {
  const auto put = [&](std::uint64_t at, std::uint32_t value) {
    std::string number;
    codec::Encoder(number).u32(value);
    bytes.replace(at, 4, number);
  };
  put(kSectionsSumAt, hash::crc32c(as_bytes(bytes).subspan(kHeaderBytes)));
  const std::uint32_t sum = hash::crc32c(as_bytes(bytes).first(kHeaderSumAt));
  put(kHeaderSumAt,
      hash::crc32c(as_bytes(bytes).subspan(kHeaderSumAt + 4, kHeaderBytes - kHeaderSumAt - 4),
                   sum));
  return bytes;
}

// Asks for everything; ASan and the checks inside watch.
std::uint64_t walk(const View& view) {
  std::uint64_t seen = 0;
  for (std::uint64_t i = 0; i < view.member_count(); ++i) {
    const MemberRef member = view.member(i);
    seen += member.name.size() + member.end();
    if (member.field) seen += view.field(*member.field).size();
    if (member.sample) seen += view.sample(*member.sample).key.size();
    seen += view.find_member(member.name).value_or(0);
  }
  for (std::uint64_t i = 0; i < view.sample_count(); ++i) {
    const SampleRef sample = view.sample(i);
    seen += sample.end - sample.start + view.find_sample(sample.key).value_or(0);
    if (view.field_count() > 0) seen += view.find_in_sample(i, 0).value_or(0);
  }
  return seen + view.fields().size();
}

TEST(ShardIndex, HoldsMembersAndSamples) {
  const Indexed indexed(file("d/1.jpg", "one") + file("d/1.cls", "1") + file("README", "r") +
                        Block{.name = "d/", .type = '5'}.bytes() + file("d/2.cls", "2") +
                        file("d/2.jpg", std::string(600, 'x')) + kEnd);
  const View view = indexed.view();
  ASSERT_EQ(view.member_count(), 6U);
  ASSERT_EQ(view.sample_count(), 2U);
  EXPECT_EQ(view.fields(), (std::vector<std::string_view>{"jpg", "cls"}));
  const MemberRef jpg = view.member(5);
  EXPECT_EQ(jpg.name, "d/2.jpg");
  EXPECT_EQ(jpg.kind, Kind::file);
  EXPECT_EQ(jpg.start, 1024U * 3 + 512 + 1024);
  EXPECT_EQ(jpg.data_offset, jpg.start + 512);
  EXPECT_EQ(jpg.size_bytes, 600U);
  EXPECT_EQ(jpg.end(), jpg.data_offset + 1024);
  EXPECT_EQ(jpg.sample, 1U);
  EXPECT_EQ(jpg.field, 0U);
  EXPECT_EQ(view.member(2).sample, std::nullopt);
  EXPECT_EQ(view.member(3).kind, Kind::directory);
  const SampleRef sample = view.sample(1);
  EXPECT_EQ(sample.key, "d/2");
  EXPECT_EQ(sample.first_member, 4U);
  EXPECT_EQ(sample.member_count, 2U);
  EXPECT_EQ(sample.start, view.member(4).start);
  EXPECT_EQ(sample.end, jpg.end());
  EXPECT_EQ(view.find_in_sample(1, *view.find_field("jpg")), 5U);
  EXPECT_EQ(view.find_in_sample(1, 77), std::nullopt);
}

TEST(ShardIndex, ASampleIsARunOfOneKey) {
  // A key that comes again begins another sample; members that are passed over end none.
  const Indexed indexed(file("a.x", "") + file("__meta__/m.y", "") + file("a.y", "") +
                        file("b.x", "") + file("a.x", "") + kEnd);
  const View view = indexed.view();
  ASSERT_EQ(view.sample_count(), 3U);
  EXPECT_EQ(view.sample(0).member_count, 3U);
  EXPECT_EQ(view.member(1).sample, std::nullopt);
  EXPECT_EQ(view.sample(2).key, "a");
  EXPECT_EQ(view.find_sample("a"), 0U);
  EXPECT_EQ(view.find_sample("b"), 1U);
  EXPECT_EQ(view.find_sample("c"), std::nullopt);
  EXPECT_EQ(view.find_sample(""), std::nullopt);
  EXPECT_EQ(view.find_member("a.x"), 4U);
  EXPECT_EQ(view.find_member("a.y"), 2U);
  EXPECT_EQ(view.find_member("__meta__/m.y"), 1U);
  EXPECT_EQ(view.find_member("z"), std::nullopt);
  EXPECT_EQ(view.find_member(""), std::nullopt);
}

TEST(ShardIndex, LinksAndDirectoriesAreInNoSample) {
  const Indexed indexed(Block{.name = "a.x", .type = '2'}.bytes() +
                        Block{.name = "a.y", .type = '5'}.bytes() + kEnd);
  EXPECT_EQ(indexed.view().sample_count(), 0U);
  EXPECT_EQ(indexed.view().member_count(), 2U);
}

TEST(ShardIndex, DuplicateFieldsAreCountedAndTheFirstIsFound) {
  const Indexed indexed(file("a.jpg", "") + file("a.JPG", "") + file("a.jpg", "") +
                        file("b.jpg", "") + file("c.__key__", "") + kEnd);
  const View view = indexed.view();
  EXPECT_EQ(view.samples_with_duplicate_fields(), 2U);
  EXPECT_TRUE(view.sample(0).has_duplicate_fields);
  EXPECT_FALSE(view.sample(1).has_duplicate_fields);
  EXPECT_TRUE(view.sample(2).has_duplicate_fields);
  EXPECT_EQ(view.find_in_sample(0, 0), 0U);
}

TEST(ShardIndex, AnEmptyIndexIsOne) {
  Builder builder;
  const std::string bytes = builder.finish(0);
  const auto view = View::open(as_bytes(bytes));
  ASSERT_TRUE(view);
  EXPECT_EQ(view->member_count(), 0U);
  EXPECT_EQ(view->find_member("a"), std::nullopt);
  EXPECT_EQ(view->find_sample("a"), std::nullopt);
}

TEST(ShardIndex, AShardCarriesTheSameIndexThatAScanOfItGives) {
  Builder builder;
  std::string archive;
  tar::Scanner scanner([&](const tar::Member& member) { builder.add(member); });
  for (const char* name : {"1.cls", "1.jpg", "2.cls", "2.jpg"})
    archive += file(name, name);
  scanner.feed(as_bytes(archive));
  archive += builder.finish_archive(archive.size());

  const Indexed indexed(archive);
  const View view = indexed.view();
  const auto own = view.find_member(kIndexName);
  ASSERT_TRUE(own);
  const MemberRef member = view.member(*own);
  EXPECT_EQ(member.sample, std::nullopt);
  EXPECT_EQ(archive.substr(member.data_offset, member.size_bytes), indexed.bytes);
  EXPECT_EQ(view.shard_bytes(), archive.size());
}

TEST(ShardIndex, EveryFlippedBitAndEveryTruncationIsFound) {
  const Indexed indexed(file("a.jpg", "1") + file("a.cls", "2") + file("b.jpg", "3") + kEnd);
  for (std::size_t i = 0; i < indexed.bytes.size(); ++i) {
    EXPECT_FALSE(View::open(as_bytes(indexed.bytes).first(i))) << i;
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = indexed.bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
      const auto view = View::open(as_bytes(damaged));
      ASSERT_FALSE(view) << i;
      EXPECT_EQ(view.error().code(), Errc::corrupt);
    }
  }
  EXPECT_FALSE(View::open(as_bytes(indexed.bytes + "x")));
}

TEST(ShardIndex, NothingBehindRightChecksumsLeadsOutside) {
  const Indexed indexed(file("a.jpg", "1") + file("a.cls", "2") + file("b.jpg", "3") + kEnd);
  const std::uint64_t seed = 31;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  tar::Dice random(seed);
  int opened = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string hostile = indexed.bytes;
    for (std::uint64_t faults = 1 + random() % 3; faults > 0; --faults) {
      const std::size_t at = random() % (hostile.size() / 4) * 4;
      constexpr std::uint32_t kOdd[] = {0,          1,          2,          3,         4,
                                        0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF};
      std::string number;
      codec::Encoder(number).u32(kOdd[random() % std::size(kOdd)]);
      hostile.replace(at, 4, number);
    }
    const std::string sealed = resealed(hostile);
    const auto view = View::open(as_bytes(sealed));
    if (!view) continue;
    ++opened;
    walk(*view);
  }
  EXPECT_GT(opened, 100);
}

TEST(ShardIndex, LookUpsAgreeWithASearch) {
  const std::uint64_t seed = 5;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  tar::Dice random(seed);
  Builder builder;
  std::uint64_t at = 0;
  for (int i = 0; i < 2000; ++i) {
    builder.add({.name = fmt::format("{}.{}", random() % 300, random() % 4),
                 .kind = Kind::file,
                 .start = at,
                 .data_offset = at + 512,
                 .size_bytes = 0});
    at += 512;
  }
  EXPECT_EQ(builder.members(), 2000U);
  const std::uint64_t size = builder.index_bytes();
  const std::string bytes = builder.finish(at);
  EXPECT_EQ(bytes.size(), size);
  const auto view = View::open(as_bytes(bytes));
  ASSERT_TRUE(view);
  for (int i = 0; i < 310; ++i) {
    const std::string key = fmt::to_string(i);
    std::optional<std::uint64_t> first;
    for (std::uint64_t n = view->sample_count(); n-- > 0;) {
      if (view->sample(n).key == key) first = n;
    }
    EXPECT_EQ(view->find_sample(key), first);
    std::optional<std::uint64_t> last;
    for (std::uint64_t n = 0; n < view->member_count(); ++n) {
      if (view->member(n).name == key + ".1") last = n;
    }
    EXPECT_EQ(view->find_member(key + ".1"), last);
  }
}

}  // namespace
}  // namespace leat::shard
