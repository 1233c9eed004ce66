// Generator: random operations that make sense often enough to get somewhere.
//
// It draws from few keys, so that operations meet, and from keys that are awkward: zero bytes,
// 0xFF, delimiters, a thousand bytes. Sizes are small for the most part, with the edges of blocks,
// files and segments among them. Thread: one. Lifetime: the store outlives it.
#pragma once

#include "engine/modelled_store.h"
#include "io/rng.h"

namespace leat::model {

class Generator {
 public:
  Generator(ModelledStore& store, io::Rng& rng);

  // Random limits for a volume, printed by describe_options().
  static volume::VolumeOptions options(io::Rng& rng);
  static std::string describe_options(const volume::VolumeOptions& options);

  record::ObjectKey key();
  Operation bucket_operation();
  // An operation on a key; nothing when what was drawn makes no sense now.
  std::optional<Operation> operation();
  index::ListRequest list_request();
  sim::CrashOptions crash();

  // Makes a bucket with random properties.
  Operation put_bucket(record::BucketId id);
  const std::vector<record::ObjectKey>& keys() const { return keys_; }

 private:
  Version version();
  std::string data();
  std::string key_text();
  volume::Precondition precondition(const State& state);
  std::vector<record::Attribute> attributes();
  std::optional<Operation> upload_operation(const record::ObjectKey& object);
  std::optional<Operation> version_operation(const record::ObjectKey& object);

  ModelledStore& store_;
  io::Rng& rng_;
  std::vector<record::ObjectKey> keys_;
  std::uint64_t made_ = 0;
  std::uint64_t uploads_ = 0;
};

}  // namespace leat::model
