// Disks that are taken out of a running store, come back, or are new.
#include <map>
#include <set>

#include "store/store_fixture_test.h"

namespace leat::store {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class DisksTest : public StoreTest {
 protected:
  Result<Arrival> add(std::size_t disk) {
    return rig_.run(rig_.add_disk("d" + std::to_string(disk), world_.shard()));
  }
  Status remove(std::size_t disk, Duration patience = seconds(1)) {
    return rig_.run(rig_.remove_disk("d" + std::to_string(disk), patience, world_.shard()));
  }
  // Where a key is: the number of its disk. Requires: it is there.
  std::size_t disk_of(const std::string& name) {
    return rig_.number_of(rig_.find(key(name))->disk);
  }
  // A key that a disk holds.
  std::string key_on(std::size_t disk) {
    for (int i = 0; i < 100; ++i) {
      const std::string name = "k" + std::to_string(i);
      EXPECT_TRUE(rig_.put(key(name), "this is " + name));
      if (disk_of(name) == disk) return name;
    }
    ADD_FAILURE() << "no key lies on disk " << disk;
    return {};
  }
  std::size_t copies(const std::string& name) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < rig_.disk_count(); ++i) {
      if (!rig_.is_open(i)) continue;
      const auto version = rig_.volume(i).index().find(key(name));
      if (version && *version) ++found;
    }
    return found;
  }
};

TEST_F(DisksTest, ADiskIsTakenOutAndItsObjectsReturnWithIt) {
  const std::string mine = key_on(1);
  const std::string other = key_on(0);
  ASSERT_TRUE(remove(1));
  EXPECT_EQ(error_of(rig_.find(key(mine))), Errc::not_found);
  EXPECT_EQ(rig_.get(key(other)), "this is " + other);
  for (int i = 0; i < 30; ++i)
    ASSERT_TRUE(rig_.put(key("meanwhile" + std::to_string(i)), "x"));
  const auto arrival = add(1);
  ASSERT_TRUE(arrival) << arrival.error().message();
  EXPECT_EQ(arrival->doubles, 0U);
  EXPECT_EQ(rig_.get(key(mine)), "this is " + mine);
}

TEST_F(DisksTest, ANewDiskTakesItsShareOfNewKeysAndKnowsTheBuckets) {
  const std::size_t fresh = rig_.buy_disk();
  ASSERT_TRUE(add(fresh));
  EXPECT_EQ(rig_.volume(fresh).index().buckets().size(), 1U);
  EXPECT_EQ(disk_of(key_on(fresh)), fresh);
  ASSERT_TRUE(rig_.crash()) << "it is a disk like the others after a restart";
  EXPECT_EQ(disk_of(key_on(fresh)), fresh);
}

TEST_F(DisksTest, OfAKeyThatWasWrittenElsewhereMeanwhileTheNewerVersionStays) {
  const std::string name = key_on(1);
  ASSERT_TRUE(remove(1));
  world_.run_for(milliseconds(10));
  ASSERT_TRUE(rig_.put(key(name), "newer"));
  const auto arrival = add(1);
  ASSERT_TRUE(arrival);
  EXPECT_EQ(arrival->doubles, 1U);
  EXPECT_EQ(rig_.get(key(name)), "newer");
  EXPECT_EQ(copies(name), 1U);
}

TEST_F(DisksTest, ADiskThatWasAwayAtOneStartIsNoticedAtTheNext) {
  const std::string name = key_on(2);
  rig_.unplug(2);
  const Status refused = rig_.crash();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::not_found);
  EXPECT_TRUE(refused.error().detail().contains("d2")) << "the message names the disk";
  ASSERT_TRUE(rig_.close());
  ASSERT_TRUE(rig_.open(Store::Missing::accepted));
  world_.run_for(milliseconds(10));
  ASSERT_TRUE(rig_.put(key(name), "newer"));
  rig_.plug(2);
  ASSERT_TRUE(rig_.crash());
  EXPECT_EQ(rig_.arrival().doubles, 1U);
  EXPECT_EQ(rig_.get(key(name)), "newer");
  EXPECT_EQ(copies(name), 1U);
  ASSERT_TRUE(rig_.crash());
  EXPECT_EQ(rig_.arrival().doubles, 0U) << "settled once and for all";
}

