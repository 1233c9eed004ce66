#include "transfer/compare.h"

#include <gtest/gtest.h>

#include <deque>

#include "sim/world.h"
#include "transfer/plan.h"

namespace leat::transfer {
namespace {

using std::chrono::seconds;

WallTime at(int second) {
  return WallTime(seconds(1'000'000 + second));
}

Entry entry(std::string name, std::uint64_t size, int modified) {
  return {.name = std::move(name), .size_bytes = size, .modified = at(modified)};
}

TEST(Compare, WhatIsNotThereIsSentAndWhatIsOnlyThereIsLeftUnlessTold) {
  const Entry one = entry("a", 1, 0);
  EXPECT_EQ(judge(&one, nullptr, {}), Verdict::send);
  EXPECT_EQ(judge(nullptr, &one, {}), Verdict::leave);
  EXPECT_EQ(judge(nullptr, &one, {.remove_extra = true}), Verdict::remove);
}

TEST(Compare, AnotherSizeIsAnotherFile) {
  const Entry small = entry("a", 1, 0);
  const Entry large = entry("a", 2, 1000);
  EXPECT_EQ(judge(&small, &large, {}), Verdict::send);
}

TEST(Compare, NoTimeProvesThatAFileWasSent) {
  const Entry file = entry("a", 1, 0);
  for (const int written : {-1000, 0, 1, 1000}) {
    const Entry object = entry("a", 1, written);
    EXPECT_EQ(judge(&file, &object, {}), Verdict::compare) << written;
  }
}

TEST(Compare, ADownloadIsKnownByTheTimeOfItsObject) {
  const Rules down{.direction = Direction::down};
  Entry object = entry("a", 1, 0);
  object.modified += std::chrono::milliseconds(250);
  Entry file = object;
  EXPECT_EQ(judge(&object, &file, down), Verdict::skip);
  file.modified += std::chrono::milliseconds(1);
  EXPECT_EQ(judge(&object, &file, down), Verdict::compare) << "another object of that second";
  file.modified = at(0);
  EXPECT_EQ(judge(&object, &file, down), Verdict::compare) << "any object of that second";
  EXPECT_EQ(judge(&object, std::array{entry("a", 1, 60)}.data(), down), Verdict::compare);
}

TEST(Compare, ServicesThatTellWholeSecondsProveNothing) {
  const Entry object = entry("a", 1, 0);
  const Entry file = entry("a", 1, 0);
  EXPECT_EQ(judge(&object, &file, {.direction = Direction::down}), Verdict::compare);
}

TEST(Compare, ForceSendsAndChecksumComparesAll) {
  const Entry file = entry("a", 1, 0);
  const Entry there = entry("a", 1, 100);
  EXPECT_EQ(judge(&file, &there, {.force = true}), Verdict::send);
  EXPECT_EQ(judge(&file, &there, {.by_content = true}), Verdict::compare);
}

class ListedEntries final : public EntrySource {
 public:
  explicit ListedEntries(std::deque<Entry> entries) : entries_(std::move(entries)) {}
  rt::Task<std::optional<Entry>> next() override {
    if (entries_.empty()) co_return std::optional<Entry>();
    std::optional<Entry> first(std::move(entries_.front()));
    entries_.pop_front();
    co_return first;
  }

 private:
  std::deque<Entry> entries_;
};

TEST(Plan, MergesTwoTreesInStep) {
  sim::SimWorld world(1);
  ListedEntries source({entry("a", 1, 0), entry("b/c", 1, 0), entry("d", 1, 0)});
  ListedEntries target({entry("a", 1, 100), entry("b", 1, 0), entry("d", 2, 0), entry("e", 1, 0)});
  std::vector<std::pair<Verdict, std::string>> seen;
  const Emit emit = [&seen](Verdict verdict, const Entry& one) -> rt::Task<void> {
    seen.emplace_back(verdict, one.name);
    return rt::yield();
  };
  const Rules rules{.remove_extra = true};
  ASSERT_TRUE(world.run(plan(source, target, rules, emit)));
  const std::vector<std::pair<Verdict, std::string>> expected = {{Verdict::compare, "a"},
                                                                 {Verdict::remove, "b"},
                                                                 {Verdict::send, "b/c"},
                                                                 {Verdict::send, "d"},
                                                                 {Verdict::remove, "e"}};
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace leat::transfer
