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
  EXPECT_EQ(done->damaged, 0U);

  const auto bad = world_.run(world_.reader().find(key("bad")));
  const auto& place = std::get<record::SegmentPlace>((*bad)->place);
  ASSERT_EQ(place.segment, record::SegmentId(1));
  const std::string segment = "d/segments/0000000000000001.seg";
  ASSERT_TRUE(world_.disk().flip_bit(segment, place.offset + 2000, 1));
  const auto& extent = std::get<std::vector<record::FileExtent>>(large->place)[1];
  ASSERT_TRUE(world_.disk().flip_bit(world_.volume().folders().file(extent.file), 100, 1));
  done = world_.run(care->scrub());
  ASSERT_TRUE(done);
  EXPECT_EQ(done->damaged, 2U);
  EXPECT_EQ(world_.volume().quarantine().objects(),
            (std::vector<record::ObjectKey>{key("bad"), key("large")}));
  EXPECT_TRUE(metrics_.expose().contains("leat_disk_damaged_objects_total{disk=\"d\"} 2"));

  // Quarantined: no byte of it is served, until it is written anew.
  EXPECT_EQ(world_.get(key("bad")).error().code(), Errc::corrupt);
  ASSERT_TRUE(world_.put(key("bad"), "mended"));
  ASSERT_TRUE(world_.put(key("large"), kLarge));
  EXPECT_EQ(world_.volume().quarantine().size(), 2U) << "until a scrub has seen that they are well";
  done = world_.run(care->scrub());
  EXPECT_EQ(done->damaged, 0U);
  EXPECT_EQ(world_.volume().quarantine().size(), 0U);
}

