#include "volume/caretaker.h"

#include <gtest/gtest.h>

#include "log/sink.h"
#include "support/volume_world.h"

namespace leat::volume {
namespace {

class NullSink final : public log::Sink {
 public:
  Status write(std::string_view /*lines*/) override { return {}; }
};

using std::chrono::seconds;

class CaretakerTest : public testing::Test {
 protected:
  explicit CaretakerTest(VolumeOptions options = test::VolumeWorld::small_options())
      : world_(1, logger_, options) {
    EXPECT_TRUE(world_.open());
    EXPECT_TRUE(world_.run(world_.volume().put_bucket({.id = bucket_, .name = "b"})));
  }

  std::unique_ptr<Caretaker> caretaker(CaretakerOptions options) {
    sim::SimWorld& world = world_.world();
    const CaretakerTools tools{.shard = world.shard(),
                               .clock = world.clock("node"),
                               .logger = logger_,
                               .metrics = metrics_};
    return std::make_unique<Caretaker>(world_.volume(), world_.kit(), tools, options);
  }
  record::ObjectKey key(std::string name) const {
    return {.bucket = bucket_, .key = std::move(name)};
  }
  Instant now() { return world_.world().now(); }

  const record::BucketId bucket_{1};
  NullSink sink_;
  sim::Timeline log_time_;
  sim::SimClock log_clock_{log_time_};
  log::Logger logger_{sink_, log_clock_};
  metrics::Registry metrics_;
  test::VolumeWorld world_;
};

const std::string kLarge(300'000, 'L');

TEST_F(CaretakerTest, AScrubReadsEverythingAndNamesWhatIsDamaged) {
  ASSERT_TRUE(world_.put(key("small"), "hello"));
  ASSERT_TRUE(world_.put(key("bad"), std::string(5000, 'b')));
  const auto large = world_.put(key("large"), kLarge);
  ASSERT_TRUE(large);
  const auto care = caretaker({.scrub_rate_bytes = 0});
  auto done = world_.run(care->scrub());
  ASSERT_TRUE(done);
  EXPECT_EQ(done->objects, 3U);
  EXPECT_EQ(done->bytes, 5 + 5000 + kLarge.size());
  EXPECT_TRUE(done->damaged.empty());

  const auto bad = world_.run(world_.reader().find(key("bad")));
  const auto& place = std::get<record::SegmentPlace>((*bad)->place);
  ASSERT_EQ(place.segment, record::SegmentId(1));
  const std::string segment = "d/segments/0000000000000001.seg";
  ASSERT_TRUE(world_.disk().flip_bit(segment, place.offset + 2000, 1));
  const auto& extent = std::get<std::vector<record::FileExtent>>(large->place)[1];
  ASSERT_TRUE(world_.disk().flip_bit(world_.volume().folders().file(extent.file), 100, 1));
  done = world_.run(care->scrub());
  ASSERT_TRUE(done);
  EXPECT_EQ(done->damaged, (std::set<record::ObjectKey>{key("bad"), key("large")}));
  EXPECT_EQ(world_.volume().scrubbed().damaged.size(), 2U);
  EXPECT_TRUE(metrics_.expose().contains("leat_disk_damaged_objects_total{disk=\"d\"} 2"));

  // Quarantined: no byte of it is served, until it is written anew.
  EXPECT_EQ(world_.get(key("bad")).error().code(), Errc::corrupt);
  ASSERT_TRUE(world_.put(key("bad"), "mended"));
  ASSERT_TRUE(world_.put(key("large"), kLarge));
  done = world_.run(care->scrub());
  EXPECT_TRUE(done->damaged.empty());
}

TEST_F(CaretakerTest, AScrubKeepsToItsRate) {
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(world_.put(key("k" + std::to_string(i)), kLarge));
  const auto care = caretaker({.scrub_rate_bytes = 100'000});
  const Instant began = now();
  ASSERT_TRUE(world_.run(care->scrub()));
  EXPECT_GE(now() - began, seconds(11));
  EXPECT_LE(now() - began, seconds(14));
}

TEST_F(CaretakerTest, StoppingDoesNotWaitForAScrub) {
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(world_.put(key("k" + std::to_string(i)), kLarge));
  const auto care = caretaker({.scrub_rate_bytes = 100'000, .scrub_pause = seconds(1)});
  care->start();
  world_.world().run_for(seconds(5));
  EXPECT_TRUE(world_.volume().scrubbed().is_running);
  const Instant began = now();
  ASSERT_TRUE(world_.run(care->stop()));
  EXPECT_LE(now() - began, seconds(5)) << "a minute of scrubbing is left";
}

// Compaction within a bandwidth.

VolumeOptions slow_compaction() {
  VolumeOptions options = test::VolumeWorld::small_options();
  options.compact_rate_bytes = 20'000;
  return options;
}

class SlowCompactionTest : public CaretakerTest {
 protected:
  SlowCompactionTest() : CaretakerTest(slow_compaction()) {}
};

TEST_F(SlowCompactionTest, KeepsToItsRateAndChangesGoOn) {
  for (int i = 0; i < 12; ++i)
    ASSERT_TRUE(world_.put(key("k" + std::to_string(i)), std::string(50'000, 'x')));
  for (int i = 0; i < 12; ++i) {
    if (i % 3 == 0) continue;
    ASSERT_TRUE(world_.run(world_.volume().remove(key("k" + std::to_string(i)), {})));
  }
  const Instant began = now();
  std::optional<Result<bool>> compacted;
  world_.world().spawn(
      [](Volume& volume, std::optional<Result<bool>>& done) -> rt::Task<void> {
        done = co_await volume.compact();
        co_return Status{};
      }(world_.volume(), compacted),
      [](const Status&) {});
  // A change is answered while compaction takes its time, also of the object that it moves.
  ASSERT_TRUE(world_.put(key("k0"), "meanwhile"));
  EXPECT_LE(now() - began, seconds(1));
  ASSERT_TRUE(world_.world().run_until([&compacted] { return compacted.has_value(); }));
  ASSERT_TRUE(*compacted) << compacted->error().message();
  EXPECT_TRUE(**compacted);
  EXPECT_GE(now() - began, seconds(4)) << "at least one object of 50 KB was read and written";
  EXPECT_EQ(*world_.get(key("k0")), "meanwhile");
  EXPECT_EQ(*world_.get(key("k3")), std::string(50'000, 'x'));
}

}  // namespace
}  // namespace leat::volume
