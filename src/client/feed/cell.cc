#include "feed/cell.h"

#include <algorithm>

namespace leat::feed {

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
  cell->shard = stored.shard;
  cell->offset = stored.offset;
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
    for (const auto& field : source.fields) {
      Extent extent;
      if (field && sample.fields[*field]) {
        extent = {.offset = cell->size_bytes, .size_bytes = sample.fields[*field]->size_bytes};
        cell->size_bytes += extent.size_bytes;
      }
      cell->extents.push_back(extent);
    }
  }
  return cell;
}

Status find_extents(Cell& cell) {
  const snapshot::View& view = cell.source.dataset->view();
  cell.extents.reserve(cell.rows.size() * cell.source.fields.size());
  snapshot::Sample sample;
  for (const snapshot::Row row : cell.rows) {
    LEAT_DO(view.read_sample(row, sample));
    for (const auto& field : cell.source.fields) {
      Extent extent;
      if (field && sample.fields[*field]) {
        const snapshot::FieldPlace& place = *sample.fields[*field];
        const bool is_inside = place.offset >= cell.offset &&
                               place.offset - cell.offset <= cell.size_bytes &&
                               place.size_bytes <= cell.size_bytes - (place.offset - cell.offset);
        if (!is_inside) return fail(Errc::corrupt, "a sample lies outside of its block");
        extent = {.offset = place.offset - cell.offset, .size_bytes = place.size_bytes};
      }
      cell.extents.push_back(extent);
    }
  }
  return {};
}

}  // namespace leat::feed
