// Cell: samples that are fetched together: a block of a shard, or some rows by a batch request.
//
// A cell lives as long as somebody plans to use it or a batch still needs it; then its memory goes
// back. Written by one thread until it is ready, then read by many.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/time.h"
#include "feed/memory.h"
#include "feed/sample_order.h"
#include "local/local_object.h"

namespace leat::feed {

struct Batch;

// One of the datasets of a feed, and where its columns are in it.
struct Source {
  std::shared_ptr<const dataset::Dataset> dataset{};
  std::shared_ptr<const SampleOrder> order{};        // of who reads by a plan
  std::vector<std::optional<std::size_t>> fields{};  // by column: the field's id
};

// Where a field of a sample lies in the memory of its cell.
struct Extent {
  static constexpr std::uint64_t kLacks = ~std::uint64_t{0};

  std::uint64_t offset = 0;
  std::uint64_t size_bytes = kLacks;

  bool is_there() const { return size_bytes != kLacks; }
};

// Bytes of a shard, and where they go in the memory of their cell.
struct Span {
  std::uint32_t shard = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t at = 0;
};

struct Cell {
  enum class State : std::uint8_t { planned, fetching, ready, failed };

  Cell(const Source& of, PieceStore& from) : source(of), store(from) {}
  ~Cell() { store.give_back(std::move(piece)); }
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  std::size_t slots() const { return rows.size(); }
  const Extent& extent(std::uint32_t slot, std::size_t column) const {
    return extents[slot * source.fields.size() + column];
  }

  // Whether the sample cannot be had. Once it is ready or failed.
  bool is_lost(std::uint32_t slot) const { return error.has_value() || lost.contains(slot); }
  // It cannot be had: nothing of it is there.
  void lose(std::uint32_t slot, Error why);

  const Source& source;
  PieceStore& store;
  bool is_block = true;               // else rows by a batch request
  std::vector<snapshot::Row> rows{};  // by slot
  // A block is one. Of rows that no one object has the bytes of there are none.
  std::vector<Span> spans{};
  std::uint64_t size_bytes = 0;  // of the memory it takes

  // Where all spans are to be read, by shard, if they are on this machine; else empty.
  std::map<std::uint32_t, local::LocalObjectPtr> local{};
  // Why they could not be read there: from then on they are asked for over the network.
  std::optional<Error> local_error{};
  Instant fetch_began{};

  // Once it is ready.
  Piece piece{};
  std::vector<Extent> extents{};          // slot by slot, column by column
  std::map<std::uint32_t, Error> lost{};  // slots that could not be had, and why

  // Guarded by the feed's lock.
  State state = State::planned;
  std::vector<Batch*> waiting{};
  std::optional<Error> error{};
};

// A cell that is a block of the source's order, with all slots that the order has of it.
// Errors: corrupt.
Result<std::shared_ptr<Cell>> block_cell(const Source& source, std::uint64_t block,
                                         PieceStore& store);
// A cell that is some rows.
Result<std::shared_ptr<Cell>> rows_cell(const Source& source, std::vector<snapshot::Row> rows,
                                        PieceStore& store);

// Finds the samples' fields in the memory of a block. Errors: corrupt.
Status find_extents(Cell& cell);

}  // namespace leat::feed
