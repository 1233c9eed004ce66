// A shard that Leat wrote, with its index (tests/golden/shard-1.tar and .index), is written and
// read the same for good.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "shard/index.h"
#include "shard/scanner.h"
#include "tar/writer.h"

namespace leat::shard {
namespace {

std::string golden(const std::string& name) {
  std::ifstream in(LEAT_GOLDEN_FOLDER "/" + name, std::ios::binary);
  EXPECT_TRUE(in.is_open()) << name;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The inputs: two samples, a name that needs PAX, a member that is in no sample.
std::string make_shard() {
  const std::string long_name = "z/" + std::string(120, 'n') + ".txt";
  const std::pair<std::string, std::string> members[] = {
      {"d/1.cls", "7"},
      {"d/1.seg.PNG", std::string(600, 'p')},
      {"README", "two samples and a long one\n"},
      {"d/2.cls", ""},
      {long_name, "long"},
  };
  Builder builder;
  std::string archive;
  for (const auto& [name, data] : members) {
    const std::uint64_t start = archive.size();
    archive += tar::header({.name = name, .size_bytes = data.size()});
    builder.add({.name = name,
                 .kind = tar::Kind::file,
                 .start = start,
                 .data_offset = archive.size(),
                 .size_bytes = data.size()});
    archive += data;
    archive.append(tar::padding(data.size()), '\0');
  }
  return archive + builder.finish_archive(archive.size());
}

TEST(GoldenShard, IsWrittenTheSame) {
  EXPECT_EQ(make_shard(), golden("shard-1.tar"));
}

TEST(GoldenShard, IsIndexedTheSame) {
  const std::string archive = golden("shard-1.tar");
  ShardScanner scanner;
  scanner.feed(as_bytes(archive));
  const Summary summary = scanner.finish();
  ASSERT_TRUE(summary.is_shard) << summary.problem;
  EXPECT_EQ(summary.samples, 3U);
  EXPECT_EQ(summary.members, 6U);
  EXPECT_EQ(scanner.take_index(), golden("shard-1.index"));
}

TEST(GoldenShard, IsRead) {
  const std::string archive = golden("shard-1.tar");
  const std::string index = golden("shard-1.index");
  const auto view = View::open(as_bytes(index));
  ASSERT_TRUE(view) << view.error().message();
  EXPECT_EQ(view->shard_bytes(), archive.size());
  EXPECT_EQ(view->fields(), (std::vector<std::string_view>{"cls", "seg.png", "txt"}));
  const auto sample = view->find_sample("d/1");
  ASSERT_TRUE(sample);
  const auto number = view->find_in_sample(*sample, *view->find_field("seg.png"));
  ASSERT_TRUE(number);
  const MemberRef member = view->member(*number);
  EXPECT_EQ(archive.substr(member.data_offset, member.size_bytes), std::string(600, 'p'));
  const MemberRef own = view->member(*view->find_member(kIndexName));
  EXPECT_EQ(archive.substr(own.data_offset, own.size_bytes), index);
}

}  // namespace
}  // namespace leat::shard
