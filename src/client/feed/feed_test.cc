#include "feed/feed.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "feed/depth.h"
#include "feed/gated_files_test.h"
#include "feed/small_dataset_test.h"
#include "io/rng.h"
#include "io/tcp_network.h"
#include "io/watchdog.h"
#include "record/frame.h"
#include "rt/blocking_pool.h"
#include "rt/runtime.h"
#include "support/temp_folder.h"

namespace leat::feed {
namespace {

// Shards in memory, which fail as they are told.
class MemorySource final : public BlockSource {
 public:
  explicit MemorySource(std::vector<std::string> shards) : shards_(std::move(shards)) {}

  rt::Task<void> read(const snapshot::ShardEntry& shard, std::uint64_t offset, MutableBytes target,
                      const std::atomic<bool>& is_cancelled) override {
    ++reads;
    while (is_stopped && !is_cancelled)
      LEAT_CO_DO(co_await rt::yield());
    if (is_cancelled) co_return fail(Errc::cancelled);
    const std::string& bytes = shards_[std::stoul(shard.key)];
    if (fails_always || (fails_at && offset == *fails_at))
      co_return fail(Errc::corrupt, "a rotten block");
    std::memcpy(target.data(), bytes.data() + offset, target.size());
    co_return Status{};
  }

  std::atomic<int> reads{0};
  std::atomic<bool> is_stopped{false};
  std::optional<std::uint64_t> fails_at{};
  bool fails_always = false;

 private:
  std::vector<std::string> shards_;
};

// Shards as files, of which one byte may have been flipped since they were summed.
class LocalFiles final : public local::LocalObjects {
 public:
  LocalFiles(const std::vector<std::string>& shards, bool is_damaged) {
    for (std::size_t i = 0; i < shards.size(); ++i) {
      std::string bytes = shards[i];
      if (is_damaged) bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
      folder_.write(std::to_string(i), bytes);
      sums_.push_back(record::sum_blocks({as_bytes(shards[i])}).sums);
    }
  }

  rt::Task<local::LocalObjectPtr> open(s3client::ObjectName name, std::string) override {
    LEAT_CO_TRY(auto file, disk_.open(folder_.path(name.key), io::OpenMode::read));
    const std::uint64_t size = folder_.read(name.key).size();
    std::vector<local::LocalObject::Piece> pieces;
    pieces.push_back(
        {.file = std::move(file), .size_bytes = size, .sums = sums_[std::stoul(name.key)]});
    co_return std::make_shared<const local::LocalObject>(std::move(pieces));
  }
  bool is_within_reach() const override { return true; }
  bool can_keep(std::uint64_t, std::uint64_t) const override { return true; }

 private:
  const testing::TempFolder folder_;
  io::PosixDisk disk_;
  std::vector<std::string> sums_;
};

class FeedTest : public ::testing::Test {
 protected:
  FeedTest() {
    runtime_.start();
    EXPECT_TRUE(runtime_.on_every_shard([this](rt::Shard& shard) {
      shard.spawn(watchdog_.run(), [](const Status&) {});
      return rt::yield();
    }));
  }
  ~FeedTest() override {
    watchdog_.stop();
    runtime_.stop();
  }

  std::unique_ptr<Feed> open(const FeedOptions& options, local::LocalObjects* local = nullptr) {
    return Feed::open({{runtime_.shard(0), client_, source_, local}}, clock_, options).value();
  }

  FeedOptions options() {
    FeedOptions options;
    options.sources = {
        {.dataset = made_.dataset,
         .order = SampleOrder::make(made_.dataset, {.window_bytes = 16 * kMiB}).value(),
         .fields = {0, 1}}};
    options.plan.cut = {.batch_size = 16, .tail = Tail::uneven};
    options.fill.columns = {
        {.field = "txt"},
        {.field = "cls", .decode = {.to = decode::To::number}, .is_optional = true}};
    options.fill.wants_keys = true;
    options.fill.threads = 2;
    options.reading = Reading::blocks;
    return options;
  }

