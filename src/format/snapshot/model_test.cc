// Snapshots of made-up datasets answer what plain vectors answer.
#include "snapshot/fixture_test.h"
#include "snapshot/lookup.h"

namespace leat::snapshot {
namespace {

void expect_samples(const View& view, const Model& model) {
  ASSERT_EQ(view.sample_count(), model.samples.size());
  ASSERT_EQ(view.shard_count(), model.shards.size());
  for (std::uint32_t shard = 0; shard < view.shard_count(); ++shard)
    EXPECT_EQ(view.shard(shard).value(), model.shards[shard]);
  for (Row row = 0; row < view.sample_count(); ++row) {
    expect_sample(view, model, row, view.sample(row).value());
    EXPECT_EQ(view.key(row).value(), model.samples[row].key);
  }
}

void expect_blocks(const View& view, const Model& model, std::uint64_t block_bytes) {
  const auto counts = view.block_counts().value();
  ASSERT_EQ(counts.size(), view.block_count());
  Row row = 0;
  for (std::uint32_t number = 0; number < view.block_count(); ++number) {
    const Block block = view.block(number).value();
    const ModelSample& first = model.samples.at(row);
    const ModelSample& last = model.samples.at(row + block.count - 1);
    EXPECT_EQ(block.count, counts[number]);
    EXPECT_EQ(block, (Block{.shard = first.shard,
                            .first = row,
                            .count = block.count,
                            .offset = first.start,
                            .size_bytes = last.end - first.start}));
    EXPECT_EQ(last.shard, first.shard);
    EXPECT_TRUE(block.size_bytes <= block_bytes || block.count == 1);
    for (std::uint32_t i = 0; i < block.count; ++i)
      EXPECT_EQ(view.block_of(row + i).value(), number);
    row += block.count;
  }
  EXPECT_EQ(row, model.samples.size());
}

std::vector<std::pair<std::string, Row>> listed(const View& view, std::string_view prefix,
                                                std::string_view after, std::size_t limit) {
  std::vector<std::pair<std::string, Row>> entries;
  const auto visit = [&](std::string_view key, Row row) {
    entries.emplace_back(key, row);
    return entries.size() < limit;
  };
  EXPECT_TRUE(view.for_each(prefix, after, visit));
  return entries;
}

void expect_listing(const View& view, const Model& model, std::string_view prefix,
                    std::string_view after) {
  std::vector<std::pair<std::string, Row>> expected;
  for (const Row row : model.sorted()) {
    const std::string& key = model.samples[row].key;
    if (key.starts_with(prefix) && (after.empty() || key > after)) expected.emplace_back(key, row);
  }
  EXPECT_EQ(listed(view, prefix, after, SIZE_MAX), expected) << prefix << " " << after;
  if (expected.size() > 3) {
    expected.resize(3);
    EXPECT_EQ(listed(view, prefix, after, 3), expected);
  }
}

// Looks a key up as a remote client does: it has the end of the snapshot and reads pages.
std::optional<Sample> look_up(const Catalog& catalog, std::string_view snapshot,
                              const std::string& key) {
  Lookup lookup(catalog, key);
  int reads = 0;
  while (true) {
    const auto range = lookup.next();
    if (!range || !*range) {
      EXPECT_TRUE(range);
      break;
    }
    EXPECT_LE((*range)->size_bytes, kPageBytes);
    EXPECT_TRUE(lookup.feed(as_bytes(snapshot.substr((*range)->offset, (*range)->size_bytes))));
    ++reads;
  }
  EXPECT_LE(reads, 2);
  return lookup.found();
}

void expect_keys(const View& view, const Model& model, const std::string& snapshot) {
  const Bytes tail = as_bytes(snapshot).last(kTailBytes);
  const std::uint64_t resident = resident_bytes(tail, snapshot.size()).value();
  const std::string held = snapshot.substr(snapshot.size() - resident);
  const auto catalog = Catalog::open(as_bytes(held), snapshot.size());
  ASSERT_TRUE(catalog);
  std::map<std::string, Row> first;
  for (Row row = 0; row < model.samples.size(); ++row)
    first.try_emplace(model.samples[row].key, row);
  for (const auto& [key, row] : first) {
    EXPECT_EQ(view.find(key).value(), row) << key;
    const auto found = look_up(*catalog, snapshot, key);
    ASSERT_TRUE(found) << key;
    expect_sample(view, model, row, *found);
    for (const std::string& other : {key + "!", key.substr(0, key.size() / 2), "~" + key}) {
      if (first.contains(other)) continue;
      EXPECT_EQ(view.find(other).value(), std::nullopt) << other;
      EXPECT_FALSE(look_up(*catalog, snapshot, other)) << other;
    }
  }
}

void expect_same(const Model& model, std::uint64_t block_bytes, Draw& draw) {
  BuilderOptions options{.block_bytes = block_bytes};
  const auto snapshot = model.build(options);
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(model.build(options).value(), *snapshot);
  const auto view = View::open(as_bytes(*snapshot));
  ASSERT_TRUE(view) << view.error().message();
  expect_samples(*view, model);
  expect_blocks(*view, model, block_bytes);
  expect_keys(*view, model, *snapshot);
  expect_listing(*view, model, "", "");
  expect_listing(*view, model, "a/", "");
  expect_listing(*view, model, "a/", "zzz");
  for (int i = 0; i < 5 && !model.samples.empty(); ++i) {
    const std::string& key = model.samples[draw.below(model.samples.size())].key;
    expect_listing(*view, model, "", key);
    expect_listing(*view, model, key.substr(0, 3), key);
    expect_listing(*view, model, key.substr(0, 3), "");
  }
  const Status verified = view->verify_all();
  EXPECT_TRUE(verified) << verified.error().message();
}

class Models : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Models, AnswerLikePlainVectors) {
  Draw draw(GetParam());
  const Variety variety{.samples = draw.below(400),
                        .shards = 1 + draw.below(20),
                        .irregular_one_in = 1 + draw.below(30),
                        .large_one_in = 2 + draw.below(200),
                        .duplicate_one_in = 1 + draw.below(50),
                        .sorted_keys = draw.one_in(3)};
  expect_same(make_model(GetParam(), variety), 1000 + draw.below(kBlockBytes), draw);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Models, testing::Range<std::uint64_t>(0, 120));

TEST(ModelOfManyPages, AnswersLikePlainVectors) {
  Draw draw(1);
  expect_same(make_model(1, {.samples = 30'000, .large_one_in = 5000}), kBlockBytes, draw);
}

TEST(ModelOfManyPages, KeysThatGoOverPagesAreFoundFromTheirFirst) {
  Model model;
  model.shards.push_back({.bucket = "b", .key = "k"});
  for (int i = 0; i < 40'000; ++i)
    add_regular(model, i % 40 == 0 ? std::to_string(i) : "same", {{"x", 1}});
  Draw draw(1);
  expect_same(model, kBlockBytes, draw);
}

}  // namespace
}  // namespace leat::snapshot
