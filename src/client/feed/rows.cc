#include "feed/rows.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "dataset/batch.h"
#include "xml/unicode.h"

namespace leat::feed {
namespace {

constexpr Duration kAgain = std::chrono::milliseconds(200);

// The request for the rows of a cell, and which slot each item is.
struct RowsRequest {
  dataset::BatchQuery query{};
  std::vector<std::uint32_t> slots{};
};

// What asks for a slot, or nothing if no byte of it is wanted. A field whose name is no UTF-8
// cannot be named in JSON: who wants one is sent all fields of the sample.
std::string item_of(const Cell& cell, std::uint32_t slot) {
  const std::vector<std::string>& names = cell.source.dataset->view().fields();
  nlohmann::json fields = nlohmann::json::array();
  bool is_nameable = true;
  for (std::size_t column = 0; column < cell.source.fields.size(); ++column) {
    const Extent& extent = cell.extent(slot, column);
    if (!extent.is_there() || extent.size_bytes == 0) continue;
    const std::string& name = names[*cell.source.fields[column]];
    is_nameable = is_nameable && xml::is_utf8(name);
    fields.push_back(name);
  }
  if (fields.empty()) return "";
  nlohmann::json item = {{"row", cell.rows[slot]}};
  if (is_nameable) item["fields"] = std::move(fields);
  return item.dump();
}

RowsRequest request_of(const Cell& cell) {
  const dataset::Dataset& dataset = *cell.source.dataset;
  RowsRequest request;
  request.query.shared =
      fmt::format(R"("dataset":{})", nlohmann::json(dataset.facts().reference()).dump());
  for (std::uint32_t slot = 0; slot < cell.slots(); ++slot) {
    std::string item = item_of(cell, slot);
    if (item.empty()) continue;
    request.query.items.push_back(std::move(item));
    request.slots.push_back(slot);
  }
  return request;
}

// Puts the fields of a sample where the cell expects them.
Status take_sample(Cell& cell, std::uint32_t slot, const frames::Frame& frame) {
  if (frame.header.kind == frames::Kind::error) return fail(dataset::error_in(frame));
  LEAT_TRY(const auto fields, frame.fields());
  const std::vector<std::string>& names = cell.source.dataset->view().fields();
  std::size_t found = 0;
  std::size_t wanted = 0;
  for (std::size_t column = 0; column < cell.source.fields.size(); ++column) {
    const Extent& extent = cell.extent(slot, column);
    if (!extent.is_there() || extent.size_bytes == 0) continue;
    ++wanted;
    for (const auto& [name, bytes] : fields) {
      if (name != names[*cell.source.fields[column]]) continue;
      if (bytes.size() != extent.size_bytes) break;
      std::memcpy(cell.piece.data() + extent.offset, bytes.data(), bytes.size());
      ++found;
      break;
    }
  }
  if (found < wanted) return fail(Errc::corrupt, "a sample came with other fields than it has");
  return {};
}

}  // namespace

rt::Task<void> read_rows(Cell& cell, RowsReading reading) {
  RowsRequest request = request_of(cell);
  const Instant give_up = reading.clock.now() + reading.patience;
  const auto is_cancelled = [&reading] {
    return reading.is_cancelled != nullptr && reading.is_cancelled->load();
  };
  // Items that failed and may do better are asked for again, alone.
  while (!request.slots.empty()) {
    request.query.patience = reading.patience;
    request.query.is_cancelled = reading.is_cancelled;
    RowsRequest again{.query = {.shared = request.query.shared}};
    const bool is_last = reading.clock.now() >= give_up;
    const dataset::BatchVisit visit = [&](std::size_t item, const frames::Frame& frame) -> Status {
      const std::uint32_t slot = request.slots[item];
      Status taken = take_sample(cell, slot, frame);
      if (taken) return {};
      if (traits(taken.error().code()).retryable && !is_last) {
        again.query.items.push_back(request.query.items[item]);
        again.slots.push_back(slot);
      } else {
        cell.lose(slot, std::move(taken).error());
      }
      return {};
    };
    LEAT_CO_DO(co_await dataset::read_batch(reading.client, request.query, visit));
    request = std::move(again);
    if (request.slots.empty()) break;
    if (is_cancelled()) co_return fail(Errc::cancelled);
    LEAT_CO_DO(co_await reading.clock.sleep_until(reading.clock.now() + kAgain));
  }
  co_return Status{};
}

}  // namespace leat::feed
