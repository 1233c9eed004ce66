#include "feed/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "feed/place.h"

namespace leat::feed {
namespace {

constexpr std::uint64_t kPlannedMax = 4 << 20;  // samples ahead of the consumer
constexpr std::size_t kJobsMax = 1 << 20;

}  // namespace

Pipeline::Pipeline(std::vector<Lane> lanes, io::Clock& clock, FeedOptions options, Reading reading)
    : lanes_(std::move(lanes)),
      clock_(clock),
      options_(std::move(options)),
      reading_(reading),
      budget_(budget_of(options_, reading)),
      threads_(options_.fill.threads),
      store_(options_.shelf),
      filler_(options_.fill, options_.shelf),
      planner_(options_.sources, options_.plan, reading, store_) {
  // Batches that are filled, and as many that the user still has.
  options_.shelf->allow(budget_.cells_bytes + 2 * budget_.batches * budget_.batch_bytes);
  state_.with([this](State& state) {
    state.depth = Depth(budget_.cells_bytes);
    return false;
  });
}

// Taking the next batch.

void Pipeline::start_threads() {
  began_ = clock_.now();
  // One more, which plans while the others fill.
  pool_ = std::make_unique<rt::BlockingPool>("leat-feed", threads_ + 1, kJobsMax);
  state_.with([this](State& state) {
    pump(state);
    return false;
  });
}

std::expected<BatchHandle, Failure> Pipeline::next(std::optional<Duration> limit) {
  if (!pool_) start_threads();
  const Instant begin = clock_.now();
  const bool is_new = !std::exchange(goes_on_waiting_, false);
  if (left_) stages_.away_ns += static_cast<std::uint64_t>((begin - *left_).count());
  bool waits_for_fill = false;
  state_.with([&](State& state) {
    const bool is_there = !state.line.empty() && state.line.front()->state == Batch::State::ready;
    waits_for_fill = !state.line.empty() && state.line.front()->missing == 0;
    // Who waits for bytes while all requests are under way may be helped by more of them.
    const bool is_at_depth = state.in_flight + state.splitting >= state.depth.now();
    if (is_new && !is_there && !waits_for_fill && left_ && is_at_depth) state.depth.note_starved();
    return false;
  });
  std::expected<BatchHandle, Failure> result;
  const auto is_over = [](const State& state) {
    if (state.is_cancelled || state.failure) return true;
    if (state.line.empty()) return state.is_planned && !state.is_planning;
    return state.line.front()->state == Batch::State::ready;
  };
  const auto take = [&](State& state) { result = take_first(state); };
  if (!limit) {
    state_.wait(is_over, take);
  } else if (!state_.wait_for(*limit, is_over, take)) {
    goes_on_waiting_ = true;
    result = std::unexpected(Failure{Error(Errc::timeout, "the next batch is not there yet")});
  }
  const Instant end = clock_.now();
  // What came was waited for as bytes until it could be filled, and then as a batch.
  Instant filled_from = waits_for_fill ? begin : end;
  if (result && *result) filled_from = std::clamp((*result)->filled_from, begin, end);
  stages_.wait_fetch_ns += static_cast<std::uint64_t>((filled_from - begin).count());
  stages_.wait_fill_ns += static_cast<std::uint64_t>((end - filled_from).count());
  if (!left_ && goes_on_waiting_) return result;
  if (!left_) stages_.first_batch_ns = static_cast<std::uint64_t>((end - *began_).count());
  left_ = end;
  return result;
}

std::expected<BatchHandle, Failure> Pipeline::take_first(State& state) {
  if (state.is_cancelled) {
    return std::unexpected(Failure{Error(Errc::cancelled, "the loader was cancelled")});
  }
  if (!state.failure && state.line.empty()) return BatchHandle();
  if (!state.failure && state.line.front()->error) {
    Batch& first = *state.line.front();
    state.failure =
        Failure{std::move(*first.error), std::move(first.error_place), first.error_is_decode};
  }
  if (state.failure) {
    return std::unexpected(
        Failure{state.failure->error.clone(), state.failure->place, state.failure->is_decode});
  }
  BatchHandle batch(state.line.front().release(), GiveBack{.pipeline = shared_from_this()});
  state.line.pop_front();
  state.planned_samples -= batch->picks.size();
  --state.filling;
  ++stages_.batches;
  stages_.samples += batch->size();
  pump(state);
  return batch;
}

void GiveBack::operator()(Batch* batch) const {
  if (keep) return;
  std::unique_ptr<Batch> owned(batch);
  if (pipeline) pipeline->give_back(std::move(owned));
}

void Pipeline::give_back(std::unique_ptr<Batch> batch) {
  batch->clear();
  Columns columns = std::move(batch->columns);
  batch->columns.clear();
  state_.with([&](State& state) {
    if (state.is_closed) return false;
    if (state.free_columns.size() <= budget_.batches) {
      state.free_columns.push_back(std::exchange(columns, {}));
    }
    if (state.free.size() <= budget_.batches) state.free.push_back(std::move(batch));
    return false;
  });
  recycle(std::move(columns));
}

void Pipeline::recycle(Columns columns) {
  for (Column& column : columns)
    options_.shelf->give_back(std::move(column.piece));
}

void Pipeline::cancel() {
  is_cancelled_ = true;
  state_.with([](State& state) {
    state.is_cancelled = true;
    return true;
  });
}

void Pipeline::close() {
  cancel();
  state_.with([](State& state) {
    state.is_closed = true;
    state.wanted.clear();
    return true;
  });
  state_.wait([](const State& state) { return state.in_flight == 0; }, [](State&) {});
  pool_.reset();
  std::deque<std::unique_ptr<Batch>> line;
  std::vector<Columns> free_columns;
  state_.with([&](State& state) {
    line.swap(state.line);
    free_columns.swap(state.free_columns);
    state.free.clear();
    return false;
  });
  for (const std::unique_ptr<Batch>& batch : line)
    recycle(std::move(batch->columns));
  for (Columns& columns : free_columns)
    recycle(std::move(columns));
}

// What comes next, under the lock.

void Pipeline::submit(rt::BlockingPool::Job job) {
  const Status queued = pool_->submit(std::move(job));
  LEAT_CHECK(queued.has_value());
}

void Pipeline::pump(State& state) {
  if (state.is_closed || state.is_cancelled || state.failure || !pool_) return;
  start_fetches(state);
  start_fills(state);
  start_planning(state);
}

bool Pipeline::may_plan(const State& state) const {
  return !state.is_closed && !state.is_cancelled && !state.failure && !state.is_planned &&
         state.wanted.size() < state.depth.now() && state.planned_samples < kPlannedMax;
}

void Pipeline::start_planning(State& state) {
  if (state.is_planning || !may_plan(state)) return;
  state.is_planning = true;
  submit([this] { plan(); });
}

void Pipeline::start_fetches(State& state) {
  // What waits for a thread, or is read by one, counts: else local files, which are opened at once,
  // would all be queued there.
  while (!state.wanted.empty() && state.in_flight + state.splitting < state.depth.now()) {
    Cell& cell = *state.wanted.front();
    const bool is_stuck = state.in_flight == 0 && state.splitting == 0 && !state.line.empty() &&
                          state.line.front()->missing > 0;
    const std::uint64_t bytes = Piece::rounded(cell.size_bytes);
    if (store_.lent_bytes() + bytes > budget_.cells_bytes && !is_stuck) return;
    cell.piece = store_.take(cell.size_bytes);
    cell.state = Cell::State::fetching;
    start_fetch(state, std::move(state.wanted.front()));
    state.wanted.pop_front();
  }
}

void Pipeline::start_fetch(State& state, std::shared_ptr<Cell> cell) {
  ++state.in_flight;
  Lane& lane = lanes_[state.next_lane++ % lanes_.size()];
  auto begin = [self = shared_from_this(), wanted = std::move(cell), &lane]() mutable {
    lane.shard.spawn(self->fetch(std::move(wanted), lane), [](const Status&) {});
  };
  const Status told = lane.shard.deliver(std::move(begin));
  LEAT_CHECK(told.has_value());
}

void Pipeline::start_fills(State& state) {
  const std::size_t last = std::min(state.line.size(), budget_.batches);
  for (std::size_t i = 0; i < last; ++i) {
    Batch& batch = *state.line[i];
    if (batch.state != Batch::State::planned || batch.missing > 0) continue;
    batch.state = Batch::State::filling;
    batch.filled_from = clock_.now();
    ++state.filling;
    submit([this, &batch] { fill(batch); });
  }
}

void Pipeline::line_up(State& state, std::unique_ptr<Batch> batch,
                       std::vector<std::shared_ptr<Cell>>& fresh) {
  for (const std::shared_ptr<Cell>& cell : batch->cells) {
    if (cell->state == Cell::State::ready || cell->state == Cell::State::failed) continue;
    cell->waiting.push_back(batch.get());
    ++batch->missing;
  }
  for (std::shared_ptr<Cell>& cell : fresh)
    state.wanted.push_back(std::move(cell));
  fresh.clear();
  state.planned_samples += batch->picks.size();
  state.line.push_back(std::move(batch));
}

// Planning.

void Pipeline::plan() {
  std::vector<std::shared_ptr<Cell>> fresh;
  while (true) {
    std::unique_ptr<Batch> batch;
    bool goes_on = false;
    state_.with([&](State& state) {
      goes_on = may_plan(state);
      state.is_planning = goes_on;
      if (!state.free.empty()) {
        batch = std::move(state.free.back());
        state.free.pop_back();
      }
      return !goes_on;
    });
    if (!goes_on) return;
    if (!batch) batch = std::make_unique<Batch>();
    Result<bool> planned = false;
    {
      const Stopwatch watch(clock_, stages_.plan_ns);
      planned = planner_.next(*batch, fresh);
    }
    state_.with([&](State& state) {
      if (!planned) {
        const std::string& name = options_.sources.front().dataset->facts().name;
        state.failure = Failure{
            Error(planned.error().code(), fmt::format("{}: {}", name, planned.error().detail())),
            nlohmann::json{{"dataset", name}}.dump()};
      }
      if (!planned || !*planned) {
        state.is_planned = true;
      } else {
        line_up(state, std::move(batch), fresh);
      }
      pump(state);
      return !planned || !*planned;
    });
  }
}

// Cells that have come.

void Pipeline::split(const std::shared_ptr<Cell>& cell) {
  if (is_cancelled_) return;  // nobody takes a batch any more, and who closes waits for this
  Status at_hand;
  if (!cell->local.empty()) at_hand = read_local(*cell);
  if (!at_hand) {
    // Damage, above all: the service sees it, too, and has other copies perhaps.
    cell->local.clear();
    cell->local_error = std::move(at_hand).error();
    state_.with([&](State& state) {
      --state.splitting;
      if (!state.is_closed) start_fetch(state, cell);
      return false;
    });
    return;
  }
  Status found;
  if (cell->is_block) {
    const Stopwatch watch(clock_, stages_.split_ns);
    found = find_extents(*cell);
  }
  cell->local.clear();
  state_.with([&](State& state) {
    --state.splitting;
    state.depth.note_fetch(cell->fetch_began, clock_.now(), cell->size_bytes);
    return false;
  });
  settle(cell, std::move(found));
}

Status Pipeline::read_local(Cell& cell) {
  const Stopwatch watch(clock_, stages_.fetch_ns);
  const MutableBytes target(cell.piece.data(), cell.size_bytes);
  for (const Span& span : cell.spans) {
    const MutableBytes part = target.subspan(span.at, span.size_bytes);
    LEAT_DO(cell.local.at(span.shard)->read(span.offset, part));
  }
  stages_.fetched_bytes += cell.size_bytes;
  stages_.local_bytes += cell.size_bytes;
  return {};
}

void Pipeline::settle(const std::shared_ptr<Cell>& cell, Status status) {
  if (!status) {
    // What is not there is lacking in every slot; whoever needs it hears of the error.
    cell->extents.assign(cell->slots() * cell->source.fields.size(), Extent{});
  }
  state_.with([&](State& state) {
    cell->state = status ? Cell::State::ready : Cell::State::failed;
    if (!status) cell->error = std::move(status).error();
    for (Batch* batch : cell->waiting)
      --batch->missing;
    cell->waiting.clear();
    pump(state);
    return false;
  });
}

// Filling.

void Pipeline::note_lost(Batch& batch) {
  for (std::size_t i = 0; i < batch.picks.size(); ++i) {
    const Pick pick = batch.picks[i];
    const Cell& cell = *batch.cells[pick.cell];
    if (!cell.is_lost(pick.slot)) continue;
    note_fault(batch, i, cell.error ? *cell.error : cell.lost.at(pick.slot));
    if (!options_.skips_errors) return;
  }
}

void Pipeline::fill(Batch& batch) {
  if (is_cancelled_) return;
  note_lost(batch);
  state_.with([&](State& state) {
    if (state.free_columns.empty()) return false;
    batch.columns = std::move(state.free_columns.back());
    state.free_columns.pop_back();
    return false;
  });
  if (batch.columns.empty()) batch.columns = filler_.new_columns();
  if (Status laid_out = filler_.lay_out(batch); !laid_out) {
    batch.error = std::move(laid_out).error();
    return finish(batch);
  }
  const std::size_t count = batch.picks.size();
  const std::size_t each = filler_.part_size(batch);
  const std::size_t parts = std::max<std::size_t>(1, (count + each - 1) / each);
  batch.parts_left = parts;
  if (parts > 1) {
    state_.with([&](const State& state) {
      if (state.is_closed) return false;  // nobody needs them
      for (std::size_t part = 1; part < parts; ++part) {
        const std::size_t first = part * each;
        submit([this, &batch, first, last = std::min(count, first + each)] {
          fill_part(batch, first, last);
        });
      }
      return false;
    });
  }
  fill_part(batch, 0, std::min(count, each));
}

void Pipeline::fill_part(Batch& batch, std::size_t first, std::size_t last) {
  if (is_cancelled_) return;
  std::optional<decode::Scratch> scratch;
  state_.with([&](State& state) {
    if (state.scratches.empty()) return false;
    scratch.emplace(std::move(state.scratches.back()));
    state.scratches.pop_back();
    return false;
  });
  if (!scratch) scratch.emplace();
  std::vector<Filler::Fault> faults;
  {
    const Stopwatch watch(clock_, stages_.fill_ns);
    filler_.fill(batch, first, last, *scratch, faults);
  }
  for (const Filler::Fault& fault : faults) {
    const std::string& field = options_.fill.columns[fault.column].field;
    note_fault(batch, fault.sample,
               Error(Errc::bad_request, fmt::format("field {}: {}", field, fault.error.detail())),
               /*is_decode=*/true);
  }
  state_.with([&](State& state) {
    state.scratches.push_back(std::move(*scratch));
    return false;
  });
  if (batch.parts_left.fetch_sub(1) == 1) finish(batch);
}

void Pipeline::finish(Batch& batch) {
  if (Status keyed = filler_.fill_keys(batch); !keyed) note_fault(batch, 0, keyed.error());
  if (!batch.error) Filler::drop(batch);
  std::vector<std::shared_ptr<Cell>> done;
  done.swap(batch.cells);
  done.clear();  // their memory is free before anybody looks for some
  state_.with([&](State& state) {
    batch.state = Batch::State::ready;
    const bool is_first = !state.line.empty() && state.line.front().get() == &batch;
    pump(state);
    return is_first;
  });
}

void Pipeline::note_fault(Batch& batch, std::size_t sample, const Error& error, bool is_decode) {
  const std::uint64_t errors = ++stages_.errors;
  const bool is_skipped = options_.skips_errors && errors <= options_.errors_max;
  const dataset::Dataset& dataset = *batch.cells[batch.picks[sample].cell]->source.dataset;
  const auto row = static_cast<snapshot::Row>(batch.rows[sample]);
  std::string place = is_skipped ? "" : place_of(dataset, row);
  state_.with([&](const State&) {
    if (is_skipped) {
      batch.dropped.resize(batch.picks.size());
      batch.dropped[sample] = 1;
    } else if (!batch.error) {
      std::string text =
          fmt::format("{}, row {}: {}", dataset.facts().reference(), row, error.detail());
      if (options_.skips_errors) text += fmt::format("; {} samples failed before", errors - 1);
      batch.error.emplace(error.code(), std::move(text));
      batch.error_place = std::move(place);
      batch.error_is_decode = is_decode;
    }
    return false;
  });
}

std::string Pipeline::report() const {
  const auto decodes = [](const ColumnOptions& c) { return c.decode.to != decode::To::bytes; };
  FeedShape shape{.reads_blocks = reading_ == Reading::blocks,
                  .decodes = std::ranges::any_of(options_.fill.columns, decodes),
                  .threads = threads_,
                  .memory_bytes = budget_.total_bytes,
                  .memory_most_bytes = store_.lent_most_bytes()};
  state_.with([&shape](const State& state) {
    shape.depth = state.depth.now();
    return false;
  });
  return report_of(stages_, shape);
}

}  // namespace leat::feed
