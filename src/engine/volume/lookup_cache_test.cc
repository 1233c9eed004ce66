// The memory of look-ups alone. The model test has it under everything else.
#include "volume/lookup_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <vector>

#include "base/bytes.h"
#include "io/rng.h"
#include "metrics/registry.h"
#include "rt/blocking_pool.h"

namespace leat::volume {
namespace {

using index::hash_of;
using index::Revisions;

record::ObjectKey key(std::string_view name) {
  return {.bucket = record::BucketId(1), .key = std::string(name)};
}

LookupCache::Key of(LookupCache::Owner owner, const record::ObjectKey& object) {
  return {.owner = owner, .object = object, .hash = hash_of(object)};
}

class LookupCacheTest : public ::testing::Test {
 protected:
  LookupCache cache_{64 * kKiB};
  LookupCache::Owner disk_ = cache_.new_owner();
  const record::ObjectKey dog_ = key("dog");
};

TEST_F(LookupCacheTest, FindsWhatWasKeptWithTheSameStamp) {
  cache_.keep(of(disk_, dog_), 2, "version");
  EXPECT_EQ(cache_.find(of(disk_, dog_), 2), "version");
}

TEST_F(LookupCacheTest, AnotherStampFindsNothing) {
  cache_.keep(of(disk_, dog_), 2, "version");
  EXPECT_FALSE(cache_.find(of(disk_, dog_), 4));
}

TEST_F(LookupCacheTest, TheLastOneKeptCounts) {
  cache_.keep(of(disk_, dog_), 2, "old");
  cache_.keep(of(disk_, dog_), 4, "new");
  EXPECT_EQ(cache_.find(of(disk_, dog_), 4), "new");
  EXPECT_FALSE(cache_.find(of(disk_, dog_), 2));
}

TEST_F(LookupCacheTest, DisksBucketsAndNamesAreToldApart) {
  cache_.keep(of(disk_, dog_), 0, "version");
  EXPECT_FALSE(cache_.find(of(cache_.new_owner(), dog_), 0));
  const record::ObjectKey elsewhere{.bucket = record::BucketId(2), .key = "dog"};
  EXPECT_FALSE(cache_.find({.owner = disk_, .object = elsewhere, .hash = hash_of(dog_)}, 0));
  const record::ObjectKey longer = key("dogs");
  EXPECT_FALSE(cache_.find({.owner = disk_, .object = longer, .hash = hash_of(dog_)}, 0));
}

TEST_F(LookupCacheTest, WhatIsTooLongIsNotKept) {
  cache_.keep(of(disk_, dog_), 0, std::string(LookupCache::kEntryMax, 'x'));
  EXPECT_FALSE(cache_.find(of(disk_, dog_), 0));
}

TEST_F(LookupCacheTest, WithoutMemoryItKeepsNothing) {
  LookupCache none(0);
  none.keep(of(none.new_owner(), dog_), 0, "version");
  EXPECT_FALSE(none.find(of(1, dog_), 0));
  EXPECT_EQ(none.size_bytes(), 0U);
}

TEST_F(LookupCacheTest, WhatIsUsedStaysWhenTheRestGoes) {
  cache_.keep(of(disk_, dog_), 0, "version");
  const record::ObjectKey first = key("0");
  for (int i = 0; i < 10'000; ++i) {
    const record::ObjectKey other = key(fmt::format("{}", i));
    cache_.keep(of(disk_, other), 0, "another version of another object");
    ASSERT_EQ(cache_.find(of(disk_, dog_), 0), "version") << i;
  }
  EXPECT_FALSE(cache_.find(of(disk_, first), 0));
  EXPECT_LE(cache_.size_bytes(), 64 * kKiB);
}

TEST_F(LookupCacheTest, NeverGivesWhatWasNotKept) {
  constexpr std::uint64_t kSeed = 20261117;
  SCOPED_TRACE(fmt::format("seed {}", kSeed));
  io::SeededRng rng(kSeed);
  struct Kept {
    Revisions::Stamp stamp = 0;
    std::string version{};
  };
  std::map<std::string, Kept> all;
  std::uint64_t hits = 0;
  for (int step = 0; step < 200'000; ++step) {
    const std::string name = fmt::format("{:x<{}}", rng.next() % 2000, 1 + rng.next() % 40);
    const record::ObjectKey object = key(name);
    if (rng.next() % 2 == 0) {
      std::string version(rng.next() % 300, static_cast<char>('a' + rng.next() % 26));
      const Kept kept{.stamp = rng.next() % 4 * 2, .version = std::move(version)};
      cache_.keep(of(disk_, object), kept.stamp, kept.version);
      all[name] = kept;
      continue;
    }
    const Revisions::Stamp stamp = rng.next() % 4 * 2;
    const auto found = cache_.find(of(disk_, object), stamp);
    if (!found) continue;
    ++hits;
    ASSERT_EQ(all[name].stamp, stamp) << step;
    ASSERT_EQ(all[name].version, *found) << step;
  }
  EXPECT_GT(hits, 100U);
}

TEST_F(LookupCacheTest, MetricsTellHitsMissesAndMemory) {
  metrics::Registry registry;
  const LookupMetrics metrics{.hits = registry.counter("hits_total", "Hits."),
                              .misses = registry.counter("misses_total", "Misses."),
                              .bytes = registry.gauge("bytes", "Bytes.")};
  {
    LookupCache cache(64 * kKiB, &metrics);
    EXPECT_FALSE(cache.find(of(1, dog_), 0));
    cache.keep(of(1, dog_), 0, "version");
    EXPECT_TRUE(cache.find(of(1, dog_), 0));
    EXPECT_EQ(metrics.bytes.value(), static_cast<double>(cache.size_bytes()));
  }
  EXPECT_EQ(metrics.hits.value(), 1U);
  EXPECT_EQ(metrics.misses.value(), 1U);
  EXPECT_EQ(metrics.bytes.value(), 0);
}

// One change and two shards that read twice, step by step.
class Steps {
 public:
  enum Actor : std::uint8_t { home, first, second };

