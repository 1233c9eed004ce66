#include "datasets/commit_record.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

namespace leat::datasets {
namespace {

VersionRef ref_of(std::uint64_t version) {
  if (version == 0) return {};
  return {.version = version,
          .committed_ms = static_cast<std::int64_t>(version) * 10,
          .record = fmt::format("r{}", version)};
}

// A history of `count` versions, by the name of their records.
std::map<std::string, CommitRecord> history(std::uint64_t count) {
  std::map<std::string, CommitRecord> records;
  for (std::uint64_t version = 1; version <= count; ++version) {
    CommitRecord record{.version = version, .committed_ms = ref_of(version).committed_ms};
    if (version > 1) {
      const CommitRecord& parent = records.at(ref_of(version - 1).record);
      const VersionRef far = far_link(parent);
      link_to(record, parent, ref_of(version - 1),
              far.version != 0 ? &records.at(far.record) : nullptr);
    }
    records.emplace(ref_of(version).record, record);
  }
  return records;
}

TEST(CommitRecord, ComesBackAsItWas) {
  const CommitRecord record{.version = 7,
                            .committed_ms = 123,
                            .message = "more \"cats\"",
                            .transaction = "t-1",
                            .parent = ref_of(6),
                            .jump = ref_of(3),
                            .jump_of_jump = ref_of(1),
                            .snapshot = {.key = "n/_leat/x", .size_bytes = 9, .fingerprint = "ab"},
                            .samples = 10,
                            .shards = 2,
                            .bytes = 300,
                            .fields = {"cls", "jpg"},
                            .added = {"n/a.tar"},
                            .removed = {"n/b.tar"},
                            .deleted_samples = 4};
  EXPECT_EQ(decode_record(encode(record)).value(), record);
  EXPECT_EQ(decode_pointer(encode(ref_of(5))).value(), ref_of(5));
  EXPECT_TRUE(decode_pointer(encode(VersionRef{.record = "\xff"}))) << "other bytes end nobody";
}

TEST(CommitRecord, DamageAndLaterFormatsAreTold) {
  const std::string text = encode(CommitRecord{.version = 1});
  for (std::size_t size = 0; size + 1 < text.size(); ++size)
    EXPECT_EQ(decode_record(text.substr(0, size)).error().code(), Errc::corrupt) << size;
  std::string later = text;
  later.replace(later.find("\"format\": 1"), 11, "\"format\": 2");
  EXPECT_EQ(decode_record(later).error().code(), Errc::version_not_supported);
  EXPECT_EQ(decode_pointer("{}").error().code(), Errc::corrupt);
  EXPECT_EQ(decode_pointer(R"({"version": -1, "committed_ms": 0, "record": ""})").error().code(),
            Errc::corrupt);
}

TEST(CommitRecord, LinksThatDoNotLeadBackAreDamage) {
  for (VersionRef CommitRecord::* link :
       {&CommitRecord::parent, &CommitRecord::jump, &CommitRecord::jump_of_jump}) {
    CommitRecord record{.version = 3};
    record.*link = ref_of(2);
    EXPECT_TRUE(decode_record(encode(record)));
    record.*link = ref_of(3);
    EXPECT_EQ(decode_record(encode(record)).error().code(), Errc::corrupt);
  }
}

TEST(CommitRecord, EveryOlderVersionIsReachedInFewSteps) {
  constexpr std::uint64_t kCount = 3000;
  const auto records = history(kCount);
  std::size_t longest = 0;
  for (std::uint64_t wanted = 1; wanted <= kCount; wanted += 7) {
    VersionRef at = ref_of(kCount);
    std::size_t steps = 0;
    const auto is_old_enough = [wanted](const VersionRef& ref) { return ref.version <= wanted; };
    while (!is_old_enough(at)) {
      at = step_back(records.at(at.record), is_old_enough);
      ++steps;
    }
    ASSERT_EQ(at, ref_of(wanted));
    longest = std::max(longest, steps);
  }
  EXPECT_LE(longest, 3 * 12U) << "three times the binary logarithm";
}

TEST(CommitRecord, TheVersionOfATimeIsTheLastOneBeforeIt) {
  const auto records = history(50);
  for (std::int64_t ms = 0; ms < 520; ++ms) {
    VersionRef at = ref_of(50);
    const auto is_old_enough = [ms](const VersionRef& ref) { return ref.committed_ms <= ms; };
    while (at.version != 0 && !is_old_enough(at))
      at = step_back(records.at(at.record), is_old_enough);
    EXPECT_EQ(at.version, std::min<std::uint64_t>(static_cast<std::uint64_t>(ms) / 10, 50)) << ms;
  }
}

}  // namespace
}  // namespace leat::datasets
