// The part of a Pipeline that asks lanes for bytes.
#include <fmt/format.h>

#include "feed/pipeline.h"
#include "feed/rows.h"

namespace leat::feed {
namespace {

// A row is read with the blocks of 64 KiB that its ends lie in, to verify them: below this size a
// batch request costs less.
constexpr std::uint64_t kLocalRowMin = 16 * kKiB;

// Whether it is worth opening the files that a cell is in. Rows may be in all files of a dataset:
// if these cannot stay open, every row would open one.
bool pays_locally(const Cell& cell, const local::LocalObjects& local) {
  if (cell.spans.empty()) return false;
  if (cell.is_block) return true;
  const dataset::DatasetFacts& facts = cell.source.dataset->facts();
  return cell.size_bytes / cell.spans.size() >= kLocalRowMin &&
         local.can_keep(facts.shards, facts.bytes);
}

}  // namespace

rt::Task<bool> Pipeline::open_local(Cell& cell, Lane& lane) {
  if (lane.local == nullptr || cell.local_error || !lane.local->is_within_reach()) co_return false;
  if (!pays_locally(cell, *lane.local)) co_return false;
  for (const Span& span : cell.spans) {
    if (cell.local.contains(span.shard)) continue;
    LEAT_CO_TRY(const snapshot::ShardEntry shard, cell.source.dataset->view().shard(span.shard));
    s3client::ObjectName name{shard.bucket, shard.key};
    auto opened = co_await lane.local->open(std::move(name), shard.etag);
    // What cannot be had so comes over the network, with its errors.
    if (!opened || *opened == nullptr) {
      cell.local.clear();
      co_return false;
    }
    cell.local.emplace(span.shard, *std::move(opened));
  }
  co_return true;
}

rt::Task<void> Pipeline::fetch_block(Cell& cell, Lane& lane) {
  const Span span = cell.spans.front();
  LEAT_CO_TRY(const snapshot::ShardEntry shard, cell.source.dataset->view().shard(span.shard));
  const MutableBytes target(cell.piece.data(), cell.size_bytes);
  Status read = co_await lane.blocks.read(shard, span.offset, target, is_cancelled_);
  if (read) co_return Status{};
  std::string text = fmt::format("{}/{}, {} bytes from {}: {}", shard.bucket, shard.key,
                                 span.size_bytes, span.offset, read.error().detail());
  if (cell.local_error) {
    text += fmt::format("; and in the node's own file: {}", cell.local_error->detail());
  }
  // Over S3 damage is an internal error like any other; who has seen it here knows better.
  const bool is_damaged = cell.local_error && cell.local_error->code() == Errc::corrupt;
  co_return fail(is_damaged ? Errc::corrupt : read.error().code(), std::move(text));
}

rt::Task<void> Pipeline::fetch_rows(Cell& cell, Lane& lane) {
  RowsReading reading{.client = lane.client,
                      .clock = clock_,
                      .patience = options_.patience,
                      .is_cancelled = &is_cancelled_};
  co_return co_await read_rows(cell, std::move(reading));
}

rt::Task<void> Pipeline::fetch_bytes(Cell& cell, Lane& lane) {
  LEAT_CO_TRY(const bool is_local, co_await open_local(cell, lane));
  if (is_local) co_return Status{};
  if (cell.is_block) co_return co_await fetch_block(cell, lane);
  co_return co_await fetch_rows(cell, lane);
}

rt::Task<void> Pipeline::fetch(std::shared_ptr<Cell> cell, Lane& lane) {
  // The task keeps all of it alive.
  const std::shared_ptr<Pipeline> self = shared_from_this();
  const Instant begin = clock_.now();
  if (!cell->local_error) cell->fetch_began = begin;
  Status got;
  {
    const Stopwatch watch(clock_, stages_.fetch_ns);
    if (cell->piece.is_empty()) {
      got = no_memory(cell->size_bytes);
    } else {
      got = co_await fetch_bytes(*cell, lane);
    }
  }
  ++stages_.fetches;
  const bool is_local = !cell->local.empty();
  if (got && !is_local) stages_.fetched_bytes += cell->size_bytes;
  const bool is_split = got && (cell->is_block || is_local);
  // It is there when a thread of the pool has split it, or read it if it is a local one.
  const std::uint64_t came_bytes = got && !is_split ? cell->size_bytes : 0;
  bool is_over = false;
  state_.with([&](State& state) {
    is_over = state.is_closed;
    if (!is_over && is_split) {
      ++state.splitting;
      submit([this, cell] { split(cell); });
    }
    return false;
  });
  if (!is_over && !is_split) settle(cell, std::move(got));
  // Last of all: who closes goes on now.
  cell.reset();
  state_.with([&](State& state) {
    --state.in_flight;
    if (came_bytes > 0) state.depth.note_fetch(begin, clock_.now(), came_bytes);
    pump(state);
    return true;
  });
  co_return Status{};
}

}  // namespace leat::feed