  SmallDataset made_ = small_dataset(1000, 300, 16 * kKiB);
  MemorySource source_{made_.shards};
  io::RealClock clock_;
  io::SystemRng rng_;
  rt::Runtime runtime_{1};
  io::TcpNetwork network_{runtime_.shard(0), {}};
  io::Watchdog watchdog_{clock_, std::chrono::milliseconds(20)};
  s3client::S3Client client_{{runtime_.shard(0), network_, clock_, watchdog_, rng_},
                             {.endpoint = s3client::parse_endpoint("http://127.0.0.1:1").value()}};
};

std::string_view piece_of(const Column& column, std::size_t i) {
  return {reinterpret_cast<const char*>(column.piece.data()) + column.offsets[i],
          column.offsets[i + 1] - column.offsets[i]};
}

void check_batch(const Batch& batch) {
  const Column& text = batch.columns[0];
  const Column& label = batch.columns[1];
  ASSERT_EQ(label.shape, std::vector<std::uint64_t>{batch.size()});
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::uint64_t row = batch.rows[i];
    EXPECT_EQ(piece_of(text, i), SmallDataset::text(row));
    EXPECT_EQ(piece_of(batch.keys, i), fmt::format("{:08}", row));
    std::int64_t value = -1;
    std::memcpy(&value, label.piece.data() + i * 8, 8);
    const bool lacks = row % 7 == 3;
    EXPECT_EQ(value, lacks ? 0 : static_cast<std::int64_t>(row));
    EXPECT_EQ(label.present[i], lacks ? 0 : 1);
  }
}

// Reads to the end, checks every byte, and counts samples.
std::size_t drain(Feed& feed) {
  std::size_t samples = 0;
  while (true) {
    const auto batch = feed.next();
    if (!batch) ADD_FAILURE() << batch.error().error.detail();
    if (!batch || !*batch) return samples;
    check_batch(**batch);
    samples += (*batch)->size();
  }
}

TEST_F(FeedTest, AnEpochIsExactAndItsBytesAreTheSamples) {
  const auto feed = open(options());
  std::vector<int> times(1000, 0);
  while (true) {
    const auto batch = feed->next();
    ASSERT_TRUE(batch);
    if (!*batch) break;
    check_batch(**batch);
    for (const std::uint64_t row : (*batch)->rows)
      ++times[row];
  }
  EXPECT_EQ(times, std::vector<int>(1000, 1));
  const auto report = nlohmann::json::parse(feed->report());
  EXPECT_EQ(report["samples"], 1000);
  EXPECT_EQ(report["stages"]["fetch"]["requests"], source_.reads.load());
  EXPECT_EQ(source_.reads, static_cast<int>(made_.dataset->view().block_count()))
      << "each block is read once";
}

TEST_F(FeedTest, ABoundOfMemoryThatIsTooSmallMakesItSlowAndNotStuck) {
  FeedOptions small = options();
  small.memory_bytes = 1;
  const auto feed = open(small);
  std::size_t samples = 0;
  while (true) {
    const auto batch = feed->next();
    ASSERT_TRUE(batch);
    if (!*batch) break;
    samples += (*batch)->size();
  }
  EXPECT_EQ(samples, 1000U);
}

TEST_F(FeedTest, ABlockThatCannotBeReadIsAnErrorThatSaysWhere) {
  source_.fails_at = made_.dataset->view().block(1)->offset;
  const auto feed = open(options());
  while (true) {
    const auto batch = feed->next();
    if (batch) {
      ASSERT_TRUE(*batch) << "never silently fewer";
      continue;
    }
    EXPECT_EQ(batch.error().error.code(), Errc::corrupt);
    const auto place = nlohmann::json::parse(batch.error().place);
    EXPECT_EQ(place["dataset"], "b/n@1");
    EXPECT_TRUE(place.contains("shard") && place.contains("row") && place.contains("sample"));
    break;
  }
  EXPECT_FALSE(feed->next()) << "it stays failed";
}

TEST_F(FeedTest, WhatIsSkippedIsCountedAndLimited) {
  const auto lost = made_.dataset->view().block(1);
  source_.fails_at = lost->offset;
  FeedOptions skipping = options();
  skipping.skips_errors = true;
  // Shards are alike: what fails in one may fail at the same offset of others.
  skipping.errors_max = 1000;
  const auto feed = open(skipping);
  std::size_t samples = 0;
  while (true) {
    const auto batch = feed->next();
    ASSERT_TRUE(batch);
    if (!*batch) break;
    check_batch(**batch);
    samples += (*batch)->size();
  }
  const auto report = nlohmann::json::parse(feed->report());
  EXPECT_LE(samples, 1000U - lost->count);
  EXPECT_EQ(report["errors"].get<std::size_t>(), 1000U - samples);

  skipping.errors_max = 3;
  const auto strict = open(skipping);
  while (true) {
    const auto batch = strict->next();
    if (!batch) break;
    ASSERT_TRUE(*batch) << "more failed than is allowed";
  }
}

TEST_F(FeedTest, ASampleWithoutAFieldThatIsDecodedIsAFaultAndNeverClassZero) {
  FeedOptions labelled = options();
  labelled.fill.columns[1].is_optional = false;
  const auto feed = open(labelled);
  while (true) {
    const auto batch = feed->next();
    if (batch) {
      ASSERT_TRUE(*batch) << "every seventh sample lacks its label";
      continue;
    }
    EXPECT_TRUE(batch.error().is_decode);
    EXPECT_NE(batch.error().error.detail().find("field cls: the sample lacks it"),
              std::string_view::npos);
    EXPECT_EQ(nlohmann::json::parse(batch.error().place)["row"].get<int>() % 7, 3);
    break;
  }

  labelled.skips_errors = true;
  labelled.errors_max = 1000;
  const auto skipping = open(labelled);
  std::size_t samples = 0;
  while (true) {
    const auto batch = skipping->next();
    ASSERT_TRUE(batch);
    if (!*batch) break;
    check_batch(**batch);
    for (const std::uint64_t row : (*batch)->rows)
      EXPECT_NE(row % 7, 3U);
    samples += (*batch)->size();
  }
  EXPECT_EQ(samples, 1000U - 143U);
  EXPECT_EQ(nlohmann::json::parse(skipping->report())["errors"], 143);
}

TEST_F(FeedTest, WhatIsLostIsCountedOnceAlsoIfItsFieldsAreDecoded) {
  const auto lost = made_.dataset->view().block(1);
  source_.fails_at = lost->offset;
  FeedOptions skipping = options();
  skipping.fill.columns = {{.field = "cls", .decode = {.to = decode::To::number}}};
  skipping.sources[0].fields = {1};
  skipping.skips_errors = true;
  skipping.errors_max = 1000;
  const auto feed = open(skipping);
  std::size_t samples = 0;
  while (true) {
    const auto batch = feed->next();
    ASSERT_TRUE(batch);
    if (!*batch) break;
    samples += (*batch)->size();
  }
  EXPECT_EQ(nlohmann::json::parse(feed->report())["errors"].get<std::size_t>(), 1000U - samples);
}

TEST_F(FeedTest, ColumnsAreWhatTheyAreDecodedTo) {
  FeedOptions typed = options();
  typed.fill.columns[0].decode.to = decode::To::text;
  typed.fill.columns[1].decode.dtype = decode::Dtype::float32;
  const auto feed = open(typed);
  const auto batch = feed->next();
  ASSERT_TRUE(batch && *batch);
  for (std::size_t i = 0; i < (*batch)->size(); ++i) {
    const std::uint64_t row = (*batch)->rows[i];
    EXPECT_EQ(piece_of((*batch)->columns[0], i), SmallDataset::text(row));
    float value = -1;
    std::memcpy(&value, (*batch)->columns[1].piece.data() + i * 4, 4);
    EXPECT_EQ(value, row % 7 == 3 ? 0 : static_cast<float>(row));
  }

  typed.fill.columns[0].decode.to = decode::To::json;
  const auto failing = open(typed);
  const auto refused = failing->next();
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().is_decode);
  EXPECT_NE(refused.error().error.detail().find("field txt: this is no JSON"),
            std::string_view::npos);
}

