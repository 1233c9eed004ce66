// Batches, and reads by row.
#include <atomic>

#include "capi/handles.h"
#include "capi/loader_options.h"
#include "dataset/batch.h"
#include "feed/place.h"
#include "feed/rows.h"

namespace leat::capi {
namespace {

leat_dtype type_of(const feed::Column& column) {
  const decode::Options& options = column.options->decode;
  if (!decode::is_dense(options.to)) return LEAT_BYTES;
  if (options.to == decode::To::rgb8) return LEAT_UINT8;
  switch (options.dtype) {
    case decode::Dtype::uint8: return LEAT_UINT8;
    case decode::Dtype::int8: return LEAT_INT8;
    case decode::Dtype::uint16: return LEAT_UINT16;
    case decode::Dtype::int16: return LEAT_INT16;
    case decode::Dtype::uint32: return LEAT_UINT32;
    case decode::Dtype::int32: return LEAT_INT32;
    case decode::Dtype::uint64: return LEAT_UINT64;
    case decode::Dtype::int64: return LEAT_INT64;
    case decode::Dtype::float16: return LEAT_FLOAT16;
    case decode::Dtype::float32: return LEAT_FLOAT32;
    case decode::Dtype::float64: return LEAT_FLOAT64;
    case decode::Dtype::boolean: return LEAT_BOOL;
  }
  return LEAT_BYTES;
}

leat_column shown(const feed::Column& column, const char* name, leat_dtype type) {
  const bool is_ragged = type == LEAT_BYTES;
  return {.name = name,
          .dtype = type,
          .data = reinterpret_cast<const uint8_t*>(column.piece.data()),
          .size = column.size_bytes,
          .offsets = is_ragged ? column.offsets.data() : nullptr,
          .dims = static_cast<uint32_t>(column.shape.size()),
          .shape = column.shape.empty() ? nullptr : column.shape.data(),
          .present = column.is_complete ? nullptr : column.present.data()};
}

// A batch that is read at once, with what its columns and cells refer to.
struct OwnBatch {
  explicit OwnBatch(RowsOptions options) : filler(std::move(options.fill), shelf) {
    source = std::move(options.source);
  }

  feed::Source source{};
  std::shared_ptr<feed::PieceShelf> shelf = std::make_shared<feed::PieceShelf>();
  feed::PieceStore store{shelf};
  feed::Filler filler;
  feed::Batch batch{};
};

// What is told of a sample that cannot be had, or not used.
std::unexpected<Trouble> told(const OwnBatch& own, std::size_t sample, std::string_view what,
                              const Error& error, bool is_decode) {
  const dataset::Dataset& dataset = *own.source.dataset;
  const auto row = static_cast<snapshot::Row>(own.batch.rows[sample]);
  std::string text = dataset.facts().reference() + ", row " + std::to_string(row) + ": ";
  text += what;
  text += error.detail();
  return trouble(
      feed::Failure{Error(error.code(), std::move(text)), feed::place_of(dataset, row), is_decode});
}

Outcome<void> read(session::Session& session, OwnBatch& own, std::vector<snapshot::Row> rows) {
  feed::Batch& batch = own.batch;
  batch.columns = own.filler.new_columns();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    batch.rows.push_back(rows[i]);
    batch.positions.push_back(rows[i]);
    batch.picks.push_back({.cell = 0, .slot = static_cast<std::uint32_t>(i)});
  }
  LEAT_C_TRY(auto cell, feed::rows_cell(own.source, std::move(rows), own.store));
  cell->piece = own.store.take(cell->size_bytes);
  if (cell->piece.is_empty()) return trouble(feed::no_memory(cell->size_bytes).error());
  LEAT_C_DO(session.run<void>([&](s3client::S3Client& client) {
    return feed::read_rows(
        *cell,
        {.client = client, .clock = session.clock(), .patience = session.options().patience});
  }));
  if (!cell->lost.empty()) {
    const auto& [slot, error] = *cell->lost.begin();
    return told(own, slot, "", error, /*is_decode=*/false);
  }
  batch.cells.push_back(cell);
  LEAT_C_DO(own.filler.lay_out(batch));
  decode::Scratch scratch;
  std::vector<feed::Filler::Fault> faults;
  own.filler.fill(batch, 0, batch.picks.size(), scratch, faults);
  if (!faults.empty()) {
    const feed::Filler::Fault& fault = faults.front();
    const std::string& field = own.filler.options().columns[fault.column].field;
    return told(own, fault.sample, "field " + field + ": ", fault.error, /*is_decode=*/true);
  }
  LEAT_C_DO(own.filler.fill_keys(batch));
  batch.cells.clear();
  return {};
}

}  // namespace
}  // namespace leat::capi

