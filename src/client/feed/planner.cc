#include "feed/planner.h"

#include "base/check.h"

namespace leat::feed {
namespace {

// Passes over a source within one epoch of a mix have orders of their own.
constexpr unsigned kPassBits = 32;

CutOptions from_the_beginning(CutOptions cut) {
  cut.position = 0;
  return cut;
}

}  // namespace

Order::Order(const std::vector<Source>& sources, const PlanOptions& options) : sources_(sources) {
  if (sources.size() == 1 && options.weights.empty()) {
    size_ = sources.front().order->size();
    return;
  }
  LEAT_CHECK(options.weights.size() == sources.size());
  mix_.emplace(options.weights);
  std::vector<std::uint64_t> sizes;
  bool is_empty = false;
  for (const Source& source : sources) {
    sizes.push_back(source.order->size());
    is_empty = is_empty || sizes.back() == 0;
  }
  if (!is_empty) size_ = options.samples.value_or(mix_->until_used_up(sizes));
}

Order::At Order::at(std::uint64_t epoch, std::uint64_t position) const {
  position %= size_;
  if (!mix_) return {.source = 0, .epoch = epoch, .position = position};
  const order::Proportions::Pick pick = mix_->at(position);
  const std::uint64_t size = sources_[pick.source].order->size();
  return {.source = pick.source,
          .epoch = epoch + (pick.number / size << kPassBits),
          .position = pick.number % size};
}

void RowCursor::enter(std::uint64_t epoch) {
  if (epoch_ && number_ == epoch) return;
  epoch_.emplace(order_.epoch(epoch));
  number_ = epoch;
  window_number_.reset();
}

order::Place RowCursor::place(std::uint64_t epoch, std::uint64_t position) {
  enter(epoch);
  const bool is_inside = window_number_ && position >= epoch_->window_begin(*window_number_) &&
                         position < epoch_->window_begin(*window_number_ + 1);
  if (!is_inside) {
    window_number_ = epoch_->window_of(position);
    window_ = epoch_->window(*window_number_);
    ++window_change_;
  }
  return window_.at(position - epoch_->window_begin(*window_number_));
}

snapshot::Row RowCursor::row(std::uint64_t epoch, std::uint64_t position) {
  if (order_.shuffle() != order::Shuffle::block) {
    enter(epoch);
    return order_.stored_row(epoch_->stored_at(position));
  }
  const order::Place at = place(epoch, position);
  return order_.row(at.block, at.slot);
}

Planner::Planner(const std::vector<Source>& sources, const PlanOptions& options, Reading reading,
                 PieceStore& store)
    : sources_(sources),
      options_(options),
      reading_(reading),
      store_(store),
      order_(sources, options),
      cut_(order_.size(), options.cut),
      epoch_(options.epoch) {
  for (const Source& source : sources)
    streams_.push_back({.cursor = RowCursor(*source.order)});
}

bool Planner::begin_batch(Batch& batch, Slice& slice) {
  if (next_ == cut_.batches()) {
    if (!options_.repeats) return false;
    cut_ = Cut(order_.size(), from_the_beginning(options_.cut));
    if (cut_.batches() == 0) return false;
    ++epoch_;
    next_ = 0;
  }
  slice = cut_.batch(next_++);
  batch.epoch = epoch_;
  batch.position = slice.first;
  ++planned_;
  return true;
}

Status Planner::pick_block(Batch& batch, const Order::At& at,
                           std::vector<std::shared_ptr<Cell>>& fresh) {
  Stream& stream = streams_[at.source];
  const Source& source = sources_[at.source];
  const order::Place place = stream.cursor.place(at.epoch, at.position);
  if (stream.window_change != stream.cursor.window_change()) {
    stream.blocks.clear();
    stream.window_change = stream.cursor.window_change();
  }
  // What is read as stored does not come back to a block.
  if (source.order->shuffle() == order::Shuffle::none && stream.last_block != place.block) {
    stream.blocks.clear();
    stream.last_block = place.block;
  }
  Known& known = stream.blocks[place.block];
  if (!known.cell) {
    LEAT_TRY(known.cell, block_cell(source, place.block, store_));
    fresh.push_back(known.cell);
  }
  if (known.batch != planned_) {
    known.batch = planned_;
    known.index = static_cast<std::uint32_t>(batch.cells.size());
    batch.cells.push_back(known.cell);
  }
  batch.picks.push_back({.cell = known.index, .slot = place.slot});
  batch.rows.push_back(source.order->row(place.block, place.slot));
  return {};
}

// One cell for each source that has a sample in the batch.
Status Planner::pick_rows(Batch& batch, std::vector<std::shared_ptr<Cell>>& fresh) {
  std::vector<std::vector<snapshot::Row>> rows(sources_.size());
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    const std::uint32_t source = batch.sources.empty() ? 0 : batch.sources[i];
    batch.picks.push_back(
        {.cell = source, .slot = static_cast<std::uint32_t>(rows[source].size())});
    rows[source].push_back(static_cast<snapshot::Row>(batch.rows[i]));
  }
  std::vector<std::uint32_t> index(sources_.size());
  for (std::size_t source = 0; source < sources_.size(); ++source) {
    if (rows[source].empty()) continue;
    index[source] = static_cast<std::uint32_t>(batch.cells.size());
    LEAT_TRY(auto cell, rows_cell(sources_[source], std::move(rows[source]), store_));
    batch.cells.push_back(cell);
    fresh.push_back(std::move(cell));
  }
  for (Pick& pick : batch.picks)
    pick.cell = index[pick.cell];
  return {};
}

Result<bool> Planner::next(Batch& batch, std::vector<std::shared_ptr<Cell>>& fresh) {
  Slice slice;
  if (!begin_batch(batch, slice)) return false;
  for (std::uint64_t i = 0; i < slice.count; ++i) {
    const Order::At at = order_.at(epoch_, slice.first + i);
    if (sources_.size() > 1) batch.sources.push_back(at.source);
    batch.positions.push_back((slice.first + i) % order_.size());
    if (reading_ == Reading::blocks) {
      LEAT_DO(pick_block(batch, at, fresh));
    } else {
      batch.rows.push_back(streams_[at.source].cursor.row(at.epoch, at.position));
    }
  }
  if (reading_ == Reading::rows) {
    LEAT_DO(pick_rows(batch, fresh));
  }
  return true;
}

}  // namespace leat::feed