TEST_F(FeedTest, MemoryThatIsNotThereIsAnErrorAndNotTheEnd) {
  Piece none;
  const Status fitted = none.fit(std::size_t{1} << 60);
  ASSERT_FALSE(fitted);
  EXPECT_EQ(fitted.error().code(), Errc::too_large);
  EXPECT_TRUE(none.is_empty());
  EXPECT_TRUE(none.fit(1));

  PieceStore store(std::make_shared<PieceShelf>());
  EXPECT_TRUE(store.take(std::size_t{1} << 60).is_empty());
  EXPECT_EQ(store.lent_bytes(), 0U);
}

TEST_F(FeedTest, FilesOfTheSameMachineAreReadInsteadOfAsking) {
  LocalFiles files(made_.shards, /*is_damaged=*/false);
  const auto feed = open(options(), &files);
  EXPECT_EQ(drain(*feed), 1000U);
  const auto fetch = nlohmann::json::parse(feed->report())["stages"]["fetch"];
  EXPECT_EQ(source_.reads, 0);
  EXPECT_GT(fetch["local_bytes"], 0U);
  EXPECT_EQ(fetch["local_bytes"], fetch["bytes"]);
}

TEST_F(FeedTest, WhatIsDamagedInALocalFileComesFromTheService) {
  LocalFiles files(made_.shards, /*is_damaged=*/true);
  const auto feed = open(options(), &files);
  EXPECT_EQ(drain(*feed), 1000U);
  const auto fetch = nlohmann::json::parse(feed->report())["stages"]["fetch"];
  EXPECT_GE(source_.reads, static_cast<int>(made_.shards.size()));
  EXPECT_LT(fetch["local_bytes"], fetch["bytes"]);
}

