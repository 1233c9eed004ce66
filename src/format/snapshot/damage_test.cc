// A damaged snapshot says so or answers as before; it never answers anything else.
#include <fmt/format.h>

#include "snapshot/diff.h"
#include "snapshot/fixture_test.h"
#include "snapshot/lookup.h"

namespace leat::snapshot {
namespace {

std::string describe(const Sample& sample) {
  std::string text = fmt::format("{} {} {}-{}", sample.row, sample.shard, sample.start, sample.end);
  for (const auto& field : sample.fields)
    text += field ? fmt::format(" {}+{}", field->offset, field->size_bytes) : " -";
  return text;
}

template <class T>
void check(const Result<T>& result) {
  if (!result) {
    EXPECT_TRUE(result.error().code() == Errc::corrupt) << result.error().message();
  }
}

// All that can be asked, one answer a line; a line of what could not be answered is "corrupt".
std::vector<std::string> ask_all(std::string_view snapshot, const Model& model) {
  std::vector<std::string> answers;
  const auto view = View::open(as_bytes(snapshot));
  if (!view) return answers;
  const auto answer = [&](const auto& result, auto&& text_of) {
    check(result);
    answers.push_back(result ? text_of(*result) : "corrupt");
  };
  const auto as_is = [](const std::string& text) { return text; };
  answers.push_back(
      fmt::format("{} {} {}", view->sample_count(), view->shard_count(), view->block_count()));
  for (Row row = 0; row < model.samples.size(); ++row) {
    answer(view->sample(row), describe);
    answer(view->key(row), as_is);
    answer(view->block_of(row), [](std::uint32_t block) { return std::to_string(block); });
    answer(view->find(model.samples[row].key),
           [](const auto& found) { return found ? std::to_string(*found) : "none"; });
    answer(view->find(model.samples[row].key + "?"),
           [](const auto& found) { return found ? std::to_string(*found) : "none"; });
  }
  for (std::uint32_t shard = 0; shard < model.shards.size(); ++shard)
    answer(view->shard(shard), [](const ShardEntry& one) {
      return fmt::format("{} {} {} {} {}", one.bucket, one.key, one.version, one.etag,
                         one.size_bytes);
    });
  for (std::uint32_t block = 0; block < view->block_count(); ++block)
    answer(view->block(block), [](const Block& one) {
      return fmt::format("{} {} {} {} {}", one.shard, one.first, one.count, one.offset,
                         one.size_bytes);
    });
  std::string listing;
  const Status walked = view->for_each("", "", [&](std::string_view key, Row row) {
    listing += fmt::format("{} {},", key, row);
    return true;
  });
  answers.push_back(walked ? listing : "corrupt");
  return answers;
}

Model small_model() {
  return make_model(7, {.samples = 40, .shards = 3, .irregular_one_in = 5});
}

TEST(Damage, EveryFlippedByteIsSeenOrDoesNotMatter) {
  const Model model = small_model();
  const std::string good = model.build().value();
  const auto expected = ask_all(good, model);
  ASSERT_FALSE(expected.empty());
  std::size_t seen = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
      std::string bad = good;
      bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ flip);
      const auto answers = ask_all(bad, model);
      bool is_corrupt = answers.empty();
      for (std::size_t i = 0; i < answers.size(); ++i) {
        is_corrupt = is_corrupt || answers[i] == "corrupt";
        ASSERT_TRUE(answers[i] == "corrupt" || answers[i] == expected.at(i)) << at << " " << i;
      }
      if (is_corrupt) ++seen;
    }
  }
  EXPECT_GT(seen, good.size() * 3 * 95 / 100);  // the rest is padding between sections
}

TEST(Damage, EveryTruncationIsSeen) {
  const std::string good = small_model().build().value();
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(View::open(as_bytes(good).first(size))) << size;
}

TEST(Damage, VerifyAllReadsEverything) {
  const std::string good = small_model().build().value();
  const auto view = View::open(as_bytes(good));
  ASSERT_TRUE(view->verify_all());
  for (const Section& section : view->catalog().footer().sections) {
    if (section.size_bytes == 0 || section.kind == SectionKind::fields) continue;
    std::string bad = good;
    bad[section.offset + section.size_bytes / 2] ^= 4;
    const auto damaged = View::open(as_bytes(bad));
    ASSERT_TRUE(damaged);
    EXPECT_FALSE(damaged->verify_all());
  }
}

