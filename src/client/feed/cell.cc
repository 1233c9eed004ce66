#include "feed/cell.h"

#include <algorithm>

namespace leat::feed {
namespace {

// Fields that are so near each other are read together: members of a tar have a head of 512 bytes
// and are padded to as much.
constexpr std::uint64_t kGapMax = 4 * kKiB;

// Lays the wanted fields of a sample out behind what the cell has: neighbours of a tar as they lie
// there.
void lay_out(Cell& cell, const snapshot::Sample& sample) {
  struct Wanted {
    std::size_t extent = 0;
    snapshot::FieldPlace place{};
  };
  std::vector<Wanted> wanted;
  for (const auto& field : cell.source.fields) {
    if (field && sample.fields[*field]) {
      wanted.push_back({cell.extents.size(), *sample.fields[*field]});
    }
    cell.extents.emplace_back();
  }
  std::ranges::sort(wanted, {}, [](const Wanted& one) { return one.place.offset; });
  Span span;
  for (const auto& [extent, place] : wanted) {
    const std::uint64_t end = span.offset + span.size_bytes;
    const bool follows =
        span.size_bytes > 0 && place.offset >= end && place.offset - end <= kGapMax;
    if (!follows) {
      if (span.size_bytes > 0) cell.spans.push_back(span);
      span = {.shard = sample.shard, .offset = place.offset, .at = cell.size_bytes};
    }
    span.size_bytes = place.offset - span.offset + place.size_bytes;
    cell.extents[extent] = {.offset = span.at + (place.offset - span.offset),
                            .size_bytes = place.size_bytes};
    cell.size_bytes = span.at + span.size_bytes;
  }
  if (span.size_bytes > 0) cell.spans.push_back(span);
}

}  // namespace

void Cell::lose(std::uint32_t slot, Error why) {
  std::ranges::fill_n(extents.begin() + static_cast<std::ptrdiff_t>(slot * source.fields.size()),
                      static_cast<std::ptrdiff_t>(source.fields.size()), Extent{});
  lost.emplace(slot, std::move(why));
}

Result<std::shared_ptr<Cell>> block_cell(const Source& source, std::uint64_t block,
                                         PieceStore& store) {
  const SampleOrder& order = *source.order;
  auto cell = std::make_shared<Cell>(source, store);
  LEAT_TRY(const snapshot::Block stored, order.dataset().view().block(order.stored_block(block)));
  cell->spans = {
      {.shard = stored.shard, .offset = stored.offset, .size_bytes = stored.size_bytes, .at = 0}};
  cell->size_bytes = stored.size_bytes;
  const std::uint32_t count = order.samples_of(block);
  cell->rows.reserve(count);
  for (std::uint32_t slot = 0; slot < count; ++slot)
    cell->rows.push_back(order.row(block, slot));
  return cell;
}

Result<std::shared_ptr<Cell>> rows_cell(const Source& source, std::vector<snapshot::Row> rows,
                                        PieceStore& store) {
  auto cell = std::make_shared<Cell>(source, store);
  cell->is_block = false;
  cell->rows = std::move(rows);
  cell->extents.reserve(cell->rows.size() * source.fields.size());
  const snapshot::View& view = source.dataset->view();
  snapshot::Sample sample;
  for (const snapshot::Row row : cell->rows) {
    LEAT_DO(view.read_sample(row, sample));
    lay_out(*cell, sample);
  }
  // The bytes of a recipe are in no one object; the node knows where.
  if (view.catalog().has_recipes()) cell->spans.clear();
  return cell;
}

Status find_extents(Cell& cell) {
  const snapshot::View& view = cell.source.dataset->view();
  const std::uint64_t begin = cell.spans.front().offset;
  cell.extents.reserve(cell.rows.size() * cell.source.fields.size());
  snapshot::Sample sample;
  for (const snapshot::Row row : cell.rows) {
    LEAT_DO(view.read_sample(row, sample));
    for (const auto& field : cell.source.fields) {
      Extent extent;
      if (field && sample.fields[*field]) {
        const snapshot::FieldPlace& place = *sample.fields[*field];
        const bool is_inside = place.offset >= begin && place.offset - begin <= cell.size_bytes &&
                               place.size_bytes <= cell.size_bytes - (place.offset - begin);
        if (!is_inside) return fail(Errc::corrupt, "a sample lies outside of its block");
        extent = {.offset = place.offset - begin, .size_bytes = place.size_bytes};
      }
      cell.extents.push_back(extent);
    }
  }
  return {};
}

}  // namespace leat::feed