using namespace leat::capi;

extern "C" {

uint64_t leat_batch_size(const leat_batch* batch) {
  return batch == nullptr ? 0 : batch->batch->size();
}

uint32_t leat_batch_columns(const leat_batch* batch) {
  return batch == nullptr ? 0 : static_cast<uint32_t>(batch->batch->columns.size());
}

leat_status leat_batch_column(const leat_batch* batch, uint32_t number, leat_column* column,
                              leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    if (number >= leat_batch_columns(batch)) {
      return trouble(LEAT_BAD_REQUEST, "the batch has no such column");
    }
    const leat::feed::Column& found = batch->batch->columns[number];
    *column = shown(found, found.options->field.c_str(), type_of(found));
    return {};
  });
}

const uint64_t* leat_batch_rows(const leat_batch* batch) {
  return batch == nullptr ? nullptr : batch->batch->rows.data();
}

const uint32_t* leat_batch_sources(const leat_batch* batch) {
  const bool has_any = batch != nullptr && !batch->batch->sources.empty();
  return has_any ? batch->batch->sources.data() : nullptr;
}

leat_status leat_batch_keys(const leat_batch* batch, leat_column* keys, leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    if (batch == nullptr || batch->batch->keys.offsets.empty()) {
      return trouble(LEAT_BAD_REQUEST, "nobody asked for keys: the option is \"keys\": true");
    }
    *keys = shown(batch->batch->keys, "__key__", LEAT_BYTES);
    return {};
  });
}

uint64_t leat_batch_position(const leat_batch* batch) {
  return batch == nullptr ? 0 : batch->batch->position;
}

uint64_t leat_batch_epoch(const leat_batch* batch) {
  return batch == nullptr ? 0 : batch->batch->epoch;
}

void leat_batch_free(leat_batch* batch) {
  if (batch == nullptr) return;
  // In a child of the process that made it, or at its end, its loader may be locked for ever:
  // memory alone is freed.
  if (is_left_alone(batch->owner)) batch->batch.get_deleter().pipeline = nullptr;
  delete batch;
}

leat_status leat_read_rows(leat_session* session, const leat_dataset* dataset, const uint64_t* rows,
                           size_t count, const char* options, leat_batch** batch,
                           leat_error** error) {
  return guard(error, [&]() -> Outcome<void> {
    LEAT_C_TRY(auto* const opened, session_of(session));
    if (dataset == nullptr) return trouble(LEAT_BAD_REQUEST, "there is no dataset");
    if (count > leat::dataset::kBatchItemsMax) {
      return trouble(LEAT_BAD_REQUEST, "at most 100000 rows are read at once");
    }
    std::vector<leat::snapshot::Row> wanted;
    for (std::size_t i = 0; i < count; ++i) {
      if (rows[i] >= leat_dataset_size(dataset)) {
        return trouble(LEAT_NOT_FOUND, dataset->dataset->facts().reference() + " has no row " +
                                           std::to_string(rows[i]));
      }
      wanted.push_back(static_cast<leat::snapshot::Row>(rows[i]));
    }
    LEAT_C_TRY(RowsOptions parsed, rows_options(dataset->dataset, options));
    auto own = std::make_shared<OwnBatch>(std::move(parsed));
    LEAT_C_DO(read(*opened, *own, std::move(wanted)));
    leat::feed::Batch* const filled = &own->batch;
    *batch = new leat_batch{leat::feed::BatchHandle(filled, {.keep = own}), getpid()};
    return {};
  });
}

}  // extern "C"
