// SnapshotReader: a stored snapshot, read by ranges.
//
// In memory is its catalog (shards, fields, where keys are); pages of samples and of keys are read
// when they are asked for and kept while there is room. A key is found in two reads, whatever the
// size of the dataset.
//
// Shard: one. Lifetime: the store and the cache outlive it; it outlives its calls.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/page_cache.h"
#include "shards/selection.h"
#include "snapshot/catalog.h"
#include "store/shard_store.h"

namespace leat::datasets {

// That of a million shards and more.
constexpr std::uint64_t kCatalogMaxBytes = 256 * kMiB;

struct KeyEntry {
  std::string key{};
  snapshot::Row row = 0;
};
struct KeyListing {
  std::vector<KeyEntry> page{};
  bool is_truncated = false;
};

class SnapshotReader {
 public:
  struct Parts {
    store::ShardStore& store;
    PageCache& cache;
    std::uint64_t catalog_max_bytes = kCatalogMaxBytes;
  };
  // `number`: no other reader of the cache has it.
  // Errors: corrupt; too_large; those of the store.
  static rt::Task<std::shared_ptr<SnapshotReader>> open(Parts parts, store::Found found,
                                                        std::uint64_t number);

  const snapshot::Catalog& catalog() const { return *catalog_; }
  std::uint32_t sample_count() const { return catalog_->footer().rows; }
  std::uint32_t shard_count() const { return catalog_->footer().shards; }
  // What names the content, hexadecimal.
  std::string fingerprint() const;

  // Errors of all below: corrupt; bad_request for a number that is too high; those of the store.

  // The first sample with the key.
  rt::Task<std::optional<snapshot::Sample>> find(std::string key);
  rt::Task<snapshot::Sample> sample(snapshot::Row row);
  rt::Task<std::string> key(snapshot::Row row);
  // Keys that begin with `prefix` and are behind `after`, in their order.
  rt::Task<KeyListing> list(std::string prefix, std::string after, std::size_t max);
  // The samples of a shard, as they stand in its archive.
  rt::Task<shards::Ranges> samples_of(std::uint32_t shard);

 private:
  SnapshotReader(Parts parts, store::Found found, std::uint64_t number)
      : parts_(parts), found_(std::move(found)), number_(number) {}

  rt::Task<std::string> read(std::uint64_t offset, std::uint64_t size_bytes);
  // Verified.
  rt::Task<PagePtr> page(snapshot::SectionKind kind, std::uint64_t page);

  const Parts parts_;
  const store::Found found_;
  const std::uint64_t number_;
  std::string resident_;
  std::optional<snapshot::Catalog> catalog_;
};
using ReaderPtr = std::shared_ptr<SnapshotReader>;

}  // namespace leat::datasets
