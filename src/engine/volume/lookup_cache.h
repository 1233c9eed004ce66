// LookupCache: the current versions that a shard has found, so that the next look-up of the same
// object does not go through the index.
//
// It remembers; it does not know. An entry carries the stamp of its key (index/revisions.h) and is
// found only with the same stamp, so what comes out is what the index says now.
//
// Entries stand one behind the other in a ring of bytes, as the index encodes them: the newest
// takes the place of the oldest, and one that is used in time is written again. The memory is asked
// for once and touched as it fills. Its bound counts everything.
//
// Shard: one, for all disks. docs/adr/0021-look-ups-are-remembered.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "index/revisions.h"
#include "metrics/metrics.h"
#include "record/types.h"

namespace leat::volume {

struct LookupMetrics {
  metrics::Counter& hits;
  metrics::Counter& misses;
  metrics::Gauge& bytes;  // in use, over all shards
};

class LookupCache {
 public:
  // A disk as long as it is in service: one that comes back is another owner.
  using Owner = std::uint32_t;

  struct Key {
    Owner owner = 0;
    const record::ObjectKey& object;
    std::uint64_t hash = 0;  // of the object
  };

  // Longer entries are not kept: they would push out many.
  static constexpr std::size_t kEntryMax = 4096;

  // Lifetime: the metrics outlive it; null for none.
  explicit LookupCache(std::uint64_t max_bytes, const LookupMetrics* metrics = nullptr);
  ~LookupCache();
  LookupCache(const LookupCache&) = delete;
  LookupCache& operator=(const LookupCache&) = delete;

  Owner new_owner() { return ++owners_; }

  // The encoded version that was kept with this stamp. Lifetime: until the next keep().
  std::optional<std::string_view> find(const Key& key, index::Revisions::Stamp stamp);

  // Requires: `version` was looked up after the stamp was taken.
  void keep(const Key& key, index::Revisions::Stamp stamp, std::string_view version);

  std::uint64_t size_bytes() const;

 private:
  // Followed by the key's bytes and the version's, and by padding to kUnit.
  struct Header {
    index::Revisions::Stamp stamp;
    Owner owner;
    std::uint32_t bucket;
    std::uint16_t key_bytes;
    std::uint16_t version_bytes;
    std::uint32_t padding;
  };
  static constexpr std::uint64_t kUnit = 8;

  // Where an entry stands, in units since the beginning of all entries, and 16 bits of its hash.
  using Slot = std::uint64_t;
  static constexpr unsigned kPlaceBits = 48;
  // Any of the slots of its set may hold an entry: they stand in one line of the processor's cache.
  struct alignas(64) Set {
    std::array<Slot, 8> slots{};
  };

  Set& set_of(const Key& key) { return sets_[hash_in(key) % set_count_]; }
  static std::uint64_t hash_in(const Key& key);
  static Slot slot_of(const Key& key, std::uint64_t place);
  static std::uint64_t place_of(Slot slot) { return slot & ((Slot{1} << kPlaceBits) - 1); }
  // The slot holds an entry, and it was not written over.
  bool is_live(Slot slot) const;
  std::byte* at(std::uint64_t place) const { return ring_.get() + place * kUnit % ring_bytes_; }
  bool is_of(Slot slot, const Key& key) const;
  std::string_view version_at(std::uint64_t place) const;
  void set_end(std::uint64_t place);
  void clear();

  const LookupMetrics* metrics_;
  std::uint64_t ring_bytes_ = 0;  // 0: keeps nothing
  std::size_t set_count_ = 0;
  std::unique_ptr<std::byte[]> ring_;
  std::unique_ptr<Set[]> sets_;
  std::uint64_t end_ = 1;  // the place behind the newest entry; place 0 is nobody's
  Owner owners_ = 0;
};

}  // namespace leat::volume