// Each was started without the other: the lists have the same generation and differ.
TEST_F(DisksTest, DisksThatRanApartAreSettledWhenTheyMeet) {
  const std::string name = key_on(0);
  ASSERT_TRUE(rig_.close());
  rig_.unplug(0);
  ASSERT_TRUE(rig_.open(Store::Missing::accepted));
  world_.run_for(milliseconds(10));
  ASSERT_TRUE(rig_.put(key(name), "without the first"));
  ASSERT_TRUE(rig_.close());
  rig_.plug(0);
  rig_.unplug(1);
  rig_.unplug(2);
  ASSERT_TRUE(rig_.open(Store::Missing::accepted));
  ASSERT_TRUE(rig_.close());
  rig_.plug(1);
  rig_.plug(2);
  ASSERT_TRUE(rig_.open());
  EXPECT_EQ(rig_.get(key(name)), "without the first");
  EXPECT_EQ(copies(name), 1U);
}

TEST_F(DisksTest, AKeyThatThreeDisksHaveIsSettledAtOneStart) {
  // Written on each disk while the others are away, the last one being the newest.
  for (const std::size_t only : {1U, 2U, 0U}) {
    ASSERT_TRUE(rig_.close());
    for (std::size_t i = 0; i < 3; ++i)
      i == only ? rig_.plug(i) : rig_.unplug(i);
    ASSERT_TRUE(rig_.open(Store::Missing::accepted));
    world_.run_for(milliseconds(10));
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(rig_.put(key("k" + std::to_string(i)), "by " + std::to_string(only)));
    }
  }
  ASSERT_TRUE(rig_.close());
  for (std::size_t i = 0; i < 3; ++i)
    rig_.plug(i);
  ASSERT_TRUE(rig_.open());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(rig_.get(key("k" + std::to_string(i))), "by 0");
    EXPECT_EQ(copies("k" + std::to_string(i)), 1U);
  }
}

TEST_F(DisksTest, ADiskThatHangsDoesNotStopTheOthersForGood) {
  const std::string stuck = key_on(0);
  const std::string other = key_on(2);
  // A change that takes a minute is under way on disk 0.
  rig_.disk(0).faults().add({.call = sim::DiskCall::sync,
                             .effect = sim::FaultEffect::delay,
                             .delay = std::chrono::minutes(1),
                             .nth = 1,
                             .path_part = "segments"});
  bool is_answered = false;
  world_.shard().spawn(
      [](test::StoreWorld& rig, record::ObjectKey object, bool& done) -> rt::Task<void> {
        LEAT_CO_TRY(auto put, co_await rig.store().begin_put(std::move(object), 0));
        PutDetails details;
        const auto finished = co_await put->finish(std::move(details));
        done = finished.has_value();
        co_return Status{};
      }(rig_, key(stuck), is_answered),
      [](const Status&) {});
  world_.run_for(milliseconds(50));
  ASSERT_FALSE(is_answered);
  EXPECT_EQ(error_of(remove(0)), Errc::unavailable) << "after a while it gives up";
  EXPECT_TRUE(rig_.put(key(other), "goes on"));
  world_.run_for(std::chrono::minutes(2));
  EXPECT_TRUE(is_answered);
  EXPECT_TRUE(remove(0));
}

TEST_F(DisksTest, ABucketThatWasMadeMeanwhileIsOnTheDiskThatReturns) {
  ASSERT_TRUE(remove(0));
  const record::BucketId made = rig_.make_bucket("made");
  ASSERT_TRUE(add(0));
  EXPECT_TRUE(rig_.volume(0).index().buckets().contains(made));
}

TEST_F(DisksTest, ABucketThatWasMadeAgainMeanwhileHidesTheOldOne) {
  const std::string name = key_on(1);
  ASSERT_TRUE(remove(1));
  for (std::size_t i = 0; i < 100; ++i) {
    const auto removed = rig_.run(rig_.store().remove(key("k" + std::to_string(i)), {}));
    if (!removed) {
      ASSERT_EQ(removed.error().code(), Errc::not_found);
    }
  }
  ASSERT_TRUE(rig_.run(rig_.store().remove_bucket("b")));
  world_.run_for(milliseconds(10));
  bucket_ = rig_.make_bucket("b");
  const auto arrival = add(1);
  ASSERT_TRUE(arrival);
  EXPECT_EQ(arrival->hidden_buckets, std::vector<std::string>{"b"});
  EXPECT_EQ(error_of(rig_.find(key(name))), Errc::not_found);
  ASSERT_TRUE(rig_.put(key(name), "new"));
  ASSERT_TRUE(rig_.crash());
  EXPECT_EQ(rig_.get(key(name)), "new");
}

TEST_F(DisksTest, TheLastDiskStays) {
  ASSERT_TRUE(remove(0));
  ASSERT_TRUE(remove(1));
  EXPECT_EQ(error_of(remove(2)), Errc::conflict);
  EXPECT_TRUE(rig_.put(key("k"), "x"));
}

