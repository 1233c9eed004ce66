// Dataset: one version of a dataset, as a client holds it: what it is, and its snapshot in memory.
//
//   LEAT_CO_TRY(const auto dataset, co_await open_dataset(client, "imagenet/train@7"));
//   LEAT_TRY(const auto row, dataset->view().find("000123"));
//
// Immutable, and nothing but memory: share it between threads, keep it after a fork. Every page of
// the snapshot was verified when it came.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "s3client/s3client.h"
#include "snapshot/view.h"

namespace leat::dataset {

struct DatasetFacts {
  std::string name{};  // "BUCKET/NAME"
  std::uint64_t version = 0;
  std::string fingerprint{};  // of the snapshot, as the service writes it
  std::uint64_t samples = 0;
  std::uint64_t shards = 0;
  std::uint64_t bytes = 0;
  std::uint64_t snapshot_bytes = 0;
  std::uint64_t committed_ms = 0;
  std::string message{};
  std::vector<std::string> fields{};

  // "BUCKET/NAME@7": this version and no other.
  std::string reference() const { return name + '@' + std::to_string(version); }
};

// Errors: io, when it is not what the service says of a dataset.
Result<DatasetFacts> parse_facts(std::string_view json);

class Dataset {
 public:
  // Errors: corrupt; conflict, when the snapshot is not the one that the facts are about.
  static Result<std::shared_ptr<const Dataset>> open(DatasetFacts facts,
                                                     std::vector<std::byte> bytes);

  const DatasetFacts& facts() const { return facts_; }
  const snapshot::View& view() const { return view_; }

 private:
  Dataset(DatasetFacts facts, std::vector<std::byte> bytes, snapshot::View view)
      : facts_(std::move(facts)), bytes_(std::move(bytes)), view_(std::move(view)) {}

  DatasetFacts facts_;
  std::vector<std::byte> bytes_;
  snapshot::View view_;  // of bytes_
};

// The tar of what a version has of one of its shards, which is read as objects are: deleted samples
// are left out, and plain objects that were adopted stand side by side.
s3client::ObjectName virtual_shard(const DatasetFacts& facts, std::uint32_t number);

// "BUCKET/NAME", with "@7", "@tag" or "@2026-11-01" behind it, "leat://" before it.
// Lifetime: the client outlives the task.
// Errors: bad_request, not_found, denied; corrupt.
rt::Task<DatasetFacts> describe_dataset(s3client::S3Client& client, std::string reference);
rt::Task<std::shared_ptr<const Dataset>> open_dataset(s3client::S3Client& client,
                                                      std::string reference);

}  // namespace leat::dataset
