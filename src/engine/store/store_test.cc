#include "store/store.h"

#include <gtest/gtest.h>

#include <set>

#include "store/store_fixture_test.h"

namespace leat::store {
namespace {

// Buckets.

TEST_F(StoreTest, ABucketIsOnEveryDiskAndStaysAfterAPowerCut) {
  rig_.make_bucket("second", {.durability = record::Durability::relaxed, .undo_window_ms = 5});
  for (int boot = 0; boot < 2; ++boot) {
    for (std::size_t i = 0; i < rig_.disk_count(); ++i)
      EXPECT_EQ(rig_.volume(i).index().buckets().size(), 2U) << "disk " << i;
    const auto found = rig_.store().find_bucket("second");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->durability, record::Durability::relaxed);
    EXPECT_EQ(found->undo_window_ms, 5U);
    ASSERT_TRUE(rig_.crash());
  }
}

TEST_F(StoreTest, ABucketIsMadeOnceAndRemovedWhenItIsEmpty) {
  EXPECT_EQ(error_of(rig_.run(rig_.store().create_bucket("b", {}))), Errc::conflict);
  // Whatever disk the object is on, none lets the bucket go.
  for (int i = 0; i < 12; ++i) {
    const record::ObjectKey object = key("k" + std::to_string(i));
    ASSERT_TRUE(rig_.put(object, "x"));
    EXPECT_EQ(error_of(rig_.run(rig_.store().remove_bucket("b"))), Errc::conflict);
    for (std::size_t disk = 0; disk < rig_.disk_count(); ++disk)
      EXPECT_TRUE(rig_.volume(disk).index().buckets().contains(bucket_)) << "disk " << disk;
    ASSERT_TRUE(rig_.run(rig_.store().remove(object, {})));
  }
  ASSERT_TRUE(rig_.run(rig_.store().remove_bucket("b")));
  EXPECT_EQ(error_of(rig_.store().find_bucket("b")), Errc::not_found);
  EXPECT_EQ(error_of(rig_.run(rig_.store().remove_bucket("b"))), Errc::not_found);
  EXPECT_EQ(error_of(rig_.put(key("k"), "x")), Errc::not_found);
  ASSERT_TRUE(rig_.crash());
  EXPECT_EQ(error_of(rig_.store().find_bucket("b")), Errc::not_found);
}

TEST_F(StoreTest, NothingOutsideOfAnObjectIsRead) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  for (const std::size_t size : {std::size_t{10}, std::size_t{3 * kMiB}}) {
    const std::string content = pattern(size, 1);
    ASSERT_TRUE(rig_.put(key("k"), content));
    const auto found = rig_.find(key("k"));
    EXPECT_EQ(rig_.read(*found, {size - 4, 4}).value(), content.substr(size - 4));
    EXPECT_EQ(rig_.read(*found, {size, 0}).value(), "");
    EXPECT_EQ(error_of(rig_.read(*found, {size - 4, 5})), Errc::corrupt);
    EXPECT_EQ(error_of(rig_.read(*found, {size + 1, 0})), Errc::corrupt);
    EXPECT_EQ(error_of(rig_.read(*found, {4, most})), Errc::corrupt);
  }
}