  // Gives what is wrong with the reads; nothing if they are right.
  std::string run(const std::vector<Actor>& order) {
    object_ = key(fmt::format("{}", ++runs_));
    in_index_ = answered_ = seen_ = changed_ = 0;
    for (Reader& reader : readers_)
      reader.asking.reset();
    for (const Actor actor : order) {
      if (actor == home) {
        change();
      } else if (!read(readers_[actor - first])) {
        return fmt::format("a read gave {} after {} was known", readers_[actor - first].got,
                           readers_[actor - first].asking->least);
      }
    }
    return "";
  }

 private:
  struct Asking {
    int least = 0;  // what it must give, or something newer
    std::optional<Revisions::Stamp> stamp{};
  };
  struct Reader {
    LookupCache cache{64 * kKiB};
    std::optional<Asking> asking{};
    bool is_done = false;
    int got = 0;
  };

  void change() {
    switch (changed_++) {
      case 0: revisions_.begin_change(hash_of(object_)); break;
      case 1: in_index_ = 1; break;
      case 2: revisions_.end_changes(); break;
      default: answered_ = 1;
    }
  }

  // The first step takes the stamp and remembers; the second one looks in the index, if it must.
  bool read(Reader& reader) {
    const auto name = of(1, object_);
    if (!reader.asking) {
      reader.asking =
          Asking{.least = std::max(answered_, seen_), .stamp = revisions_.stamp(name.hash)};
      const auto& stamp = reader.asking->stamp;
      const auto known = stamp ? reader.cache.find(name, *stamp) : std::nullopt;
      reader.is_done = known.has_value();
      return !known || give(reader, *known == "1" ? 1 : 0);
    }
    if (!reader.is_done) {
      const int found = in_index_;
      if (reader.asking->stamp) {
        reader.cache.keep(name, *reader.asking->stamp, found == 1 ? "1" : "0");
      }
      if (!give(reader, found)) return false;
    }
    reader.asking.reset();
    return true;
  }

  bool give(Reader& reader, int got) {
    reader.got = got;
    seen_ = std::max(seen_, got);
    return got >= reader.asking->least;
  }

