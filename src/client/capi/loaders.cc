// Loaders, and orders without one.
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "capi/handles.h"
#include "capi/loader_options.h"
#include "feed/http_block_source.h"
#include "feed/stages.h"
#include "io/descriptor_limit.h"
#include "io/machine_memory.h"

namespace leat::capi {
namespace {

constexpr std::size_t kThreadsMax = 16;  // unless somebody asks for more
constexpr std::uint64_t kTimeoutMaxMs = 24ULL * 3600 * 1000;

// Of what the process may have, so much is for files of a node on this machine.
constexpr std::uint64_t kDescriptorsShare = 4;
constexpr std::uint64_t kDescriptorsMax = 8192;

leat::local::LocalOptions local_options() {
  const std::uint64_t most = leat::io::descriptor_limit() / kDescriptorsShare;
  return {.descriptors_max = std::min(most, kDescriptorsMax)};
}

std::size_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace
}  // namespace leat::capi

// Connections and threads are made at the first batch. Freed in the order: feed, links, session.
struct leat_loader {
  std::shared_ptr<leat::session::Session> session{};
  pid_t owner = 0;
  leat::feed::FeedOptions options{};  // until the feed is made
  leat::feed::FeedCounts counts{};
  std::vector<std::unique_ptr<leat::session::Link>> links{};
  std::vector<std::unique_ptr<leat::feed::BlockSource>> blocks{};
  std::vector<std::unique_ptr<leat::local::LocalShards>> local{};
  std::unique_ptr<leat::feed::Feed> feed{};
  std::atomic<leat::feed::Feed*> running{nullptr};
  std::atomic<bool> is_cancelled{false};

  leat::Status start();
  void stop();
};

leat::Status leat_loader::start() {
  LEAT_TRY(links, session->open_links(options.patience));
  std::vector<leat::feed::Lane> lanes;
  for (const auto& link : links) {
    blocks.push_back(
        std::make_unique<leat::feed::HttpBlockSource>(link->client(), options.patience));
    leat::feed::Lane lane{link->shard(), link->client(), *blocks.back()};
    if (session->options().uses_local_files) {
      local.push_back(std::make_unique<leat::local::LocalShards>(
          link->shard(), link->watchdog(), link->client(), leat::capi::local_options()));
      lane.local = local.back().get();
    }
    lanes.push_back(lane);
  }
  leat::io::PosixDisk disk;
  options.machine_bytes = leat::io::machine_memory_bytes(disk);
  LEAT_TRY(feed, leat::feed::Feed::open(std::move(lanes), session->clock(), std::move(options)));
  running = feed.get();
  if (is_cancelled) feed->cancel();
  return {};
}

void leat_loader::stop() {
  if (feed) feed->cancel();
  running = nullptr;
  for (const auto& link : links) {
    // A shard that takes no message has much to do, and reads end a little later then.
    const leat::Status told = link->interrupt();
    static_cast<void>(told);
  }
  feed.reset();
  local.clear();
  blocks.clear();
  for (auto& link : links)
    session->retire(std::move(link));
  links.clear();
}

namespace leat::capi {
namespace {

Outcome<leat_loader*> open_loader(const leat_session* session, DatasetPointers datasets,
                                  const char* text) {
  LEAT_C_TRY(session::Session* const opened, session_of(session));
  LEAT_C_TRY(LoaderOptions options, loader_options(datasets, text));
  options.feed.patience = options.patience.value_or(opened->options().patience);
  options.feed.fill.threads =
      options.threads > 0 ? options.threads : std::min(usable_cores(), kThreadsMax);
  LEAT_C_TRY(const feed::FeedCounts counts, feed::count_batches(options.feed));
  auto loader = std::make_unique<leat_loader>();
  loader->session = session->session;
  loader->owner = getpid();
  loader->options = std::move(options.feed);
  loader->options.shelf = session->shelf;
  loader->counts = counts;
  return loader.release();
}

Outcome<void> check_loader(const leat_loader* loader) {
  if (loader == nullptr) return trouble(LEAT_BAD_REQUEST, "there is no loader");
  if (is_forked(loader->owner)) {
    return trouble(LEAT_FORKED, "the loader was made before this process was forked: make another");
  }
  return {};
}

Outcome<void> next_batch(leat_loader* loader, std::optional<Duration> limit, leat_batch** batch) {
  LEAT_C_DO(check_loader(loader));
  if (!loader->feed) LEAT_C_DO(loader->start());
  LEAT_C_TRY(feed::BatchHandle next, loader->feed->next(limit));
  *batch = next ? new leat_batch{std::move(next), loader->owner} : nullptr;
  return {};
}

Result<std::string> planned_rows(const DatasetPointers& datasets, const char* text,
                                 std::uint64_t first, std::uint64_t count) {
  LEAT_TRY(const LoaderOptions options, loader_options(datasets, text));
  const feed::Order order(options.feed.sources, options.feed.plan);
  if (first > order.size() || count > order.size() - first) {
    return fail(Errc::bad_request,
                "an epoch has " + std::to_string(order.size()) + " positions, and no such ones");
  }
  std::vector<feed::RowCursor> cursors;
  for (const feed::Source& source : options.feed.sources)
    cursors.emplace_back(*source.order);
  std::string bytes;
  bytes.reserve(count * sizeof(std::uint64_t));
  for (std::uint64_t i = 0; i < count; ++i) {
    const feed::Order::At at = order.at(options.feed.plan.epoch, first + i);
    const std::uint64_t row = cursors[at.source].row(at.epoch, at.position);
    bytes.append(reinterpret_cast<const char*>(&row), sizeof(row));
  }
  return bytes;
}

}  // namespace
}  // namespace leat::capi

using namespace leat::capi;

extern "C" {

leat_status leat_loader_open(leat_session* session, const leat_dataset* dataset,
                             const char* options, leat_loader** loader, leat_error** error) {
  return leat_loader_open_mix(session, &dataset, 1, options, loader, error);
}

leat_status leat_loader_open_mix(leat_session* session, const leat_dataset* const* datasets,
                                 size_t count, const char* options, leat_loader** loader,
                                 leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    DatasetPointers all;
    for (std::size_t i = 0; i < count; ++i) {
      if (datasets[i] == nullptr) return trouble(LEAT_BAD_REQUEST, "there is no dataset");
      all.push_back(datasets[i]->dataset);
    }
    if (all.empty()) return trouble(LEAT_BAD_REQUEST, "a mix has at least one dataset");
    LEAT_C_TRY(*loader, open_loader(session, std::move(all), options));
    return {};
  });
}