TEST_F(FeedTest, WhatIsDamagedEverywhereIsToldWithBothReasons) {
  LocalFiles files(made_.shards, /*is_damaged=*/true);
  source_.fails_always = true;
  const auto feed = open(options(), &files);
  while (true) {
    const auto batch = feed->next();
    if (batch) {
      ASSERT_TRUE(*batch);
      continue;
    }
    const std::string_view said = batch.error().error.detail();
    EXPECT_EQ(batch.error().error.code(), Errc::corrupt);
    EXPECT_NE(said.find("a rotten block"), said.npos) << said;
    EXPECT_NE(said.find("the node's own file: file 1 of 1"), said.npos) << said;
    break;
  }
}

TEST_F(FeedTest, CancelWakesWhoWaits) {
  source_.is_stopped = true;
  const auto feed = open(options());
  rt::BlockingPool pool("test", 1, 1);
  ASSERT_TRUE(pool.submit([&feed] { feed->cancel(); }));
  const auto batch = feed->next();
  ASSERT_FALSE(batch);
  EXPECT_EQ(batch.error().error.code(), Errc::cancelled);
}

TEST_F(FeedTest, LocalFilesAreReadAheadNoFurtherThanItsDepth) {
  Gate gate;
  GatedFiles files(made_.shards, gate);
  auto feed = open(options(), &files);
  EXPECT_FALSE(feed->next(Duration::zero()));
  gate.wait_for(static_cast<int>(Depth::kFirst), 1);
  // Whoever is about to open one more has done so when the shard has answered a few times.
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(rt::run_and_wait<void>(runtime_.shard(0), [] { return rt::yield(); }));
  EXPECT_EQ(gate.now().opened, static_cast<int>(Depth::kFirst));
  gate.counts.with([](Gate::Counts& now) { return now.is_open = true; });
  EXPECT_EQ(drain(*feed), 1000U);
}

TEST_F(FeedTest, WhoClosesWaitsForNothingThatIsOnlyQueued) {
  Gate gate;
  GatedFiles files(made_.shards, gate);
  FeedOptions alone = options();
  alone.fill.threads = 1;
  auto feed = open(alone, &files);
  EXPECT_FALSE(feed->next(Duration::zero()));
  gate.wait_for(4, 2);  // both threads read, others wait for one
  feed->cancel();
  gate.counts.with([](Gate::Counts& now) { return now.is_open = true; });
  feed.reset();
  EXPECT_EQ(gate.now().read, 2);
}