  Revisions revisions_;
  std::array<Reader, 2> readers_;
  record::ObjectKey object_;
  std::uint64_t runs_ = 0;
  int in_index_ = 0;
  int answered_ = 0;
  int seen_ = 0;
  int changed_ = 0;
};

TEST(LookupCacheSteps, InNoOrderDoesAReadGoBack) {
  Steps steps;
  std::vector<Steps::Actor> order;
  for (const Steps::Actor actor : {Steps::home, Steps::first, Steps::second})
    order.insert(order.end(), 4, actor);
  std::uint64_t orders = 0;
  do {
    const std::string wrong = steps.run(order);
    ASSERT_EQ(wrong, "") << "in order " << orders;
    ++orders;
  } while (std::ranges::next_permutation(order).found);
  EXPECT_EQ(orders, 34'650U);
}

// The same with threads: one home that changes keys, several shards that read them.
class Race {
 public:
  static constexpr std::size_t kKeys = 8;
  static constexpr std::uint64_t kReads = 200'000;

  Race() {
    for (std::size_t i = 0; i < kKeys; ++i)
      keys_.push_back(key(fmt::format("key {}", i)));
  }

  void change() {
    for (std::uint64_t n = 1; reads_.load(std::memory_order_relaxed) < kReads; ++n) {
      Key& one = state_[n % kKeys];
      revisions_.begin_change(hash_of(keys_[n % kKeys]));
      one.in_index.store(n, std::memory_order_release);
      revisions_.end_changes();
      one.answered.store(n, std::memory_order_release);
    }
    over_.store(true, std::memory_order_release);
  }

  // Every read gives at least what was answered, or read by anybody, before it began.
  void read() {
    LookupCache cache(64 * kKiB);
    const LookupCache::Owner disk = cache.new_owner();
    for (std::size_t at = 0; !over_.load(std::memory_order_acquire); at = (at + 1) % kKeys) {
      Key& one = state_[at];
      const std::uint64_t least = std::max(one.answered.load(std::memory_order_acquire),
                                           one.read.load(std::memory_order_acquire));
      const std::uint64_t seen = look(cache, disk, at);
      reads_.fetch_add(1, std::memory_order_relaxed);
      if (seen < least) stale_.fetch_add(1, std::memory_order_relaxed);
      std::uint64_t before = one.read.load(std::memory_order_relaxed);
      while (before < seen &&
             !one.read.compare_exchange_weak(before, seen, std::memory_order_acq_rel)) {
      }
    }
  }

  std::uint64_t stale() const { return stale_.load(); }

 private:
  struct Key {
    std::atomic<std::uint64_t> in_index{0};
    std::atomic<std::uint64_t> answered{0};
    std::atomic<std::uint64_t> read{0};
  };

  std::uint64_t look(LookupCache& cache, LookupCache::Owner disk, std::size_t at) {
    const auto name = of(disk, keys_[at]);
    const auto stamp = revisions_.stamp(name.hash);
    if (stamp) {
      if (const auto known = cache.find(name, *stamp)) return std::stoull(std::string(*known));
    }
    const std::uint64_t found = state_[at].in_index.load(std::memory_order_acquire);
    if (stamp) cache.keep(name, *stamp, std::to_string(found));
    return found;
  }

  std::vector<record::ObjectKey> keys_;
  std::array<Key, kKeys> state_;
  Revisions revisions_;
  std::atomic<bool> over_{false};
  std::atomic<std::uint64_t> reads_{0};
  std::atomic<std::uint64_t> stale_{0};
};

TEST(LookupCacheRace, NoReadIsOlderThanWhatWasAnsweredOrReadBefore) {
  constexpr std::size_t kReaders = 3;
  Race race;
  rt::BlockingPool threads("race", kReaders + 1, kReaders + 1);
  for (std::size_t i = 0; i < kReaders; ++i)
    ASSERT_TRUE(threads.submit([&race] { race.read(); }));
  ASSERT_TRUE(threads.submit([&race] { race.change(); }));
  threads.finish();
  EXPECT_EQ(race.stale(), 0U);
}

}  // namespace
}  // namespace leat::volume