TEST_F(DisksTest, ADiskThatFailedCanBeReplaced) {
  rig_.disk(0).faults().add({.call = sim::DiskCall::sync, .nth = 1, .path_part = "segments"});
  for (int i = 0; i < 30; ++i)
    static_cast<void>(rig_.put(key("k" + std::to_string(i)), "x"));
  ASSERT_FALSE(rig_.volume(0).takes_data());
  static_cast<void>(remove(0));  // it may say that it could not be flushed
  ASSERT_FALSE(rig_.is_open(0));
  const std::size_t fresh = rig_.buy_disk();
  ASSERT_TRUE(add(fresh));
  EXPECT_EQ(disk_of(key_on(fresh)), fresh);
  rig_.make_bucket("works-again");
}

// Somebody who uses the disk while it is taken out.

class Reading {
 public:
  Reading(test::StoreWorld& rig, const record::ObjectKey& object) : rig_(rig) {
    const auto found = rig.find(object);
    auto body = rig.run(rig.store().read(*found, {0, found->version.size_bytes}));
    stream_ = std::move(std::get<std::unique_ptr<ObjectStream>>(*body));
  }
  Result<std::string> rest() {
    std::string all;
    for (;;) {
      const auto piece = rig_.run(stream_->next());
      if (!piece) return fail(piece.error());
      if (piece->empty()) return all;
      all += as_text(*piece);
    }
  }
  void end() { stream_.reset(); }

 private:
  test::StoreWorld& rig_;
  std::unique_ptr<ObjectStream> stream_;
};

