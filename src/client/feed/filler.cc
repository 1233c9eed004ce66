#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "feed/batch.h"
#include "order/permutation.h"

namespace leat::feed {
namespace {

constexpr std::size_t kPartBytes = 4 * kMiB;
constexpr std::size_t kDecodedPart = 8;  // images that one thread decodes before others may help
constexpr std::size_t kAhead = 4;        // samples whose first bytes are asked for early
constexpr std::size_t kAheadBytes = 256;

const Cell& cell_of(const Batch& batch, std::size_t sample) {
  return *batch.cells[batch.picks[sample].cell];
}

const Extent& extent_of(const Batch& batch, std::size_t sample, std::size_t column) {
  const Pick pick = batch.picks[sample];
  return batch.cells[pick.cell]->extent(pick.slot, column);
}

// So that memory is on its way while other samples are copied.
void prefetch(const std::byte* bytes, std::size_t size_bytes) {
  for (std::size_t at = 0; at < std::min(size_bytes, kAheadBytes); at += 64)
    __builtin_prefetch(bytes + at);
}

void lay_out_ragged(const Batch& batch, std::size_t number, Column& column) {
  const std::size_t count = batch.picks.size();
  column.offsets.resize(count + 1);
  column.present.assign(count, 1);
  column.is_complete = true;
  column.shape.clear();
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    column.offsets[i] = at;
    const Extent& extent = extent_of(batch, i, number);
    if (extent.is_there()) {
      at += extent.size_bytes;
    } else {
      column.present[i] = 0;
      column.is_complete = false;
    }
  }
  column.offsets[count] = at;
  column.size_bytes = at;
}

void lay_out_dense(const Batch& batch, std::size_t number, Column& column) {
  const std::size_t count = batch.picks.size();
  const decode::Options& decode = column.options->decode;
  column.offsets.clear();
  column.shape = {count};
  if (decode.to == decode::To::rgb8) {
    column.shape = {count, decode.height, decode.width, 3};
  } else if (decode.to != decode::To::number) {
    column.shape.insert(column.shape.end(), decode.shape.begin(), decode.shape.end());
  }
  column.present.assign(count, 1);
  column.is_complete = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (extent_of(batch, i, number).is_there()) continue;
    column.present[i] = 0;
    column.is_complete = false;
  }
  column.size_bytes = count * decode::size_of(decode);
}

void drop_from(Column& column, const std::vector<std::uint8_t>& dropped) {
  std::size_t kept = 0;
  std::uint64_t at = 0;
  const std::size_t count = dropped.size();
  const bool is_ragged = !column.offsets.empty();
  const std::uint64_t each = is_ragged || count == 0 ? 0 : column.size_bytes / count;
  for (std::size_t i = 0; i < count; ++i) {
    if (dropped[i] != 0) continue;
    const std::uint64_t from = is_ragged ? column.offsets[i] : i * each;
    const std::uint64_t size = is_ragged ? column.offsets[i + 1] - from : each;
    std::memmove(column.piece.data() + at, column.piece.data() + from, size);
    if (is_ragged) column.offsets[kept] = at;
    if (!column.present.empty()) column.present[kept] = column.present[i];
    at += size;
    ++kept;
  }
  if (is_ragged) {
    column.offsets[kept] = at;
    column.offsets.resize(kept + 1);
  } else if (!column.shape.empty()) {
    column.shape[0] = kept;
  }
  if (!column.present.empty()) column.present.resize(kept);
  column.size_bytes = at;
}

template <class T>
void drop_from(std::vector<T>& values, const std::vector<std::uint8_t>& dropped) {
  if (values.empty()) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    if (dropped[i] == 0) values[kept++] = values[i];
  }
  values.resize(kept);
}

}  // namespace

void Batch::clear() {
  rows.clear();
  sources.clear();
  positions.clear();
  cells.clear();
  picks.clear();
  state = State::planned;
  missing = 0;
  filled_from = {};
  error.reset();
  error_place.clear();
  error_is_decode = false;
  dropped.clear();
}

Columns Filler::new_columns() const {
  Columns columns(options_.columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i)
    columns[i].options = &options_.columns[i];
  return columns;
}

Status Filler::lay_out(Batch& batch) const {
  for (std::size_t i = 0; i < batch.columns.size(); ++i) {
    Column& column = batch.columns[i];
    if (decode::is_dense(options_.columns[i].decode.to)) {
      lay_out_dense(batch, i, column);
    } else {
      lay_out_ragged(batch, i, column);
    }
    LEAT_DO(shelf_->fit(column.piece, column.size_bytes + 1));
  }
  return {};
}

