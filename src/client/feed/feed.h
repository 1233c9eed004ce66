// Feed: the batches of an epoch, read ahead of time by its plan.
//
//   plan → cells (blocks, or rows) fetched on lanes → samples found → batches filled → next()
//
// Who calls next() waits only if the batch is not there yet. Everything has a bound: cells and
// batches that are held (memory_bytes), requests in flight. Each sample comes exactly once
// and in the order of the plan, or next() says why not.
//
// Threads: next() and the destructor belong to one thread at a time, which is no shard's; cancel()
// and report() may come from any. Threads of its own start with the first next().
// Lifetime: what the lanes refer to outlives it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "feed/batch.h"
#include "feed/block_source.h"
#include "feed/planner.h"
#include "io/clock.h"
#include "local/local_shards.h"
#include "rt/shard.h"
#include "s3client/s3client.h"

namespace leat::feed {

// Where requests are made from.
struct Lane {
  rt::Shard& shard;
  s3client::S3Client& client;  // for rows
  BlockSource& blocks;         // for blocks
  // Open files of a node on the same machine, if it lets us have them: blocks come from there.
  local::LocalObjects* local = nullptr;
};

struct FeedOptions {
  std::vector<Source> sources{};
  PlanOptions plan{};
  Filler::Options fill{};
  std::optional<Reading> reading{};  // nothing: what is likely to be faster
  // Of cells and of batches that are filled; 0: two windows and a bit, and the batches (budget.h).
  std::uint64_t memory_bytes = 0;
  // What the machine has: if nothing was said, half of it is the most. 0: nobody knows.
  std::uint64_t machine_bytes = 0;
  // Where their memory comes from and goes to. Others may use it, too.
  std::shared_ptr<PieceShelf> shelf = std::make_shared<PieceShelf>();
  bool skips_errors = false;
  std::uint64_t errors_max = 100;
  Duration patience = std::chrono::seconds(30);
};

// A failure, and where: JSON of dataset, shard, offset, sample and row as far as they are known.
struct Failure {
  Error error;
  std::string place{};
  bool is_decode = false;  // a sample came, and is not what it should be
};

// How many batches a rank and worker gets, and how many samples an epoch has.
struct FeedCounts {
  std::uint64_t batches = 0;
  std::uint64_t samples = 0;
};
// Errors: bad_request, for options that cannot be.
Result<FeedCounts> count_batches(const FeedOptions& options);

class Pipeline;

// A batch goes back to be used again when it is freed, or is deleted with what keeps it.
struct GiveBack {
  std::shared_ptr<Pipeline> pipeline{};
  std::shared_ptr<const void> keep{};  // what owns the batch, if somebody else than its handle does
  void operator()(Batch* batch) const;
};
using BatchHandle = std::unique_ptr<Batch, GiveBack>;

class Feed {
 public:
  // Errors: bad_request, for options that cannot be.
  static Result<std::unique_ptr<Feed>> open(std::vector<Lane> lanes, io::Clock& clock,
                                            FeedOptions options);
  // Requires: whoever reads for a lane has been interrupted, or reads will end by themselves.
  ~Feed();

  // The next batch, or nothing at the end of the epoch. With a limit: Errc::timeout if it is not
  // there by then, and the same call goes on waiting for it.
  std::expected<BatchHandle, Failure> next(std::optional<Duration> limit = {});

  // Wakes who waits in next(), now and from then on.
  void cancel();

  // Where time went, as JSON.
  std::string report() const;

 private:
  explicit Feed(std::shared_ptr<Pipeline> pipeline) : pipeline_(std::move(pipeline)) {}

  std::shared_ptr<Pipeline> pipeline_;
};

// How a feed with these options would read, and why: what is likely to move fewer bytes.
Reading choose_reading(const FeedOptions& options);

}  // namespace leat::feed