// Sums the pages and the footer again, as an enemy would.
std::string sealed_again(std::string snapshot) {
  Footer footer = decode_footer(as_bytes(snapshot), snapshot.size()).value();
  footer.sums.clear();
  FingerprintMaker fingerprint;
  for (const Section& section : footer.sections) {
    fingerprint.update(as_bytes(snapshot).subspan(section.offset, section.size_bytes));
    fingerprint.end_section(section.kind, section.size_bytes);
    for (std::uint64_t page = 0; page < section.page_count(); ++page) {
      const Range range = section.page(page);
      const Bytes bytes = as_bytes(snapshot).subspan(range.offset, range.size_bytes);
      const std::uint32_t sum = page_sum(section.kind, page, bytes);
      for (int i = 0; i < 4; ++i)
        footer.sums.push_back(static_cast<char>(sum >> (8 * i)));
    }
  }
  footer.fingerprint = fingerprint.finish();
  const std::string end = encode(footer);
  return snapshot.replace(snapshot.size() - end.size(), end.size(), end);
}

// Found by the fuzzer: nothing else reads the record of such a shard.
TEST(Damage, VerifyAllReadsShardsWithoutSamples) {
  Model model;
  model.shards.push_back({.bucket = "b", .key = "k"});
  std::string bytes = model.build().value();
  ASSERT_TRUE(View::open(as_bytes(bytes))->verify_all());
  const auto section = View::open(as_bytes(bytes))->catalog().pages().section(SectionKind::shards);
  bytes[section.offset + section.size_bytes - 1] =
      static_cast<char>(0x80);  // a varint that goes on
  bytes = sealed_again(bytes);
  EXPECT_FALSE(View::open(as_bytes(bytes))->verify_all());
}

// Who reads a shard by places of a snapshot relies on it.
TEST(Damage, ASampleOutsideOfItsShardIsSeen) {
  for (const std::uint64_t lead : {kTarUnit, kTarUnit + 1}) {
    Model model;
    model.shards.push_back({.bucket = "b", .key = "k"});
    add_regular(model, "1", {{"jpg", 3000}}, lead);
    std::string bytes = model.build().value();
    const auto shards = View::open(as_bytes(bytes))->catalog().pages().section(SectionKind::shards);
    ASSERT_TRUE(View::open(as_bytes(bytes))->sample(0));
    bytes[shards.offset + shards.size_bytes - 1] = 1;  // the end of the shard's size
    bytes = sealed_again(bytes);
    const auto view = View::open(as_bytes(bytes));
    ASSERT_LT(view->shard(0)->size_bytes, 300U);
    EXPECT_EQ(view->sample(0).error().code(), Errc::corrupt) << "lead " << lead;
  }
}

// With right checksums anything may be answered, but nothing outside of the bytes is touched (the
// sanitizers watch) and whatever fails is corrupt.
TEST(Damage, ForgedChecksumsDoNotHelpToBreakOut) {
  const Model model = small_model();
  const std::string good = model.build().value();
  ASSERT_EQ(sealed_again(good), good);
  const auto other = View::open(as_bytes(good));
  const Footer footer = other->catalog().footer();
  Draw draw(5);
  for (int round = 0; round < 4000; ++round) {
    std::string bad = good;
    for (std::uint64_t i = 0; i <= draw.below(3); ++i) {
      const Section& section = footer.sections[draw.below(footer.sections.size())];
      if (section.size_bytes == 0) continue;
      bad[section.offset + draw.below(section.size_bytes)] = static_cast<char>(draw.below(256));
    }
    bad = sealed_again(bad);
    ask_all(bad, model);
    const auto view = View::open(as_bytes(bad));
    if (!view) continue;
    check(view->verify_all());
    for (Row row = 0; row < view->sample_count(); ++row) {
      const auto sample = view->sample(row);
      if (!sample) continue;
      EXPECT_LE(sample->end, view->shard(sample->shard)->size_bytes);
      for (const auto& field : sample->fields) {
        if (!field) continue;
        EXPECT_GE(field->offset, sample->start);
        EXPECT_LE(field->offset, sample->end);
        EXPECT_LE(field->size_bytes, sample->end - field->offset);
      }
    }
    check(diff(*view, *other, [](const DiffEntry&) { return true; }));
    Lookup lookup(view->catalog(), model.samples[draw.below(40)].key);
    for (int reads = 0; reads < 3; ++reads) {
      const auto range = lookup.next();
      check(range);
      if (!range || !*range) break;
      const Status fed = lookup.feed(as_bytes(bad).subspan((*range)->offset, (*range)->size_bytes));
      check(fed);
      if (!fed) break;
    }
  }
}

}  // namespace
}  // namespace leat::snapshot