TEST_F(DisksTest, AReaderFinishesBeforeItsDiskGoes) {
  const std::string large = pattern(900'000, 5);
  ASSERT_TRUE(rig_.put(key("large"), large));
  Reading reading(rig_, key("large"));
  const std::size_t disk = disk_of("large");
  bool is_out = false;
  world_.shard().spawn(rig_.remove_disk("d" + std::to_string(disk), seconds(60), world_.shard()),
                       [&is_out](const Status& done) { is_out = done.has_value(); });
  world_.run_for(seconds(1));
  EXPECT_FALSE(is_out);
  EXPECT_EQ(error_of(rig_.find(key("large"))), Errc::not_found) << "nobody new";
  const auto rest = reading.rest();
  ASSERT_TRUE(rest) << rest.error().message();
  EXPECT_TRUE(*rest == large);
  reading.end();
  world_.run_for(seconds(1));
  EXPECT_TRUE(is_out);
}

TEST_F(DisksTest, AReaderThatTakesTooLongIsBrokenOff) {
  ASSERT_TRUE(rig_.put(key("large"), pattern(900'000, 5)));
  Reading reading(rig_, key("large"));
  bool is_out = false;
  world_.shard().spawn(
      rig_.remove_disk("d" + std::to_string(disk_of("large")), seconds(2), world_.shard()),
      [&is_out](const Status& done) { is_out = done.has_value(); });
  world_.run_for(seconds(3));
  EXPECT_EQ(error_of(reading.rest()), Errc::unavailable);
  reading.end();
  world_.run_for(seconds(1));
  EXPECT_TRUE(is_out);
}

TEST_F(DisksTest, APutWhoseDiskGoesIsRefusedAndLeavesNothing) {
  const std::string name = key_on(1);
  auto put = rig_.run(rig_.store().begin_put(key(name), std::nullopt));
  ASSERT_TRUE(put);
  bool is_out = false;
  world_.shard().spawn(rig_.remove_disk("d1", seconds(2), world_.shard()),
                       [&is_out](const Status& done) { is_out = done.has_value(); });
  world_.run_for(seconds(1));
  EXPECT_EQ(error_of(rig_.run((*put)->finish({}))), Errc::unavailable);
  put->reset();
  world_.run_for(seconds(1));
  EXPECT_TRUE(is_out);
  ASSERT_TRUE(add(1));
  EXPECT_EQ(rig_.get(key(name)), "this is " + name);
}

TEST_F(DisksTest, FilesOfABrokenPutAreFinishedBeforeTheirDiskGoes) {
  const std::string name = key_on(1);
  auto put = rig_.run(rig_.store().begin_put(key(name), 10 * kMiB));
  ASSERT_TRUE(put);
  // Several files of 128 KiB are on their way when the client leaves.
  for (int i = 0; i < 10; ++i) {
    const auto room = rig_.run((*put)->next_buffer());
    ASSERT_TRUE(room);
    (*put)->commit(room->size());
  }
  world_.shard().spawn(rig_.remove_disk("d1", Duration{}, world_.shard()), [](const Status&) {});
  put->reset();
  world_.run_for(seconds(5));
  EXPECT_FALSE(rig_.is_open(1));
  ASSERT_TRUE(add(1));
  EXPECT_EQ(rig_.get(key(name)), "this is " + name);
}

TEST_F(DisksTest, TwoFirstPutsNeverGoToTwoDisks) {
  const std::string name = key_on(1);
  ASSERT_TRUE(rig_.run(rig_.store().remove(key(name), {})));
  // The first one begins while disk 1 has room, the second when it has none.
  auto first = rig_.run(rig_.store().begin_put(key(name), std::nullopt));
  ASSERT_TRUE(first);
  const auto space = rig_.disk(1).space("d1");
  rig_.disk(1).set_capacity(space->total_bytes - space->available_bytes + 100);
  ASSERT_TRUE(rig_.run(rig_.volume(1).look_at_space()));
  ASSERT_TRUE(rig_.put(key(name), "second"));
  rig_.disk(1).set_capacity(sim::SimDisk::kDefaultCapacityBytes);
  ASSERT_TRUE(rig_.run(rig_.volume(1).look_at_space()));
  EXPECT_EQ(error_of(rig_.run((*first)->finish({}))), Errc::busy);
  EXPECT_EQ(copies(name), 1U);
  EXPECT_EQ(rig_.get(key(name)), "second");
}

// Everything at once, against a model that knows for each disk what it holds.

struct Held {
  std::string value;
  int time = 0;
};

class DisksModelTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(DisksModelTest, WhatComesAndGoesIsWhatTheDisksHold) {
  sim::SimWorld world{GetParam()};
  NullSink sink;
  log::Logger logger{sink, world.clock("log")};
  test::StoreWorld rig(world, logger, 3);
  ASSERT_TRUE(rig.open());
  const record::BucketId bucket = rig.make_bucket("b");
  io::SeededRng rng(GetParam());
  std::map<record::DiskId, std::map<std::string, Held>> disks;
  const auto object = [bucket](const std::string& name) {
    return record::ObjectKey{.bucket = bucket, .key = name};
  };
  const auto is_open = [&rig](const record::DiskId& id) {
    return rig.store().find_door(id) != nullptr;
  };
  const auto holder = [&](const std::string& name) -> std::map<std::string, Held>* {
    for (auto& [id, held] : disks) {
      if (is_open(id) && held.contains(name)) return &held;
    }
    return nullptr;
  };
  // A disk is back: of each key that others have, too, the newest stays.
  const auto settle = [&](const record::DiskId& back) {
    for (auto& [id, held] : disks) {
      if (id == back || !is_open(id)) continue;
      std::erase_if(held, [&](const auto& entry) {
        const auto mine = disks[back].find(entry.first);
        if (mine == disks[back].end()) return false;
        if (mine->second.time > entry.second.time) return true;
        disks[back].erase(mine);
        return false;
      });
    }
  };
  for (int step = 0; step < 60; ++step) {
    world.run_for(milliseconds(2));
    const std::string name = "k" + std::to_string(rng.below(12));
    const std::size_t disk = rng.below(3);
    const std::string root = "d" + std::to_string(disk);
    switch (rng.below(8)) {
      case 0:
      case 1:
      case 2:
      case 3: {
        const std::string value = name + " at " + std::to_string(step);
        ASSERT_TRUE(rig.put(object(name), value));
        auto* held = holder(name);
        const record::DiskId id = rig.find(object(name))->disk;
        if (held == nullptr) held = &disks[id];
        EXPECT_EQ(held, &disks[id]) << "a key stays where it is";
        held->insert_or_assign(name, Held{.value = value, .time = step});
        break;
      }
      case 4: {
        static_cast<void>(rig.run(rig.store().remove(object(name), {})));
        if (auto* held = holder(name)) held->erase(name);
        break;
      }
      case 5: {
        static_cast<void>(rig.run(rig.remove_disk(root, seconds(1), world.shard())));
        break;
      }
      case 6: {
        if (rig.is_open(disk)) break;
        ASSERT_TRUE(rig.run(rig.add_disk(root, world.shard())));
        settle(rig.volume(disk).identity().disk);
        break;
      }
      default: {
        ASSERT_TRUE(rig.crash());
        break;
      }
    }
    for (int i = 0; i < 12; ++i) {
      const std::string each = "k" + std::to_string(i);
      const auto* held = holder(each);
      const std::string expected =
          held != nullptr ? held->at(each).value : "error: not_found: no such object";
      ASSERT_EQ(rig.get(object(each)), expected) << "step " << step << ", " << each;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, DisksModelTest, testing::Range<std::uint64_t>(1, 41));

}  // namespace
}  // namespace leat::store