TEST_F(CaretakerTest, AScrubNamesWhatIsLost) {
  ASSERT_TRUE(world_.put(key("small"), "hello"));
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(world_.put(key("filler"), std::string(70'000, 'f')));
  const auto large = world_.put(key("large"), kLarge);
  ASSERT_TRUE(large);
  const auto upload = record::UploadId(7);
  ASSERT_TRUE(world_.run(
      world_.volume().begin_upload({.id = upload, .object = key("parts"), .begun_ms = 1})));
  record::Part part{.upload = upload, .number = 1};
  part.content.size_bytes = 1000;
  part.content.place = *world_.write_files(key("parts"), std::string(1000, 'p'));
  ASSERT_TRUE(world_.run(world_.volume().put_part(key("parts"), part)));
  const auto care = caretaker({.scrub_rate_bytes = 0});
  auto done = world_.run(care->scrub());
  ASSERT_TRUE(done);
  EXPECT_EQ(done->damaged, 0U);

  ASSERT_TRUE(world_.disk().remove("d/segments/0000000000000001.seg"));
  const auto& extents = std::get<std::vector<record::FileExtent>>(large->place);
  ASSERT_TRUE(world_.disk().remove(world_.volume().folders().file(extents.back().file)));
  const auto& parts = std::get<std::vector<record::FileExtent>>(part.content.place);
  ASSERT_TRUE(world_.disk().remove(world_.volume().folders().file(parts.front().file)));
  done = world_.run(care->scrub());
  ASSERT_TRUE(done);
  EXPECT_EQ(done->damaged, 3U);
  const auto named = world_.volume().quarantine().objects();
  ASSERT_EQ(named.size(), 3U);
  EXPECT_EQ(named[1], key("large"));
  EXPECT_EQ(named[2], key("small"));
}

TEST_F(CaretakerTest, WhatReadsMeetStaysInQuarantineUntilAScrubHasLooked) {
  ASSERT_TRUE(world_.put(key("well"), "hello"));
  const Error damage(Errc::corrupt, "block 0");
  EXPECT_TRUE(world_.volume().note_unread({key("well"), record::VersionId(1), damage.clone()}));
  EXPECT_FALSE(world_.volume().note_unread({key("well"), record::VersionId(1), damage.clone()}));
  EXPECT_EQ(world_.volume().quarantine().objects(), (std::vector{key("well")}));
  const auto care = caretaker({.scrub_rate_bytes = 0});
  ASSERT_TRUE(world_.run(care->scrub()));
  EXPECT_EQ(world_.volume().quarantine().size(), 0U);
}

TEST_F(CaretakerTest, WhatAScrubCannotReadStaysInQuarantine) {
  const auto put = world_.put(key("bad"), kLarge);
  ASSERT_TRUE(put);
  world_.volume().note_unread({key("bad"), put->id, Error(Errc::corrupt, "block 0")});
  const auto care = caretaker({.scrub_rate_bytes = 0});
  for (const int code : {EIO, ENOMEM}) {
    world_.disk().faults().add({.call = sim::DiskCall::read,
                                .posix_errno = code,
                                .nth = 1,
                                .and_after = true,
                                .path_part = "files"});
    ASSERT_TRUE(world_.run(care->scrub()));
    EXPECT_EQ(world_.volume().quarantine().objects(), (std::vector{key("bad")}));
    world_.disk().faults().clear();
  }
  ASSERT_TRUE(world_.run(care->scrub()));
  EXPECT_EQ(world_.volume().quarantine().size(), 0U);
}

TEST(Quarantine, WhatItHasNoRoomForIsNoNews) {
  Quarantine quarantine;
  const auto object = [](std::size_t i) {
    return record::ObjectKey{.bucket = record::BucketId(1), .key = std::to_string(i)};
  };
  for (std::size_t i = 0; i < Quarantine::kMax; ++i)
    ASSERT_TRUE(quarantine.add(object(i)));
  EXPECT_FALSE(quarantine.add(object(Quarantine::kMax)));
  EXPECT_EQ(quarantine.size(), Quarantine::kMax);
}

TEST_F(CaretakerTest, TheFirstScrubDoesNotWaitForTheWholePause) {
  ASSERT_TRUE(world_.put(key("a"), "hello"));
  const auto care =
      caretaker({.scrub_rate_bytes = 1'000'000, .scrub_pause = std::chrono::hours(24)});
  care->start();
  world_.world().run_for(std::chrono::minutes(59));
  EXPECT_EQ(world_.volume().scrubbed().objects, 0U);
  world_.world().run_for(std::chrono::minutes(2));
  EXPECT_EQ(world_.volume().scrubbed().objects, 1U);
  ASSERT_TRUE(world_.run(care->stop()));
}

TEST_F(CaretakerTest, TheMetricsSayHowTheDiskIs) {
  const auto has = [this](std::string_view line) {
    return metrics_.expose().contains(std::string(line) + "\n");
  };
  ASSERT_TRUE(world_.put(key("a"), "hello"));
  ASSERT_TRUE(world_.put(key("b"), kLarge));
  const auto care = caretaker({.scrub_rate_bytes = 0});
  care->start();
  world_.world().run_for(seconds(2));
  EXPECT_TRUE(has("leat_disk_state{disk=\"d\",state=\"ok\"} 1"));
  EXPECT_TRUE(has("leat_disk_objects{disk=\"d\"} 2"));
  EXPECT_TRUE(has("leat_disk_object_bytes{disk=\"d\"} 300005"));
  EXPECT_TRUE(has("leat_disk_read_errors_total{disk=\"d\"} 0"));
  EXPECT_FALSE(has("leat_disk_available_bytes{disk=\"d\"} 0"));
  for (const Errc code : {Errc::corrupt, Errc::corrupt, Errc::io})
    world_.volume().note_unread({key("a"), record::VersionId(1), Error(code, "met by a read")});
  world_.disk().faults().add({.call = sim::DiskCall::sync, .nth = 1, .path_part = "segments"});
  EXPECT_FALSE(world_.put(key("c"), "hello"));
  world_.world().run_for(seconds(2));
  EXPECT_TRUE(has("leat_disk_state{disk=\"d\",state=\"ok\"} 0"));
  EXPECT_TRUE(has("leat_disk_state{disk=\"d\",state=\"failed\"} 1"));
  EXPECT_TRUE(has("leat_disk_damaged_reads_total{disk=\"d\"} 2"));
  EXPECT_TRUE(has("leat_disk_quarantined_objects{disk=\"d\"} 1"));
  EXPECT_TRUE(has("leat_disk_read_errors_total{disk=\"d\"} 1"));
  ASSERT_TRUE(world_.run(care->stop()));
  EXPECT_TRUE(has("leat_disk_state{disk=\"d\",state=\"failed\"} 0")) << "no disk any more";
  EXPECT_TRUE(has("leat_disk_objects{disk=\"d\"} 0"));
}

TEST_F(CaretakerTest, AWriteThatTheDiskFailsIsCountedAndNamesItsObject) {
  const auto care = caretaker({.scrub_rate_bytes = 0});
  care->start();
  world_.disk().faults().add({.call = sim::DiskCall::write, .nth = 1, .path_part = "incoming"});
  EXPECT_EQ(world_.put(key("a key"), kLarge).error().code(), Errc::io);
  world_.world().run_for(seconds(2));
  const std::string line = "leat_disk_write_errors_total{disk=\"d\"} ";
  EXPECT_TRUE(metrics_.expose().contains(line + "1\n"));
  world_.disk().faults().add({.call = sim::DiskCall::sync, .nth = 1, .path_part = "segments"});
  EXPECT_FALSE(world_.put(key("b"), "small"));
  world_.world().run_for(seconds(2));
  EXPECT_TRUE(metrics_.expose().contains(line + "2\n"));
  ASSERT_TRUE(world_.run(care->stop()));
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

TEST_F(CaretakerTest, AFileThatCannotBeRemovedKeepsNothingElse) {
  const auto stuck = world_.put(key("stuck"), kLarge);
  ASSERT_TRUE(stuck);
  const auto& extents = std::get<std::vector<record::FileExtent>>(stuck->place);
  const std::string path = world_.volume().folders().file(extents.front().file);
  for (int i = 0; i < 12; ++i)
    ASSERT_TRUE(world_.put(key("k" + std::to_string(i)), std::string(50'000, 'x')));
  ASSERT_TRUE(world_.put(key("other"), kLarge));
  for (const char* name : {"stuck", "other", "k0", "k1", "k2", "k4", "k5", "k6", "k7", "k8"})
    ASSERT_TRUE(world_.run(world_.volume().remove(key(name), {})));
  const auto files = [this] {
    std::size_t count = 0;
    const auto shelves = world_.disk().list("d/files");
    for (const std::string& shelf : *shelves)
      count += world_.disk().list("d/files/" + shelf)->size();
    return count;
  };
  world_.disk().faults().add({.call = sim::DiskCall::remove,
                              .posix_errno = EPERM,
                              .nth = 1,
                              .and_after = true,
                              .path_part = path});
  const auto care = caretaker({.period = seconds(10), .scrub_rate_bytes = 0});
  care->start();
  world_.world().run_for(seconds(25));
  EXPECT_EQ(files(), 1U);
  EXPECT_TRUE(world_.disk().info(path));
  EXPECT_FALSE(metrics_.expose().contains("leat_disk_compacted_segments_total{disk=\"d\"} 0"));
  world_.disk().faults().clear();
  world_.world().run_for(seconds(10));
  EXPECT_EQ(files(), 0U);
  ASSERT_TRUE(world_.run(care->stop()));
}

TEST_F(CaretakerTest, ADiskThatBecameReadOnlyHasFailedAndRefusesNobodysRights) {
  for (const auto& [call, part] :
       {std::pair(sim::DiskCall::open, "incoming"), std::pair(sim::DiskCall::write, "incoming"),
        std::pair(sim::DiskCall::rename, "incoming")}) {
    ASSERT_TRUE(world_.crash({.mode = sim::CrashMode::keep_all}));
    const auto care = caretaker({.scrub_rate_bytes = 0});
    world_.disk().faults().add(
        {.call = call, .posix_errno = EROFS, .nth = 1, .and_after = true, .path_part = part});
    care->start();
    EXPECT_EQ(world_.put(key("a"), kLarge).error().code(), Errc::unavailable) << part;
    EXPECT_TRUE(world_.volume().failure());
    EXPECT_FALSE(world_.volume().takes_data());
    world_.world().run_for(seconds(2));
    EXPECT_TRUE(metrics_.expose().contains("leat_disk_state{disk=\"d\",state=\"failed\"} 1"));
    ASSERT_TRUE(world_.run(care->stop()));
    world_.disk().faults().clear();
  }
}

TEST_F(CaretakerTest, OrphansAreCollectedAroundOneThatStays) {
  ASSERT_TRUE(world_.write_files(key("a"), kLarge));
  ASSERT_TRUE(world_.crash({.mode = sim::CrashMode::drop_unsynced}));
  world_.disk().faults().add(
      {.call = sim::DiskCall::remove, .posix_errno = EPERM, .nth = 1, .path_part = "files"});
  EXPECT_EQ(world_.run(world_.volume().collect_orphans()).value(), 2U);
  EXPECT_EQ(world_.run(world_.volume().collect_orphans()).value(), 1U);
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
