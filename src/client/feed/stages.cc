#include "feed/stages.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace leat::feed {
namespace {

using nlohmann::json;

// Waiting less than this share of the time is as good as not waiting.
constexpr double kNoWait = 0.05;

double seconds(const std::atomic<std::uint64_t>& ns) {
  return static_cast<double>(ns.load(std::memory_order_relaxed)) / 1e9;
}

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

struct Verdict {
  std::string_view what;
  std::string_view fix;
};

Verdict verdict_of(const Stages& stages, double wait_share, const FeedShape& shape) {
  if (wait_share < kNoWait) {
    return {"consumer", "batches wait for the training loop: the input is not what slows it"};
  }
  if (stages.wait_fetch_ns >= stages.wait_fill_ns) {
    if (stages.local_bytes > stages.fetched_bytes / 2) {
      return {"disk",
              "batches wait for files of this machine's node: give it faster disks, or memory that "
              "holds the dataset, and the loader more threads; `leat top` shows whether its disks "
              "are busy"};
    }
    return {"network",
            shape.reads_blocks
                ? "batches wait for bytes: raise memory_bytes so that more blocks are fetched "
                  "ahead, run the job on the machine of a node, or add nodes; `leat top` shows "
                  "whether the node's disks or its network are busy"
                : "batches wait for single samples: shuffle=\"block\" reads whole blocks instead"};
  }
  if (shape.decodes) {
    return {"decode",
            "decoding is what batches wait for: give the loader more threads, store smaller "
            "images, or ask for fewer fields"};
  }
  return {"decode", "batches wait for memory copies: give the loader more threads"};
}

}  // namespace

std::string report_of(const Stages& stages, const FeedShape& shape) {
  const double wait_fetch = seconds(stages.wait_fetch_ns);
  const double wait_fill = seconds(stages.wait_fill_ns);
  const double wait = wait_fetch + wait_fill;
  const double wall = wait + seconds(stages.away_ns);
  const auto samples = static_cast<double>(stages.samples.load());
  const auto bytes = static_cast<double>(stages.fetched_bytes.load());
  const auto fetches = static_cast<double>(stages.fetches.load());
  const double share = ratio(wait, wall);
  const Verdict verdict = verdict_of(stages, share, shape);
  const json document = {
      {"batches", stages.batches.load()},
      {"samples", stages.samples.load()},
      {"errors", stages.errors.load()},
      {"seconds", wall},
      {"samples_per_second", ratio(samples, wall)},
      {"wait_share", share},
      {"first_batch_seconds", seconds(stages.first_batch_ns)},
      {"stages",
       {{"plan", {{"seconds", seconds(stages.plan_ns)}}},
        {"fetch",
         {{"seconds", seconds(stages.fetch_ns)},
          {"requests", stages.fetches.load()},
          {"bytes", stages.fetched_bytes.load()},
          {"local_bytes", stages.local_bytes.load()},
          {"bytes_per_second", ratio(bytes, wall)},
          {"latency_seconds", ratio(seconds(stages.fetch_ns), fetches)},
          {"consumer_waited_seconds", wait_fetch}}},
        {"split", {{"seconds", seconds(stages.split_ns)}}},
        {shape.decodes ? "decode" : "assemble",
         {{"seconds", seconds(stages.fill_ns)}, {"consumer_waited_seconds", wait_fill}}},
        {"consumer", {{"seconds", seconds(stages.away_ns)}}}}},
      {"reads", shape.reads_blocks ? "blocks" : "rows"},
      {"threads", shape.threads},
      {"requests_at_once", shape.depth},
      {"memory_bytes", shape.memory_bytes},
      {"memory_most_bytes", shape.memory_most_bytes},
      {"verdict", verdict.what},
      {"fix", verdict.fix}};
  return document.dump();
}

}  // namespace leat::feed