TEST_F(FeedTest, WhatIsNotThereWithinTheLimitComesWithALaterCall) {
  const auto feed = open(options());
  std::vector<int> times(1000, 0);
  while (true) {
    const auto batch = feed->next(Duration::zero());
    if (!batch) {
      ASSERT_EQ(batch.error().error.code(), Errc::timeout);
      continue;
    }
    if (!*batch) break;
    for (const std::uint64_t row : (*batch)->rows)
      ++times[row];
  }
  EXPECT_EQ(times, std::vector<int>(1000, 1));
}

TEST_F(FeedTest, TheNextEpochFindsTheMemoryOfTheLast) {
  FeedOptions first = options();
  const auto shelf = first.shelf;
  std::vector<std::uint64_t> kept;
  for (int epoch = 0; epoch < 3; ++epoch) {
    const auto feed = open(first);
    while (true) {
      const auto batch = feed->next();
      ASSERT_TRUE(batch);
      if (!*batch) break;
    }
    const auto report = nlohmann::json::parse(feed->report());
    EXPECT_GT(report["memory_most_bytes"], 0U);
    kept.push_back(shelf->kept_bytes());
  }
  // Cells are back on the shelf before the feed is gone; of the first one's batches, too, since.
  EXPECT_GT(kept[0], 0U);
  EXPECT_GE(kept[1], kept[0]);
}

TEST_F(FeedTest, APieceOfAboutTheRightSizeIsUsedAgain) {
  PieceShelf shelf;
  shelf.allow(20 * kMiB);
  Piece piece = shelf.take(6 * kMiB);
  const std::byte* const memory = piece.data();
  shelf.give_back(std::move(piece));
  EXPECT_EQ(shelf.kept_bytes(), 6 * kMiB);
  Piece small = shelf.take(2 * kMiB);  // much too large for that
  EXPECT_NE(small.data(), memory);
  Piece again = shelf.take(4 * kMiB);
  EXPECT_EQ(again.data(), memory);
  EXPECT_EQ(shelf.kept_bytes(), 0U);
  ASSERT_TRUE(shelf.fit(again, 5 * kMiB));
  EXPECT_EQ(again.data(), memory);
  ASSERT_TRUE(shelf.fit(again, 8 * kMiB));
  EXPECT_EQ(shelf.kept_bytes(), 6 * kMiB);
}

TEST_F(FeedTest, BatchesOutliveTheirFeed) {
  auto feed = open(options());
  auto first = feed->next();
  ASSERT_TRUE(first && *first);
  feed.reset();
  check_batch(**first);
}

TEST_F(FeedTest, ReadsWhatIsLikelyToMoveFewerBytes) {
  FeedOptions all = options();
  EXPECT_EQ(choose_reading(all), Reading::blocks);
  all.memory_bytes = 1;
  EXPECT_EQ(choose_reading(all), Reading::rows) << "a window does not fit";
  all.memory_bytes = 0;
  all.plan.cut.world = 1000;
  EXPECT_EQ(choose_reading(all), Reading::rows) << "a rank needs little of each block";
}

TEST_F(FeedTest, ShardsThatAreMadeOfObjectsAreReadByRows) {
  made_ = small_dataset(1000, 300, 16 * kKiB, /*is_recipe=*/true);
  EXPECT_EQ(choose_reading(options()), Reading::rows);
}

TEST_F(FeedTest, OptionsThatCannotBeAreRefused) {
  FeedOptions wrong = options();
  wrong.plan.cut.rank = 1;
  EXPECT_FALSE(count_batches(wrong));
  wrong = options();
  wrong.plan.cut.position = 1001;
  EXPECT_FALSE(count_batches(wrong));
  wrong = options();
  wrong.plan.cut.batch_size = 0;
  EXPECT_FALSE(count_batches(wrong));
  wrong = options();
  wrong.fill.columns[1].decode = {.to = decode::To::rgb8, .height = 16384, .width = 16384};
  wrong.plan.cut.batch_size = 100'000;
  EXPECT_FALSE(count_batches(wrong)) << "no machine has the memory";
}

}  // namespace
}  // namespace leat::feed
