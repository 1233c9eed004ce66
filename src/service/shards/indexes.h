// ShardIndexes: the indexes of shards that are in use, in memory.
//
// The index of a large shard stands behind its bytes; a small shard, and one that came in before
// Leat made indexes, is looked through when it is first asked for. What nobody asked for longest
// goes when there is no more room.
//
// Shard: one. Lifetime: the store outlives it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "shard/index.h"
#include "store/shard_store.h"
#include "volume/key_latch.h"

namespace leat::shards {

// An index and the bytes that it stands in.
class LoadedIndex {
 public:
  // Errors: corrupt.
  static Result<std::shared_ptr<const LoadedIndex>> open(std::string bytes);

  const shard::View& view() const { return *view_; }
  std::uint64_t size_bytes() const { return bytes_.size(); }

 private:
  std::string bytes_;
  std::optional<shard::View> view_;
};
using IndexPtr = std::shared_ptr<const LoadedIndex>;

class ShardIndexes {
 public:
  ShardIndexes(store::ShardStore& store, std::uint64_t max_bytes)
      : store_(store), max_bytes_(max_bytes) {}

  // Errors: bad_request, when the object is no archive or one that cannot be indexed, with the
  // reason; not_found (replaced meanwhile: find it again); corrupt, io.
  rt::Task<IndexPtr> find(const store::Found& found);

  std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  struct Entry {
    std::string name{};
    IndexPtr index{};
  };
  rt::Task<IndexPtr> load(const store::Found& found);
  rt::Task<std::string> make(const store::Found& found);
  void keep(std::string name, IndexPtr index);

  store::ShardStore& store_;
  const std::uint64_t max_bytes_;
  std::list<Entry> entries_;  // the last used first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_name_;
  std::uint64_t size_bytes_ = 0;
  volume::KeyLatch loading_;  // many who ask for one index wait for one who loads it
};

}  // namespace leat::shards
