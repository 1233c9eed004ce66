// Packing: all shards of a plan on their way to the store, on all cores, and what became of them.
//
// A shard's name says what it is made of, so that one which is there is not sent again: an ingest
// that was interrupted goes on, and writers beside each other never meet. Files that turn out to be
// bad are left out with their whole sample, and told.
//
//   NAME/000007-1f3c….tar
//
// Shard: the first member's. Lifetime: run() has returned before it is destroyed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ingest/grouping.h"
#include "ingest/plan.h"
#include "ingest/shard_image.h"
#include "ingest/shard_name.h"
#include "s3client/operations.h"
#include "transfer/group.h"
#include "transfer/tools.h"

namespace leat::ingest {

struct PackOptions {
  std::string bucket{};
  std::string prefix{};  // the dataset's name
  ShardName shard_name{};
  bool sends_everything = false;   // also what is there
  bool verifies = false;           // read back and compare
  std::size_t shards_at_once = 2;  // of each core
};

// One shard, as it came to be.
struct PackedShard {
  std::string key{};  // empty: nothing was left of it
  std::string identity{};
  std::uint64_t samples = 0;
  std::uint64_t size_bytes = 0;
  bool was_there = false;
  std::vector<BadGroup> bad{};
};

class Packing {
 public:
  // Lifetime: the members, the catalog and the plan outlive it. Requires: there is a member.
  Packing(std::vector<transfer::Tools*> members, const Catalog& catalog, const Plan& plan,
          PackOptions options);

  // In the order of the plan. Errors: what the service says; corrupt, when what was read back is
  // not what was sent.
  rt::Task<std::vector<PackedShard>> run();

 private:
  rt::Shard& home() const { return members_.front()->shard; }
  rt::Task<void> work(transfer::Tools& tools);
  rt::Task<PackedShard> pack(transfer::Tools& tools, std::size_t number);
  rt::Task<bool> is_there(transfer::Tools& tools, s3client::ObjectName name,
                          const ShardImage& image);
  rt::Task<bool> send(transfer::Tools& tools, s3client::ObjectName name, const ShardImage& image,
                      PackedShard& shard);
  rt::Task<void> leave_out(transfer::Tools& tools, const ShardImage& image, BadGroup first,
                           std::vector<BadGroup>& bad);
  rt::Task<void> verify(transfer::Tools& tools, s3client::ObjectName name,
                        const hash::ChecksumValue& checksum);

  std::vector<transfer::Tools*> members_;
  const Catalog& catalog_;
  const Plan& plan_;
  PackOptions options_;
  std::vector<PackedShard> done_;
  std::size_t next_ = 0;
  transfer::Group workers_;
};

}  // namespace leat::ingest
