// read_batch(): many items in one request, each with its own outcome (docs/reference/datasets.md).
//
//   BatchQuery query{.shared = R"("dataset":"imagenet/train@7","fields":["cls"])"};
//   query.items = {R"({"row":5})", R"({"row":2})"};
//   LEAT_CO_DO(co_await read_batch(client, query, visit));
//
// An answer that breaks off is resumed: the items that have not come are asked for again. So the
// visitor sees each item exactly once, in order, or the task fails.
//
// Shard: the client's.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "frames/frames.h"
#include "s3client/s3client.h"

namespace leat::dataset {

constexpr std::size_t kBatchItemsMax = 100'000;

struct BatchQuery {
  std::string shared{};              // what holds for all items, as members of a JSON object
  std::vector<std::string> items{};  // JSON objects; at most kBatchItemsMax
  Duration patience = std::chrono::seconds(30);     // without an item of progress
  const std::atomic<bool>* is_cancelled = nullptr;  // ends it early, with Errc::cancelled
};

// Gets the number of an item and its frame: bytes, a sample, or an error. An error that it returns
// ends the task.
using BatchVisit = std::function<Status(std::size_t item, frames::Frame frame)>;

// Lifetime: all three outlive the task.
// Errors: what the service says of the request as a whole, corrupt, and what the visitor returns.
rt::Task<void> read_batch(s3client::S3Client& client, const BatchQuery& query,
                          const BatchVisit& visit);

// What an error frame says.
Error error_in(const frames::Frame& frame);

}  // namespace leat::dataset
