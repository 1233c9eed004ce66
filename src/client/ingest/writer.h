// Writer: samples that come one by one, from any number of tasks, become a version of a dataset.
//
//   Writer writer(tools, rng, {.bucket = "imagenet", .name = "train", .transaction = id});
//   co_await writer.add({.key = "000001", .fields = {{"jpg", bytes}, {"cls", "7"}}});
//   LEAT_CO_TRY(const Committed version, co_await writer.commit());
//
// Samples are mixed in a reservoir of memory, packed into shards and sent in the background. They
// are added to the dataset by the one commit at the end; before it nothing is to be seen, and after
// abort() nothing stays. What was committed under a transaction once is not committed again, by
// this writer or by another one.
//
// Invariants
// 1. No two writers use one name: what they send never replaces a shard, whatever the transaction.
// 2. A writer removes only what it sent itself and what no version can have: after a commit whose
//    outcome is not known it removes nothing.
//
// Shard: one. Lifetime: commit() has succeeded or abort() has returned before it is
// destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingest/commit.h"
#include "ingest/shard_name.h"
#include "ingest/shard_stream.h"
#include "io/rng.h"
#include "order/mixing.h"
#include "transfer/tools.h"
#include "transfer/turn.h"

namespace leat::ingest {

struct Sample {
  std::string key{};
  std::vector<std::pair<std::string, std::string>> fields{};  // name, bytes

  std::uint64_t size_bytes() const;
};

// Sorts the fields. Errors: bad_request, when WebDataset would read another sample, or none, out of
// these names; when a field is there twice, or none is.
Status check_sample(Sample& sample);

struct WriterOptions {
  std::string bucket{};
  std::string name{};
  std::string transaction{};  // 1 to 100 of a-z, 0-9, '-': part of the shards' names
  ShardName shard_name{};
  std::uint64_t shard_bytes = 256 * kMiB;
  std::uint64_t mix_bytes = 512 * kMiB;  // of the reservoir; 0: samples keep their order
  std::uint64_t seed = 0;
  std::string message{};
  bool replaces = false;  // the version is these samples and nothing else
};

class Writer {
 public:
  // The shards' names are made with `rng`, which is not used after that.
  Writer(transfer::Tools& tools, io::Rng& rng, WriterOptions options);
  ~Writer();

  // Returns when there is room for the next one. Errors: bad_request, for a sample that is none;
  // closed, after commit(), abort() or a failure; what the service said of what was sent before.
  rt::Task<void> add(Sample sample);

  // Sends the rest and makes the version. May be called again after an error of the service. If
  // another writer has committed under the transaction, that version is the answer (is_new is
  // false), and what this one sent is removed.
  // Errors: bad_request, when there is no sample; as the service says.
  rt::Task<Committed> commit();

  // Removes what was sent, unless a commit of it may have been made.
  rt::Task<void> abort();

  std::uint64_t samples() const { return samples_; }
  std::uint64_t shard_bytes() const { return shard_bytes_; }
  std::uint64_t shards() const { return keys_.size(); }

 private:
  rt::Task<void> mix(Sample sample);
  rt::Task<void> pack(Sample sample);
  rt::Task<void> finish_shard();
  rt::Task<void> drain();
  rt::Task<Committed> make_version();
  rt::Task<void> remove_shards();

  transfer::Tools& tools_;
  WriterOptions options_;
  std::string id_;  // of all its shards, and of nobody else's
  transfer::Turn turn_;
  bool is_closed_ = false;
  bool may_be_committed_ = false;  // what was sent
  std::uint64_t samples_ = 0;
  std::uint64_t shard_bytes_ = 0;

  std::vector<std::optional<Sample>> held_;  // the reservoir
  std::uint64_t held_bytes_ = 0;
  std::optional<order::Mixer> mixer_;  // once it is full

  std::unique_ptr<ShardStream> shard_;
  std::string last_key_;           // in that shard
  std::vector<std::string> keys_;  // of shards that are there
};

}  // namespace leat::ingest