leat_status leat_loader_next(leat_loader* loader, leat_batch** batch, leat_error** error) {
  return guard(error, [&] { return next_batch(loader, {}, batch); });
}

leat_status leat_loader_next_within(leat_loader* loader, uint64_t timeout_ms, leat_batch** batch,
                                    leat_error** error) {
  const std::chrono::milliseconds limit(std::min<uint64_t>(timeout_ms, kTimeoutMaxMs));
  return guard(error, [&] { return next_batch(loader, limit, batch); });
}

uint64_t leat_loader_batches(const leat_loader* loader) {
  return loader == nullptr ? 0 : loader->counts.batches;
}

uint64_t leat_loader_samples(const leat_loader* loader) {
  return loader == nullptr ? 0 : loader->counts.samples;
}

leat_status leat_loader_report(const leat_loader* loader, leat_buffer** json, leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_DO(check_loader(loader));
    const leat::feed::Feed* const feed = loader->running;
    *json = new_buffer(feed != nullptr ? feed->report() : leat::feed::report_of({}, {}));
    return {};
  });
}

void leat_loader_cancel(leat_loader* loader) {
  if (loader == nullptr || is_left_alone(loader->owner)) return;
  loader->is_cancelled = true;
  if (leat::feed::Feed* const feed = loader->running) feed->cancel();
}

void leat_loader_free(leat_loader* loader) {
  // What belongs to the parent's threads cannot be taken apart without them.
  if (loader == nullptr || is_left_alone(loader->owner)) return;
  loader->stop();
  delete loader;
}

leat_status leat_plan_rows(const leat_dataset* dataset, const char* options, uint64_t first,
                           uint64_t count, leat_buffer** rows, leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    if (dataset == nullptr) return trouble(LEAT_BAD_REQUEST, "there is no dataset");
    LEAT_C_TRY(std::string bytes, planned_rows({dataset->dataset}, options, first, count));
    *rows = new_buffer(std::move(bytes));
    return {};
  });
}

}  // extern "C"