std::size_t Filler::part_size(const Batch& batch) const {
  const std::size_t count = std::max<std::size_t>(1, batch.picks.size());
  const auto is_image = [](const ColumnOptions& c) { return c.decode.to == decode::To::rgb8; };
  if (std::ranges::any_of(options_.columns, is_image)) return kDecodedPart;
  std::uint64_t bytes = 0;
  for (const Column& column : batch.columns)
    bytes += column.size_bytes;
  const std::size_t parts = std::min<std::uint64_t>(options_.threads, bytes / kPartBytes + 1);
  return (count + parts - 1) / parts;
}

void Filler::fill(Batch& batch, std::size_t first, std::size_t last, decode::Scratch& scratch,
                  std::vector<Fault>& faults) const {
  for (std::size_t number = 0; number < batch.columns.size(); ++number) {
    const bool is_dense = decode::is_dense(options_.columns[number].decode.to);
    for (std::size_t i = first; i < last; ++i) {
      if (i + kAhead < last) {
        const Extent& next = extent_of(batch, i + kAhead, number);
        if (next.is_there()) {
          prefetch(cell_of(batch, i + kAhead).piece.data() + next.offset, next.size_bytes);
        }
      }
      const Extent& extent = extent_of(batch, i, number);
      const Bytes bytes = extent.is_there() ? Bytes(cell_of(batch, i).piece.data() + extent.offset,
                                                    extent.size_bytes)
                                            : Bytes();
      Status filled;
      if (lacks(batch, number, i)) {
        filled = fail(Errc::bad_request, "the sample lacks it, and it is not optional");
      }
      if (is_dense) {
        Status decoded = fill_dense(batch, number, i, bytes, scratch);
        if (filled) filled = std::move(decoded);
      } else if (filled && extent.is_there()) {
        filled = fill_ragged(batch, number, i, bytes);
      }
      if (!filled) faults.push_back({std::move(filled).error(), i, number});
    }
  }
}

bool Filler::lacks(const Batch& batch, std::size_t number, std::size_t sample) const {
  const ColumnOptions& options = options_.columns[number];
  if (options.decode.to == decode::To::bytes || options.is_optional) return false;
  const Column& column = batch.columns[number];
  if (column.present[sample] != 0) return false;
  return !cell_of(batch, sample).is_lost(batch.picks[sample].slot);
}

Status Filler::fill_ragged(Batch& batch, std::size_t number, std::size_t sample,
                           Bytes bytes) const {
  const Column& column = batch.columns[number];
  if (!bytes.empty()) {
    std::memcpy(column.piece.data() + column.offsets[sample], bytes.data(), bytes.size());
  }
  return decode::check_text(bytes, options_.columns[number].decode);
}

Status Filler::fill_dense(Batch& batch, std::size_t number, std::size_t sample, Bytes bytes,
                          decode::Scratch& scratch) const {
  const decode::Options& decode = options_.columns[number].decode;
  const Column& column = batch.columns[number];
  const std::size_t size = decode::size_of(decode);
  const std::span target(reinterpret_cast<std::uint8_t*>(column.piece.data()) + sample * size,
                         size);
  if (column.present[sample] == 0) {
    std::ranges::fill(target, std::uint8_t{0});
    return {};
  }
  std::uint64_t key = order::mix(options_.seed);
  key = order::mix(key ^ batch.epoch);
  key = order::mix(key ^ batch.positions[sample]);
  key = order::mix(key ^ number);
  return decode::decode_dense(bytes, decode, key, scratch, target);
}

Status Filler::fill_keys(Batch& batch) const {
  if (!options_.wants_keys) return {};
  Column& keys = batch.keys;
  keys.offsets.assign(1, 0);
  std::string all;
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    const snapshot::View& view = cell_of(batch, i).source.dataset->view();
    LEAT_TRY(const std::string key, view.key(static_cast<snapshot::Row>(batch.rows[i])));
    all += key;
    keys.offsets.push_back(all.size());
  }
  keys.size_bytes = all.size();
  LEAT_DO(keys.piece.fit(all.size() + 1));
  std::memcpy(keys.piece.data(), all.data(), all.size());
  return {};
}

void Filler::drop(Batch& batch) {
  if (batch.dropped.empty()) return;
  for (Column& column : batch.columns)
    drop_from(column, batch.dropped);
  if (!batch.keys.offsets.empty()) drop_from(batch.keys, batch.dropped);
  drop_from(batch.rows, batch.dropped);
  drop_from(batch.sources, batch.dropped);
  drop_from(batch.positions, batch.dropped);
}

}  // namespace leat::feed
