#include <fmt/format.h>

#include "snapshot/diff.h"
#include "snapshot/fixture_test.h"

namespace leat::snapshot {
namespace {

Model one_shard() {
  Model model;
  model.shards.push_back({.bucket = "train", .key = "000.tar", .version = "v1", .etag = "e"});
  return model;
}

TEST(Builder, AnEmptySnapshotHasNothing) {
  const std::string bytes = Builder().finish().value();
  const auto view = View::open(as_bytes(bytes));
  ASSERT_TRUE(view);
  EXPECT_EQ(view->sample_count(), 0U);
  EXPECT_EQ(view->find("x").value(), std::nullopt);
  EXPECT_EQ(view->sample(0).error().code(), Errc::bad_request);
  EXPECT_EQ(view->block(0).error().code(), Errc::bad_request);
  EXPECT_EQ(view->shard(0).error().code(), Errc::bad_request);
  EXPECT_TRUE(view->verify_all());
}

TEST(Builder, RefusesWhatCannotBe) {
  Builder builder;
  const FieldOf field{.name = "jpg", .place = {.offset = 512, .size_bytes = 10}};
  const std::vector<FieldOf> fields = {field};
  const std::vector<FieldOf> twice = {field, field};
  const auto code = [&](std::string_view key, std::uint64_t start, std::uint64_t end,
                        const std::vector<FieldOf>& of) {
    return builder.add_sample(key, start, end, of).error().code();
  };
  EXPECT_EQ(code("a", 0, 1024, fields), Errc::bad_request);  // no shard
  ASSERT_TRUE(builder.begin_shard({.bucket = "b", .key = "k", .size_bytes = 4096}));
  EXPECT_EQ(code(std::string(kKeyMaxBytes + 1, 'k'), 0, 1024, fields), Errc::bad_request);
  EXPECT_EQ(code("a", 0, 8192, fields), Errc::bad_request);
  EXPECT_EQ(code("a", 0, 520, fields), Errc::bad_request);
  EXPECT_EQ(code("a", 0, 1024, twice), Errc::bad_request);
  ASSERT_TRUE(builder.add_sample("a", 0, 1024, fields));
  EXPECT_EQ(code("b", 512, 1024, {}), Errc::bad_request);
  std::vector<std::string> names;
  std::vector<FieldOf> many;
  for (std::size_t i = 0; i < kFieldsMax; ++i)
    names.push_back(std::to_string(i));
  for (const std::string& name : names)
    many.push_back({.name = name, .place = {.offset = 1024, .size_bytes = 0}});
  EXPECT_EQ(code("c", 1024, 2048, many), Errc::bad_request);  // and jpg is one more
  many.pop_back();
  EXPECT_TRUE(builder.add_sample("c", 1024, 2048, many));
  EXPECT_EQ(builder.sample_count(), 2U);
  const std::string bytes = builder.finish().value();
  const auto view = View::open(as_bytes(bytes));
  EXPECT_EQ(view->fields().size(), kFieldsMax);
  EXPECT_TRUE(view->verify_all());
}

TEST(Builder, FieldsGivenAheadHaveTheFirstNumbers) {
  Model model = one_shard();
  add_regular(model, "a", {{"cls", 3}, {"jpg", 700}});
  const BuilderOptions options{.fields = {"npy", "jpg"}};
  const std::string bytes = model.build(options).value();
  const auto view = View::open(as_bytes(bytes));
  EXPECT_EQ(view->fields(), (std::vector<std::string>{"npy", "jpg", "cls"}));
  const Sample sample = view->sample(0).value();
  EXPECT_EQ(sample.fields[0], std::nullopt);
  EXPECT_EQ(sample.fields[1], (FieldPlace{.offset = 1536, .size_bytes = 700}));
  EXPECT_EQ(sample.fields[2], (FieldPlace{.offset = 512, .size_bytes = 3}));
}

TEST(Builder, AnErrorOfTheSinkEndsIt) {
  Builder builder;
  const Sink sink = [](std::string_view) -> Status { return fail(Errc::no_space); };
  EXPECT_EQ(builder.finish(sink).error().code(), Errc::no_space);
}

// Bytes a sample beside the keys.
double bytes_per_sample(const std::string& snapshot) {
  const auto view = View::open(as_bytes(snapshot));
  std::uint64_t keys = 0;
  std::uint64_t key_pages = 0;
  for (const auto kind : {SectionKind::keys, SectionKind::directory, SectionKind::ranks}) {
    const Section section = view->catalog().pages().section(kind);
    keys += section.size_bytes;
    key_pages += section.page_count();
  }
  return static_cast<double>(snapshot.size() - keys - 4 * key_pages) /
         static_cast<double>(view->sample_count());
}

TEST(Size, OneToFiveFieldsTakeAtMost24BytesBesideTheKeys) {
  for (std::size_t field_count = 1; field_count <= 5; ++field_count) {
    Draw draw(field_count);
    Model model = one_shard();
    for (int i = 0; i < 50'000; ++i) {
      std::vector<std::pair<std::string, std::uint64_t>> members;
      for (std::size_t field = 0; field < field_count; ++field)
        members.emplace_back("f" + std::to_string(field), draw.below(200'000));
      // Some are too large for three bytes, and have no row.
      if (draw.one_in(1000)) members.back().second += 20 * kMiB;
      add_regular(model, std::to_string(draw.below(1'000'000)), members);
    }
    const double bytes = bytes_per_sample(model.build().value());
    RecordProperty(fmt::format("bytes_of_{}_fields", field_count), fmt::format("{:.2f}", bytes));
    EXPECT_LE(bytes, 4.7 + 3.0 * static_cast<double>(field_count));
    EXPECT_LE(bytes, 24);
  }
}

TEST(Size, SmallFieldsTakeSmallColumnsAndPaxHeadersCostNothing) {
  Model model = one_shard();
  for (int i = 0; i < 20'000; ++i)
    add_regular(model, fmt::format("{:08}", i), {{"jpg", 100'000 + i}, {"cls", i % 3 + 1}},
                3 * kTarUnit);
  EXPECT_LT(bytes_per_sample(model.build().value()), 8.3);  // 4 + 3 + 1, and its block
}

TEST(Size, KeysInTheOrderOfRowsNeedNoRanks) {
  Model model = one_shard();
  for (int i = 0; i < 1000; ++i)
    add_regular(model, fmt::format("{:08}", i), {{"jpg", 10}});
  std::string bytes = model.build().value();
  EXPECT_EQ(View::open(as_bytes(bytes))->catalog().pages().section(SectionKind::ranks).size_bytes,
            0U);
  std::swap(model.samples[3].key, model.samples[900].key);
  bytes = model.build().value();
  EXPECT_EQ(View::open(as_bytes(bytes))->catalog().pages().section(SectionKind::ranks).size_bytes,
            4000U);
}

TEST(View, TheFingerprintNamesTheContent) {
  Model model = one_shard();
  add_regular(model, "a", {{"jpg", 10}});
  const auto fingerprint = [&] {
    const std::string bytes = model.build().value();
    return View::open(as_bytes(bytes))->fingerprint();
  };
  const Fingerprint first = fingerprint();
  EXPECT_EQ(fingerprint(), first);
  model.samples[0].key = "b";
  EXPECT_NE(fingerprint(), first);
  model.samples[0].key = "a";
  model.shards[0].version = "v2";
  EXPECT_NE(fingerprint(), first);
}

TEST(View, UnknownSectionsArePassedOverUnlessTheyAreRequired) {
  for (const std::uint32_t flags : {0U, kSectionRequired}) {
    std::string bytes = Builder().finish().value();
    Footer footer = decode_footer(as_bytes(bytes), bytes.size()).value();
    bytes.resize(bytes.size() - encode(footer).size());
    footer.sections.push_back(
        {.kind = static_cast<SectionKind>(77), .flags = flags, .offset = kHeaderBytes});
    footer.file_bytes = bytes.size() + encode(footer).size();
    bytes += encode(footer);
    const auto view = View::open(as_bytes(bytes));
    EXPECT_EQ(view.has_value(), flags == 0);
    if (!view) {
      EXPECT_EQ(view.error().code(), Errc::not_implemented);
    }
  }
}

TEST(View, ALaterFormatIsRefused) {
  std::string bytes = Builder().finish().value();
  bytes[0] = 2;
  EXPECT_EQ(View::open(as_bytes(bytes)).error().code(), Errc::not_implemented);
  bytes[0] = 1;
  bytes[bytes.size() - kTailBytes + 4] = 2;
  EXPECT_EQ(View::open(as_bytes(bytes)).error().code(), Errc::not_implemented);
}

std::vector<std::string> differences(const Model& before, const Model& after) {
  const std::string old_bytes = before.build().value();
  const std::string new_bytes = after.build().value();
  const auto old_view = View::open(as_bytes(old_bytes));
  const auto new_view = View::open(as_bytes(new_bytes));
  std::vector<std::string> found;
  const auto visit = [&](const DiffEntry& entry) {
    constexpr std::string_view kSigns = "+-~>";
    found.push_back(
        fmt::format("{}{}", kSigns[static_cast<std::size_t>(entry.difference)], entry.key));
    EXPECT_EQ(entry.before.has_value(), entry.difference != Difference::added);
    EXPECT_EQ(entry.after.has_value(), entry.difference != Difference::removed);
    return true;
  };
  EXPECT_TRUE(diff(*old_view, *new_view, visit));
  return found;
}

TEST(Diff, SaysWhatCameWentChangedAndMoved) {
  using Found = std::vector<std::string>;
  Model before = one_shard();
  for (const std::string key : {"a", "b", "b", "c", "d", "e"})
    add_regular(before, key, {{"cls", 1}, {"jpg", 1000}});
  EXPECT_EQ(differences(before, before), Found());
  EXPECT_EQ(differences(Model{}, before), (Found{"+a", "+b", "+b", "+c", "+d", "+e"}));
  EXPECT_EQ(differences(before, Model{}), (Found{"-a", "-b", "-b", "-c", "-d", "-e"}));
  Model after = one_shard();
  after.shards[0] = before.shards[0];
  after.samples = {before.samples[0], before.samples[1], before.samples[5]};
  after.shards.push_back({.bucket = "train", .key = "001.tar"});
  add_regular(after, "c", {{"cls", 1}, {"jpg", 1000}});
  add_regular(after, "d", {{"cls", 1}, {"jpg", 1001}});
  add_regular(after, "f", {{"json", 1}});
  EXPECT_EQ(differences(before, after), (Found{"-b", ">c", "~d", "+f"}));
  after.samples[0].fields.erase("cls");
  EXPECT_EQ(differences(before, after), (Found{"~a", "-b", ">c", "~d", "+f"}));
  EXPECT_EQ(differences(after, before), (Found{"~a", "+b", ">c", "~d", "-f"}));
}

TEST(Diff, OfMadeUpDatasetsIsWhatSetsSay) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Model before = make_model(seed, {.duplicate_one_in = 1'000'000});
    Model after = before;
    Draw draw(seed);
    std::erase_if(after.samples, [&](const ModelSample&) { return draw.one_in(4); });
    std::vector<std::string> expected;
    for (const Row row : before.sorted()) {
      const std::string& key = before.samples[row].key;
      if (std::ranges::find(after.samples, key, &ModelSample::key) == after.samples.end()) {
        expected.push_back("-" + key);
      }
    }
    EXPECT_EQ(differences(before, after), expected) << seed;
  }
}

TEST(Snapshot, SaysWhichShardsAreRecipes) {
  const auto built = [](bool is_recipe) {
    Builder builder;
    EXPECT_TRUE(builder.begin_shard({.bucket = "b", .key = "a.tar"}));
    EXPECT_TRUE(builder.begin_shard(
        {.bucket = "b", .key = "x", .size_bytes = 1024, .is_recipe = is_recipe}));
    EXPECT_TRUE(builder.add_sample("1", 0, 1024, {}));
    return builder.finish().value();
  };
  const std::string bytes = built(true);
  const auto view = View::open(as_bytes(bytes));
  ASSERT_TRUE(view && view->verify_all());
  EXPECT_FALSE(view->shard(0)->is_recipe);
  EXPECT_TRUE(view->shard(1)->is_recipe);
  EXPECT_LT(built(false).size(), bytes.size()) << "who has none pays nothing";
}

}  // namespace
}  // namespace leat::snapshot
