#include "ingest/grouping.h"

#include <gtest/gtest.h>

#include <map>

namespace leat::ingest {
namespace {

class GroupingTest : public ::testing::Test {
 protected:
  GroupingTest()
      : complain_([this](const std::string& path, const Error& error) {
          refused_.emplace(path, error.detail());
        }),
        grouper_(catalog_, findings_, complain_, choice_) {
    origin_ = catalog_.add_origin({.path = "/data"});
  }

  void add(const std::vector<std::string>& names) {
    std::vector<FoundFile> files;
    for (const std::string& name : names)
      files.push_back({.name = name, .origin = origin_, .size_bytes = name.size()});
    grouper_.add(files, 0);
  }

  // The names of each group's members, samples first in the order of the catalog.
  std::vector<std::vector<std::string>> groups() const {
    std::vector<std::vector<std::string>> all;
    for (GroupId id = 0; id < catalog_.group_count(); ++id) {
      const Group& group = catalog_.group(id);
      std::vector<std::string> names{group.is_sample ? std::string(catalog_.key(group)) : "-"};
      for (std::uint64_t i = group.first; i < group.first + group.count; ++i)
        names.emplace_back(catalog_.name(catalog_.member(i)));
      all.push_back(std::move(names));
    }
    return all;
  }

  using Groups = std::vector<std::vector<std::string>>;

  Catalog catalog_;
  Findings findings_;
  std::map<std::string, std::string> refused_;
  Complain complain_;
  FieldChoice choice_;
  Grouper grouper_;
  std::uint32_t origin_ = 0;
};

TEST_F(GroupingTest, FilesThatDifferInTheExtensionAreOneSampleWithSortedFields) {
  add({"a/2.jpg", "a/1.jpg", "a/1.cls", "a/1.seg.png"});
  EXPECT_EQ(groups(), (Groups{{"a/1", "a/1.cls", "a/1.jpg", "a/1.seg.png"}, {"a/2", "a/2.jpg"}}));
  EXPECT_EQ(catalog_.samples(), 2U);
  EXPECT_EQ(findings_.files, 4U);
}

TEST_F(GroupingTest, OnlyFieldsThatWereAskedForAreTakenAndTheRestIsCounted) {
  choice_ = FieldChoice::parse("jpg,seg.png").value();
  add({"a/1.jpg", "a/1.cls", "a/1.seg.png", "a/2.cls", "a/2.json", "a/README", "a/3.JPG"});
  EXPECT_EQ(groups(), (Groups{{"a/1", "a/1.jpg", "a/1.seg.png"}, {"a/3", "a/3.JPG"}}));
  EXPECT_EQ(findings_.files, 3U);
  EXPECT_EQ(findings_.other_fields, 4U);
  EXPECT_EQ(findings_.without_any, 1U) << "a/2 has neither";
  EXPECT_EQ(findings_.refused, 0U);
}

TEST_F(GroupingTest, ChoicesAreNamesOfFields) {
  for (const char* text : {"", "jpg,", ",jpg", "JPG", "a/b", "jpg, cls"})
    EXPECT_FALSE(FieldChoice::parse(text)) << text;
}

// The vectors that webdataset, wids and DALI were measured with: webdataset's column.
TEST_F(GroupingTest, NamesAreSplitAsWebDatasetSplitsThem) {
  add({"d.v1/a.b.jpg"});
  add({"d.v1/a"});
  add({"a"});
  add({".hidden.jpg"});
  add({"d/.hidden.jpg"});
  add({"a..jpg"});
  add({"./a.jpg"});
  add({"A.JPG"});
  add({"__x__/a.jpg"});
  EXPECT_EQ(groups(), (Groups{{"d.v1/a", "d.v1/a.b.jpg"},
                              {"-", "d.v1/a"},
                              {"-", "a"},
                              {"-", ".hidden.jpg"},
                              {"d/", "d/.hidden.jpg"},
                              {"a", "a..jpg"},
                              {"./a", "./a.jpg"},
                              {"A", "A.JPG"},
                              {"-", "__x__/a.jpg"}}));
  EXPECT_EQ(findings_.without_field, 4U);
}

TEST_F(GroupingTest, AFieldThatIsThereTwiceIsRefusedAndTold) {
  add({"1.JPG", "1.jpg", "1.txt"});
  EXPECT_EQ(groups(), (Groups{{"1", "1.JPG", "1.txt"}}));
  EXPECT_EQ(findings_.refused, 1U);
  ASSERT_TRUE(refused_.contains("/data/1.jpg"));
  EXPECT_EQ(refused_["/data/1.jpg"], "the sample has the field jpg already, from 1.JPG");
}

TEST_F(GroupingTest, NamesThatNoMemberCanHaveAreRefused) {
  add({"__leat__/index", std::string("a\0b.jpg", 7), std::string(5000, 'x') + ".jpg", "ok.jpg"});
  EXPECT_EQ(groups(), (Groups{{"ok", "ok.jpg"}}));
  EXPECT_EQ(findings_.refused, 3U);
}

TEST_F(GroupingTest, AClassStandsAmongTheFieldsWhereItsNameBelongs) {
  grouper_.set_class("17");
  add({"cat/1.jpg", "cat/1.bin"});
  EXPECT_EQ(groups(), (Groups{{"cat/1", "cat/1.bin", "cat/1.cls", "cat/1.jpg"}}));
  EXPECT_EQ(catalog_.text(catalog_.member(1)), "17");
  EXPECT_EQ(findings_.files, 2U) << "the class is no file";
}

TEST_F(GroupingTest, AFileThatIsCalledLikeTheClassIsRefused) {
  grouper_.set_class("17");
  add({"cat/1.jpg", "cat/1.cls"});
  EXPECT_EQ(groups(), (Groups{{"cat/1", "cat/1.cls", "cat/1.jpg"}}));
  EXPECT_EQ(findings_.refused, 1U);
}

}  // namespace
}  // namespace leat::ingest