TEST_F(OneDiskTest, WhatIsLostIsDamageAndNotAnObjectThatIsNotThere) {
  ASSERT_TRUE(rig_.put(key("small"), "hello"));
  ASSERT_TRUE(rig_.put(key("large"), pattern(300'000, 1)));
  const auto small = rig_.find(key("small"));
  const auto large = rig_.find(key("large"));
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(rig_.put(key("filler"), pattern(70'000, 2)));
  const volume::Folders& folders = rig_.volume(0).folders();
  const auto& file = std::get<std::vector<record::FileExtent>>(large->version.place).front();
  ASSERT_TRUE(rig_.disk(0).remove(folders.file(file.file)));
  ASSERT_TRUE(rig_.disk(0).remove(folders.segments() + "/0000000000000001.seg"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(error_of(rig_.read(*small, {0, 5})), Errc::corrupt);
    EXPECT_EQ(error_of(rig_.read(*large, {0, 1})), Errc::corrupt);
    EXPECT_EQ(error_of(rig_.run(rig_.store().open_apart(*large))), Errc::corrupt);
  }
  EXPECT_EQ(rig_.volume(0).quarantine().objects(), (std::vector{key("large"), key("small")}));
  EXPECT_EQ(rig_.volume(0).read_failures().damaged, 6U);

  // What was replaced since it was found is looked up again.
  ASSERT_TRUE(rig_.put(key("large"), "new"));
  ASSERT_TRUE(rig_.put(key("small"), "new"));
  EXPECT_EQ(error_of(rig_.read(*small, {0, 5})), Errc::not_found);
  EXPECT_EQ(error_of(rig_.read(*large, {0, 1})), Errc::not_found);
  EXPECT_EQ(rig_.get(key("small")), "new");
}

TEST_F(OneDiskTest, AFileThatMayNotBeOpenedIsTheDisksTrouble) {
  ASSERT_TRUE(rig_.put(key("large"), pattern(300'000, 1)));
  const auto large = rig_.find(key("large"));
  rig_.disk(0).faults().add(
      {.call = sim::DiskCall::open, .posix_errno = EACCES, .nth = 1, .path_part = "files"});
  EXPECT_EQ(error_of(rig_.read(*large, {0, 1})), Errc::io);
  EXPECT_EQ(rig_.volume(0).read_failures().io_errors, 1U);
  EXPECT_TRUE(rig_.read(*large, {0, 1}));
}

TEST_F(OneDiskTest, AnIndexThatCannotBeReadIsToldToItsDisk) {
  // Long names, so that the index has blocks which its opening does not read.
  const auto name = [](int i) { return std::to_string(100 + i) + std::string(900, 'n'); };
  for (int i = 0; i < 40; ++i)
    ASSERT_TRUE(rig_.put(key(name(i)), "hello"));
  ASSERT_TRUE(rig_.close());  // flushes the index
  ASSERT_TRUE(rig_.open());
  rig_.disk(0).faults().add(
      {.call = sim::DiskCall::read, .nth = 1, .and_after = true, .path_part = "index"});
  EXPECT_EQ(error_of(rig_.find(key(name(20)))), Errc::io);
  EXPECT_EQ(rig_.volume(0).read_failures().io_errors, 1U);
}

TEST_F(StoreTest, PropertiesThatAreSetAtTheSameTimeAllStay) {
  const auto property = [this](std::string_view name) {
    const auto properties = rig_.store().find_bucket("b")->properties;
    const auto found = std::ranges::find(properties, name, &record::Attribute::name);
    return found == properties.end() ? std::string("(none)") : found->value;
  };
  int done = 0;
  for (const char* name : {"a", "b", "c", "a"}) {
    world_.spawn(rig_.store().set_property(bucket_, name, std::string("of ") + name),
                 [&done](const Status& set) { done += set ? 1 : 0; });
  }
  ASSERT_TRUE(world_.run_until([&] { return done == 4; }));
  ASSERT_TRUE(rig_.run(rig_.store().set_property(bucket_, "b", std::nullopt)));
  ASSERT_TRUE(rig_.run(rig_.store().set_property(bucket_, "none", std::nullopt)));
  ASSERT_TRUE(rig_.crash());
  EXPECT_EQ(property("a"), "of a");
  EXPECT_EQ(property("b"), "(none)");
  EXPECT_EQ(property("c"), "of c");
  EXPECT_EQ(error_of(rig_.run(rig_.store().set_property(record::BucketId(1), "a", "x"))),
            Errc::not_found);
}

TEST_F(StoreTest, ACrashBetweenTheDisksLeavesABucketOnAllOfThem) {
  world_.spawn(
      [](ShardStore& store) -> rt::Task<void> {
        BucketOptions options;
        LEAT_CO_DO(co_await store.create_bucket("half", options));
        co_return Status{};
      }(rig_.store()),
      [](const Status&) {});
  const auto has = [this](std::size_t disk) {
    return rig_.volume(disk).index().buckets().size() == 2;
  };
  ASSERT_TRUE(world_.run_until([&] { return has(0); }));
  ASSERT_FALSE(has(2));
  ASSERT_TRUE(rig_.crash());
  for (std::size_t i = 0; i < rig_.disk_count(); ++i)
    EXPECT_TRUE(has(i)) << "disk " << i;
  EXPECT_TRUE(rig_.store().find_bucket("half"));
}

TEST_F(StoreTest, ACrashInTheMiddleOfAChangeOrARemovalLeavesOneAnswer) {
  const auto change = [](record::Bucket& bucket) { bucket.undo_window_ms = 1234; };
  world_.spawn(rig_.store().change_bucket(bucket_, change), [](const Status&) {});
  const auto window = [this](std::size_t disk) {
    return rig_.volume(disk).index().buckets().at(bucket_).undo_window_ms;
  };
  ASSERT_TRUE(world_.run_until([&] { return window(0) == 1234; }));
  ASSERT_EQ(window(2), 0U);
  ASSERT_TRUE(rig_.crash());
  for (std::size_t i = 0; i < rig_.disk_count(); ++i)
    EXPECT_EQ(window(i), 1234U) << "disk " << i;

  world_.spawn(rig_.store().remove_bucket("b"), [](const Status&) {});
  const auto gone = [this](std::size_t disk) {
    return !rig_.volume(disk).index().buckets().contains(bucket_);
  };
  ASSERT_TRUE(world_.run_until([&] { return gone(0); }));
  ASSERT_FALSE(gone(2));
  ASSERT_TRUE(rig_.crash());
  for (std::size_t i = 0; i < rig_.disk_count(); ++i)
    EXPECT_EQ(gone(i), !rig_.store().find_bucket("b").has_value()) << "disk " << i;
}

TEST_F(StoreTest, ABucketThatADiskRefusedIsMadeByTheNextTryAndOnlyOnce) {
  rig_.disk(1).faults().add(
      {.call = sim::DiskCall::write, .posix_errno = ENOSPC, .nth = 1, .path_part = "segments"});
  EXPECT_EQ(error_of(rig_.run(rig_.store().create_bucket("again", {}))), Errc::no_space);
  EXPECT_EQ(error_of(rig_.store().find_bucket("again")), Errc::not_found);
  const record::BucketId made = rig_.make_bucket("again");
  ASSERT_TRUE(rig_.put({.bucket = made, .key = "k"}, "kept"));
  ASSERT_TRUE(rig_.crash());
  EXPECT_EQ(rig_.store().buckets()->all().size(), 2U);
  ASSERT_TRUE(rig_.store().find_bucket("again"));
  EXPECT_EQ(rig_.store().find_bucket("again")->id, made);
  EXPECT_EQ(rig_.get({.bucket = made, .key = "k"}), "kept");
}

TEST_F(StoreTest, AChangeOfABucketThatADiskRefusedIsUndoneOnTheOthers) {
  const auto property = [this](std::string_view name) -> std::string {
    const auto bucket = rig_.store().find_bucket("b");
    const auto found = std::ranges::find(bucket->properties, name, &record::Attribute::name);
    return found == bucket->properties.end() ? "(none)" : found->value;
  };
  const auto property_on = [this](std::size_t disk) -> std::string {
    const auto& properties = rig_.volume(disk).index().buckets().at(bucket_).properties;
    return properties.empty() ? "(none)" : properties.front().value;
  };
  rig_.disk(1).faults().add(
      {.call = sim::DiskCall::write, .posix_errno = ENOSPC, .nth = 1, .path_part = "segments"});
  EXPECT_EQ(error_of(rig_.run(rig_.store().set_property(bucket_, "a", "x"))), Errc::no_space);
  for (std::size_t i = 0; i < rig_.disk_count(); ++i)
    EXPECT_EQ(property_on(i), "(none)") << "disk " << i;
  ASSERT_TRUE(rig_.crash());
  EXPECT_EQ(property("a"), "(none)");
}

TEST_F(StoreTest, AnUndoThatFailsIsDoneBeforeTheNextChange) {
  const auto property = [this](std::string_view name) -> std::string {
    const auto bucket = rig_.store().find_bucket("b");
    const auto found = std::ranges::find(bucket->properties, name, &record::Attribute::name);
    return found == bucket->properties.end() ? "(none)" : found->value;
  };
  // The second disk refuses the change, the first one its undoing.
  rig_.disk(1).faults().add(
      {.call = sim::DiskCall::write, .posix_errno = ENOSPC, .nth = 1, .path_part = "segments"});
  rig_.disk(0).faults().add(
      {.call = sim::DiskCall::write, .posix_errno = ENOSPC, .nth = 2, .path_part = "segments"});
  EXPECT_EQ(error_of(rig_.run(rig_.store().set_property(bucket_, "a", "x"))), Errc::no_space);
  EXPECT_EQ(property("a"), "(none)");
  ASSERT_TRUE(rig_.run(rig_.store().set_property(bucket_, "b", "y")));
  ASSERT_TRUE(rig_.crash());
  EXPECT_EQ(property("a"), "(none)");
  EXPECT_EQ(property("b"), "y");
}

// Objects.

TEST_F(StoreTest, ABucketThatIsNotEmptySomewhereIsTouchedNowhere) {
  int i = 0;
  std::string name;
  do {
    name = "k" + std::to_string(i++);
    ASSERT_TRUE(rig_.put(key(name), "x"));
    if (rig_.number_of(rig_.find(key(name))->disk) == 2) break;
    ASSERT_TRUE(rig_.run(rig_.store().remove(key(name), {})));
  } while (i < 1000);
  std::optional<Errc> refusal;
  world_.spawn(rig_.store().remove_bucket("b"),
               [&](const Status& removed) { refusal = error_of(removed); });
  bool is_everywhere = true;
  ASSERT_TRUE(world_.run_until([&] {
    for (std::size_t disk = 0; disk < rig_.disk_count(); ++disk)
      is_everywhere &= rig_.volume(disk).index().buckets().contains(bucket_);
    return refusal.has_value();
  }));
  EXPECT_EQ(*refusal, Errc::conflict);
  EXPECT_TRUE(is_everywhere);
}

TEST_F(StoreTest, ARemovalOfABucketWhoseUndoFailsIsUndoneBeforeTheNextChange) {
  // The second disk refuses the removal, the first one its undoing.
  rig_.disk(1).faults().add(
      {.call = sim::DiskCall::write, .posix_errno = ENOSPC, .nth = 1, .path_part = "segments"});
  rig_.disk(0).faults().add({.call = sim::DiskCall::write,
                             .posix_errno = ENOSPC,
                             .nth = 2,
                             .and_after = true,
                             .path_part = "segments"});
  EXPECT_EQ(error_of(rig_.run(rig_.store().remove_bucket("b"))), Errc::no_space);
  EXPECT_FALSE(rig_.volume(0).index().buckets().contains(bucket_));
  rig_.disk(0).faults().clear();
  ASSERT_TRUE(rig_.run(rig_.store().create_bucket("c", {})));
  EXPECT_TRUE(rig_.volume(0).index().buckets().contains(bucket_));
  for (int i = 0; i < 30; ++i)
    EXPECT_TRUE(rig_.put(key("k" + std::to_string(i)), "x")) << i;
}

TEST_F(StoreTest, ObjectsOfAllSizesAreReadBackAfterAPowerCut) {
  const std::vector<std::size_t> sizes = {0,      1,      65'535, 65'536,  65'537,
                                          81'919, 81'920, 81'921, 131'072, 400'000};
  for (const std::size_t size : sizes) {
    const std::string data = pattern(size, size);
    ASSERT_TRUE(rig_.put(key("known" + std::to_string(size)), data, {}, size));
    ASSERT_TRUE(rig_.put(key("unknown" + std::to_string(size)), data));
  }
  for (int boot = 0; boot < 2; ++boot) {
    for (const std::size_t size : sizes) {
      const std::string data = pattern(size, size);
      EXPECT_TRUE(rig_.get(key("known" + std::to_string(size))) == data) << size;
      EXPECT_TRUE(rig_.get(key("unknown" + std::to_string(size))) == data) << size;
    }
    ASSERT_TRUE(rig_.crash());
  }
  EXPECT_EQ(rig_.buffers().in_use(), 0U);
}

TEST_F(StoreTest, TheEtagNamesTheContentWhereverItLies) {
  const std::string data = pattern(150'000, 3);
  const auto spilled = rig_.put(key("spilled"), data);
  const auto straight = rig_.put(key("straight"), data, {}, data.size());
  ASSERT_TRUE(spilled && straight);
  EXPECT_EQ(spilled->etag, straight->etag);
  EXPECT_NE(spilled->etag, rig_.put(key("other"), pattern(150'000, 4))->etag);
}

TEST_F(StoreTest, AnObjectThatOutgrowsMemoryGoesToFiles) {
  const std::size_t small_max = test::StoreWorld::small_options().small_max_bytes;
  ASSERT_TRUE(rig_.put(key("fits"), pattern(small_max, 1)));
  ASSERT_TRUE(rig_.put(key("grows"), pattern(small_max + 1, 1)));
  EXPECT_TRUE(volume::is_small(rig_.find(key("fits"))->version));
  EXPECT_FALSE(volume::is_small(rig_.find(key("grows"))->version));
}

TEST_F(StoreTest, RangesAreExactAtBlocksAndFiles) {
  const std::string small = pattern(70'000, 5);
  const std::string large = pattern(300'000, 6);
  ASSERT_TRUE(rig_.put(key("small"), small));
  ASSERT_TRUE(rig_.put(key("large"), large));
  for (const std::string& data : {small, large}) {
    const auto found = rig_.find(key(data == small ? "small" : "large"));
    ASSERT_TRUE(found);
    for (const std::uint64_t offset : {0UL, 1UL, 65'535UL, 65'536UL, 69'999UL}) {
      for (const std::uint64_t wanted : {1UL, 65'536UL, 140'000UL, 300'000UL}) {
        const std::uint64_t length = std::min<std::uint64_t>(wanted, data.size() - offset);
        const auto got = rig_.read(*found, {.offset = offset, .length = length});
        ASSERT_TRUE(got) << got.error().message();
        EXPECT_TRUE(*got == data.substr(offset, length)) << offset << "+" << length;
      }
    }
  }
}

TEST_F(StoreTest, KeysAreBytesOfOneToOneThousandAndTwentyFour) {
  const std::string longest(1024, '\xFF');
  const std::string odd("\0/../\n\xC3\x28", 8);
  for (const std::string& name : {longest, odd, std::string("/"), std::string(1, '\0')}) {
    ASSERT_TRUE(rig_.put(key(name), name));
    EXPECT_EQ(rig_.get(key(name)), name);
  }
  EXPECT_EQ(error_of(rig_.put(key(""), "x")), Errc::bad_request);
  EXPECT_EQ(error_of(rig_.put(key(std::string(1025, 'k')), "x")), Errc::bad_request);
  EXPECT_EQ(error_of(rig_.find(key(""))), Errc::bad_request);
  EXPECT_EQ(error_of(rig_.run(rig_.store().remove(key(""), {}))), Errc::bad_request);
}

TEST_F(StoreTest, AnObjectStaysOnItsDiskAndDisksShareTheKeys) {
  std::set<record::DiskId> used;
  for (int i = 0; i < 30; ++i) {
    const record::ObjectKey object = key("k" + std::to_string(i));
    ASSERT_TRUE(rig_.put(object, "1"));
    const record::DiskId first = rig_.find(object)->disk;
    ASSERT_TRUE(rig_.put(object, pattern(100'000, 1)));
    EXPECT_EQ(rig_.find(object)->disk, first);
    used.insert(first);
  }
  EXPECT_EQ(used.size(), 3U);
  const auto counts = rig_.run(rig_.store().counts(bucket_));
  ASSERT_TRUE(counts);
  EXPECT_EQ(*counts, (index::Counts{.objects = 30, .bytes = 30 * 100'000}));
}

TEST_F(StoreTest, PreconditionsHoldOnWhateverDiskTheObjectIs) {
  PutDetails absent;
  absent.precondition.must_be_absent = true;
  for (int i = 0; i < 10; ++i) {
    const record::ObjectKey object = key("k" + std::to_string(i));
    const auto first = rig_.put(object, "1", absent);
    ASSERT_TRUE(first);
    EXPECT_EQ(error_of(rig_.put(object, "2", absent)), Errc::precondition_failed);
    EXPECT_EQ(error_of(rig_.run(rig_.store().remove(object, {.etag = "other"}))),
              Errc::precondition_failed);
    EXPECT_EQ(rig_.get(object), "1");
    EXPECT_TRUE(rig_.run(rig_.store().remove(object, {.etag = first->etag})));
    EXPECT_EQ(error_of(rig_.run(rig_.store().remove(object, {}))), Errc::not_found);
  }
}

TEST_F(StoreTest, APutThatIsDroppedLeavesNothing) {
  for (const std::size_t size : {std::size_t{1000}, std::size_t{300'000}}) {
    auto begun = rig_.run(rig_.store().begin_put(key("k"), size));
    ASSERT_TRUE(begun);
    std::size_t written = 0;
    while (written < size / 2) {
      const auto room = rig_.run((*begun)->next_buffer());
      ASSERT_TRUE(room);
      (*begun)->commit(room->size());
      written += room->size();
    }
    begun->reset();
    EXPECT_TRUE(world_.run_until_idle());
    EXPECT_EQ(error_of(rig_.find(key("k"))), Errc::not_found);
    EXPECT_EQ(rig_.buffers().in_use(), 0U);
    for (std::size_t i = 0; i < rig_.disk_count(); ++i) {
      const std::string root = "d" + std::to_string(i);
      EXPECT_TRUE(rig_.disk(i).list(root + "/incoming")->empty());
    }
  }
}

TEST_F(StoreTest, ALargePutThatIsRefusedLeavesNothing) {
  PutDetails absent;
  absent.precondition.must_be_absent = true;
  ASSERT_TRUE(rig_.put(key("k"), "there"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(error_of(rig_.put(key("k"), pattern(300'000, 1), absent)), Errc::precondition_failed);
  }
  EXPECT_TRUE(world_.run_until_idle());
  for (std::size_t i = 0; i < rig_.disk_count(); ++i) {
    const std::string files = "d" + std::to_string(i) + "/files";
    const auto shelves = rig_.disk(i).list(files);
    for (const std::string& shelf : *shelves)
      EXPECT_TRUE(rig_.disk(i).list(files + '/' + shelf)->empty());
  }
}

TEST_F(StoreTest, CopiesHaveTheSameBytesAndTheirOwnLife) {
  const std::string large = pattern(200'000, 9);
  for (const std::string& data : {std::string("small"), std::string(), large}) {
    ASSERT_TRUE(rig_.put(key("from"), data));
    const auto found = rig_.find(key("from"));
    ASSERT_TRUE(found);
    const PutDetails details{.etag = "cafe", .attributes = {{"content-type", "text/x"}}};
    ASSERT_TRUE(rig_.run(rig_.store().copy(*found, key("to"), details)));
    ASSERT_TRUE(rig_.run(rig_.store().remove(key("from"), {})));
    EXPECT_TRUE(rig_.get(key("to")) == data);
    const auto copied = rig_.find(key("to"));
    EXPECT_EQ(copied->version.etag, "cafe");
    EXPECT_EQ(copied->version.attributes, details.attributes);
  }
}

TEST_F(StoreTest, OtherAttributesLeaveTheVersionAndItsBytes) {
  ASSERT_TRUE(rig_.run(rig_.store().remove_bucket("b")));
  bucket_ = rig_.make_bucket("b", {.undo_window_ms = 60'000});
  const std::string large = pattern(200'000, 9);
  for (const std::string& data : {std::string("small"), large}) {
    const auto put = rig_.put(key("k"), data);
    ASSERT_TRUE(put);
    const std::vector<record::Attribute> tags = {{"x-leat-meta-split", "train"}};
    const auto found = rig_.find(key("k"));
    const auto revised = rig_.run(rig_.store().set_attributes(*found, tags));
    ASSERT_TRUE(revised) << revised.error().message();
    EXPECT_EQ(revised->id, put->id);
    // Found before the change: it is the same version, but another state of it now.
    EXPECT_EQ(error_of(rig_.run(rig_.store().set_attributes(*found, tags))),
              Errc::precondition_failed);
    const auto again = rig_.find(key("k"));
    EXPECT_TRUE(rig_.run(rig_.store().set_attributes(*again, tags)));
    for (std::size_t i = 0; i < rig_.disk_count(); ++i)
      ASSERT_TRUE(rig_.run(rig_.volume(i).reclaim(0)));
    ASSERT_TRUE(rig_.crash());
    EXPECT_EQ(rig_.find(key("k"))->version.attributes, tags);
    EXPECT_TRUE(rig_.get(key("k")) == data);
  }
  const auto counts = rig_.run(rig_.store().counts(bucket_));
  EXPECT_EQ(counts->objects, 1U);
  EXPECT_EQ(counts->trashed_objects, 1U) << "the small one that was replaced, once";
}

TEST_F(StoreTest, AttributesOfAnObjectThatWasReplacedAreNotChanged) {
  ASSERT_TRUE(rig_.put(key("k"), "1"));
  const auto found = rig_.find(key("k"));
  ASSERT_TRUE(rig_.put(key("k"), "2"));
  EXPECT_EQ(error_of(rig_.run(rig_.store().set_attributes(*found, {}))), Errc::precondition_failed);
}

TEST_F(StoreTest, RemovedObjectsComeBackWithinTheWindow) {
  const record::BucketId undo = rig_.make_bucket("undo", {.undo_window_ms = 60'000});
  for (int i = 0; i < 6; ++i) {
    const record::ObjectKey object{.bucket = undo, .key = "k" + std::to_string(i)};
    const std::string data = pattern(i % 2 == 0 ? 100 : 100'000, 1);
    ASSERT_TRUE(rig_.put(object, data));
    ASSERT_TRUE(rig_.run(rig_.store().remove(object, {})));
    EXPECT_EQ(error_of(rig_.find(object)), Errc::not_found);
    ASSERT_TRUE(rig_.run(rig_.store().restore(object, std::nullopt)));
    EXPECT_TRUE(rig_.get(object) == data);
  }
  const record::ObjectKey never{.bucket = undo, .key = "never"};
  EXPECT_EQ(error_of(rig_.run(rig_.store().restore(never, std::nullopt))), Errc::not_found);
}

// What each class of durability promises: docs/reference/durability.md.

TEST_F(StoreTest, WithoutASyncAPowerCutTakesTheLastWindowAndNothingElse) {
  for (const auto durability : {record::Durability::group, record::Durability::relaxed}) {
    const record::BucketId bucket = rig_.make_bucket(
        "b" + std::to_string(static_cast<int>(durability)), {.durability = durability});
    const record::ObjectKey small{.bucket = bucket, .key = "small"};
    const record::ObjectKey large{.bucket = bucket, .key = "large"};
    ASSERT_TRUE(rig_.put(key("sync"), "kept"));
    ASSERT_TRUE(rig_.put(small, "old"));
    ASSERT_TRUE(rig_.put(large, pattern(100'000, 1)));
    const volume::VolumeOptions options = test::StoreWorld::small_options();
    const bool is_group = durability == record::Durability::group;
    const Duration window = is_group ? options.group_window : options.relaxed_window;
    world_.run_for(window + std::chrono::milliseconds(100));
    ASSERT_TRUE(rig_.put(small, "new"));
    ASSERT_TRUE(rig_.put(large, pattern(100'000, 2)));
    EXPECT_EQ(rig_.get(small), "new");
    ASSERT_TRUE(rig_.crash());
    EXPECT_EQ(rig_.get(small), "old");
    EXPECT_TRUE(rig_.get(large) == pattern(100'000, 1));
    EXPECT_EQ(rig_.get(key("sync")), "kept");
  }
}

TEST_F(OneDiskTest, RelaxedSyncsComeLateAndNeverHoldUpTheShorterWindow) {
  const record::BucketId relaxed =
      rig_.make_bucket("relaxed", {.durability = record::Durability::relaxed});
  const record::BucketId group =
      rig_.make_bucket("group", {.durability = record::Durability::group});
  ASSERT_TRUE(rig_.put({.bucket = relaxed, .key = "k"}, "lost"));
  world_.run_for(std::chrono::seconds(1));
  ASSERT_TRUE(rig_.crash());
  EXPECT_TRUE(rig_.get({.bucket = relaxed, .key = "k"}).starts_with("error: not_found"));
  ASSERT_TRUE(rig_.put({.bucket = relaxed, .key = "k"}, "kept"));
  ASSERT_TRUE(rig_.put({.bucket = group, .key = "k"}, "kept, too"));
  world_.run_for(std::chrono::milliseconds(100));
  ASSERT_TRUE(rig_.crash());
  EXPECT_EQ(rig_.get({.bucket = relaxed, .key = "k"}), "kept") << "one sync takes all";
  EXPECT_EQ(rig_.get({.bucket = group, .key = "k"}), "kept, too");
}

TEST_F(StoreTest, WithoutASyncTheEndOfTheProcessTakesNothing) {
  for (const auto durability : {record::Durability::group, record::Durability::relaxed}) {
    const record::BucketId bucket = rig_.make_bucket(
        "b" + std::to_string(static_cast<int>(durability)), {.durability = durability});
    const record::ObjectKey object{.bucket = bucket, .key = "k"};
    ASSERT_TRUE(rig_.put(object, "kept"));
    // The kernel lives on and has all that was written.
    ASSERT_TRUE(rig_.crash({.mode = sim::CrashMode::keep_all}));
    EXPECT_EQ(rig_.get(object), "kept");
  }
}

// Listings.

class ListTest : public StoreTest {
 protected:
  // All items, page by page.
  std::vector<std::string> list(std::string prefix, std::string delimiter, std::size_t max) {
    index::ListRequest request{.bucket = bucket_,
                               .prefix = std::move(prefix),
                               .delimiter = std::move(delimiter),
                               .max = max};
    std::vector<std::string> names;
    for (int pages = 0; pages < 1000; ++pages) {
      const auto page = rig_.run(rig_.store().list(request));
      EXPECT_TRUE(page);
      EXPECT_LE(page->items.size(), max);
      for (const index::ListItem& item : page->items)
        names.push_back(item.name + (item.version ? "" : " *"));
      if (!page->is_truncated) return names;
      request.after = page->items.back().name;
    }
    ADD_FAILURE() << "the listing does not end";
    return names;
  }

  // What a listing must say, by its definition.
  static std::vector<std::string> expected(const std::set<std::string>& keys,
                                           const std::string& prefix,
                                           const std::string& delimiter) {
    std::vector<std::string> names;
    for (const std::string& one : keys) {
      if (!one.starts_with(prefix)) continue;
      const std::size_t cut =
          delimiter.empty() ? std::string::npos : one.find(delimiter, prefix.size());
      const std::string name =
          cut == std::string::npos ? one : one.substr(0, cut + delimiter.size()) + " *";
      if (names.empty() || names.back() != name) names.push_back(name);
    }
    return names;
  }
};

TEST_F(ListTest, AListingIsOneSortedWalkOverAllDisks) {
  std::set<std::string> keys = {"a", "a/", "a//", "b\xFF", "b\xFF/x", "b\xFF/y", "\xFF", "train"};
  for (int i = 0; i < 40; ++i)
    keys.insert("train/" + std::to_string(i % 7) + "/" + std::to_string(i));
  for (const std::string& one : keys)
    ASSERT_TRUE(rig_.put(key(one), "x"));
  for (const std::string prefix : {"", "a", "a/", "train/", "train/3", "b\xFF", "nothing"}) {
    for (const std::string delimiter : {"", "/", "/3", "n/"}) {
      const auto whole = expected(keys, prefix, delimiter);
      for (const std::size_t max : {1UL, 2UL, 3UL, 7UL, 1000UL})
        EXPECT_EQ(list(prefix, delimiter, max), whole) << prefix << " " << delimiter << " " << max;
    }
  }
}

TEST_F(ListTest, APageOfNothingEndsTheListing) {
  ASSERT_TRUE(rig_.put(key("a"), "x"));
  const auto page = rig_.run(rig_.store().list({.bucket = bucket_, .max = 0}));
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->items.empty());
  EXPECT_FALSE(page->is_truncated);
}

// Uploads.

TEST_F(StoreTest, AnUploadBecomesAnObject) {
  const std::vector<record::Attribute> attributes = {{"content-type", "video/mp4"}};
  const auto upload = rig_.run(rig_.store().begin_upload(key("big"), attributes));
  ASSERT_TRUE(upload);
  std::string whole;
  volume::Completion completion{.object = key("big"), .upload = upload->id, .etag = "abcd-3"};
  for (std::uint32_t number = 1; number <= 3; ++number) {
    const std::string data = pattern(100'000 + number, number);
    const auto part = rig_.put_part(key("big"), upload->id, number, data);
    ASSERT_TRUE(part) << part.error().message();
    completion.parts.push_back({.number = number, .etag = part->etag});
    whole += data;
  }
  ASSERT_TRUE(rig_.crash());
  EXPECT_EQ(rig_.run(rig_.store().list_parts(key("big"), upload->id))->size(), 3U);
  EXPECT_EQ(rig_.run(rig_.store().list_uploads({.bucket = bucket_}))->size(), 1U);
  EXPECT_EQ(rig_.run(rig_.store().find_upload(key("big"), upload->id)).value(), *upload);
  EXPECT_EQ(error_of(rig_.run(rig_.store().find_upload(key("other"), upload->id))),
            Errc::not_found);
  EXPECT_EQ(error_of(rig_.find(key("big"))), Errc::not_found);
  EXPECT_EQ(error_of(rig_.run(rig_.store().remove_bucket("b"))), Errc::conflict);

  completion.attributes = {{"parts", "3"}};
  std::vector<record::Attribute> together = attributes;
  together.push_back({"parts", "3"});
  ASSERT_TRUE(rig_.run(rig_.store().complete_upload(completion, {})));
  for (int boot = 0; boot < 2; ++boot) {
    EXPECT_TRUE(rig_.get(key("big")) == whole);
    EXPECT_EQ(rig_.find(key("big"))->version.attributes, together);
    EXPECT_EQ(rig_.find(key("big"))->version.etag, "abcd-3");
    ASSERT_TRUE(rig_.crash());
  }
  EXPECT_TRUE(rig_.run(rig_.store().list_uploads({.bucket = bucket_}))->empty());
  EXPECT_EQ(error_of(rig_.run(rig_.store().complete_upload(completion, {}))), Errc::not_found);
}

TEST_F(StoreTest, AnUploadThatIsGivenUpLeavesNothing) {
  const auto upload = rig_.run(rig_.store().begin_upload(key("big"), {}));
  ASSERT_TRUE(upload);
  ASSERT_TRUE(rig_.put_part(key("big"), upload->id, 1, pattern(100'000, 1)));
  volume::Completion wrong{.object = key("big"), .upload = upload->id, .parts = {{1, "other"}}};
  EXPECT_EQ(error_of(rig_.run(rig_.store().complete_upload(wrong, {}))), Errc::bad_request);
  wrong.parts = {{2, ""}};
  EXPECT_EQ(error_of(rig_.run(rig_.store().complete_upload(wrong, {}))), Errc::bad_request);
  ASSERT_TRUE(rig_.run(rig_.store().abort_upload(key("big"), upload->id)));
  EXPECT_EQ(error_of(rig_.run(rig_.store().abort_upload(key("big"), upload->id))), Errc::not_found);
  EXPECT_EQ(error_of(rig_.put_part(key("big"), upload->id, 1, "x")), Errc::not_found);
  for (std::size_t i = 0; i < rig_.disk_count(); ++i) {
    ASSERT_TRUE(rig_.run(rig_.volume(i).reclaim(0)));
    const std::string files = "d" + std::to_string(i) + "/files";
    const auto shelves = rig_.disk(i).list(files);
    for (const std::string& shelf : *shelves)
      EXPECT_TRUE(rig_.disk(i).list(files + "/" + shelf)->empty());
  }
  EXPECT_TRUE(rig_.run(rig_.store().remove_bucket("b")));
}

// Disks that are full or failed.

TEST_F(StoreTest, AFullDiskIsPassedOverAndTakenAgainWhenThereIsRoom) {
  const auto used = [this](std::size_t i) {
    const auto space = rig_.disk(i).space("d" + std::to_string(i));
    return space->total_bytes - space->available_bytes;
  };
  rig_.disk(1).set_capacity(used(1) + 10);
  // One object may be told that there is no room; then the store knows.
  std::vector<std::string> stored;
  int refused = 0;
  for (int i = 0; i < 60; ++i) {
    const std::string name = "k" + std::to_string(i);
    const auto put = rig_.put(key(name), "x");
    if (put) {
      stored.push_back(name);
    } else {
      EXPECT_EQ(put.error().code(), Errc::no_space);
      ++refused;
    }
  }
  EXPECT_LE(refused, 1);
  for (const std::string& name : stored)
    EXPECT_NE(rig_.find(key(name))->disk, rig_.volume(1).identity().disk) << name;

  rig_.disk(1).set_capacity(sim::SimDisk::kDefaultCapacityBytes);
  ASSERT_TRUE(rig_.run(rig_.volume(1).look_at_space()));
  std::set<record::DiskId> disks;
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(rig_.put(key("later" + std::to_string(i)), "x"));
    disks.insert(rig_.find(key("later" + std::to_string(i)))->disk);
  }
  EXPECT_EQ(disks.size(), 3U);
}

TEST_F(StoreTest, ADiskThatFailedTakesNoMoreNewObjects) {
  rig_.disk(0).faults().add({.call = sim::DiskCall::sync, .nth = 1, .path_part = "segments"});
  int refused = 0;
  for (int i = 0; i < 60; ++i) {
    const auto put = rig_.put(key("k" + std::to_string(i)), "x");
    if (!put) {
      EXPECT_EQ(put.error().code(), Errc::unavailable);
      ++refused;
    }
  }
  EXPECT_EQ(refused, 1);
}

TEST_F(OneDiskTest, WhenNoDiskHasRoomItIsSaid) {
  ASSERT_TRUE(rig_.put(key("there"), pattern(400'000, 1)));
  const auto space = rig_.disk(0).space("d0");
  rig_.disk(0).set_capacity((space->total_bytes - space->available_bytes) * 100 / 97);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(error_of(rig_.put(key("small"), "x")), Errc::no_space);
    EXPECT_EQ(error_of(rig_.put(key("large"), pattern(200'000, 1))), Errc::no_space);
  }
  EXPECT_TRUE(rig_.get(key("there")) == pattern(400'000, 1));
  EXPECT_TRUE(rig_.run(rig_.store().remove(key("there"), {}))) << "deleting needs no room";
}

}  // namespace
}  // namespace leat::store
