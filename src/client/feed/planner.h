// Planner: the batches of one rank and worker, one after the other: which samples, in which cells.
//
// With Reading::blocks samples come from whole blocks, which several batches share: a window of
// them is held while its samples are handed out. With Reading::rows each batch asks for its own
// samples and nothing else. The samples and their order are the same.
//
// Pure, but for the memory of cells. Thread: one at a time.
#pragma once

#include <unordered_map>

#include "feed/batch.h"
#include "feed/cut.h"
#include "order/proportions.h"

namespace leat::feed {

enum class Reading : std::uint8_t { blocks, rows };

struct PlanOptions {
  CutOptions cut{};
  std::uint64_t epoch = 0;
  bool repeats = false;
  std::vector<double> weights{};           // of a mix
  std::optional<std::uint64_t> samples{};  // of an epoch of a mix
};

// The order of all positions of an epoch over one or several sources. Pure, O(1).
class Order {
 public:
  struct At {
    std::uint32_t source = 0;
    std::uint64_t epoch = 0;     // of the source's own order
    std::uint64_t position = 0;  // in that
  };

  // Lifetime: `sources` outlives it. Requires: as many weights as sources, or one source.
  Order(const std::vector<Source>& sources, const PlanOptions& options);

  std::uint64_t size() const { return size_; }
  // Requires: size() > 0. The position is taken modulo the size.
  At at(std::uint64_t epoch, std::uint64_t position) const;

 private:
  const std::vector<Source>& sources_;
  std::optional<order::Proportions> mix_;
  std::uint64_t size_ = 0;
};

// The rows of positions of one source, of several epochs in turn.
class RowCursor {
 public:
  // Lifetime: `order` outlives it.
  explicit RowCursor(const SampleOrder& order) : order_(order) {}

  snapshot::Row row(std::uint64_t epoch, std::uint64_t position);
  // The place with its block. Requires: the order is not shuffled in full.
  order::Place place(std::uint64_t epoch, std::uint64_t position);
  // Of the last place(): changes when the window does.
  std::uint64_t window_change() const { return window_change_; }

 private:
  void enter(std::uint64_t epoch);

  const SampleOrder& order_;
  std::optional<order::Epoch> epoch_;
  std::uint64_t number_ = 0;
  std::optional<std::uint64_t> window_number_;
  order::Window window_;
  std::uint64_t window_change_ = 0;
};

class Planner {
 public:
  // Lifetime: `sources` and `store` outlive it.
  Planner(const std::vector<Source>& sources, const PlanOptions& options, Reading reading,
          PieceStore& store);

  // Of the first epoch.
  std::uint64_t batches() const { return cut_.batches(); }
  std::uint64_t samples() const { return order_.size(); }

  // Plans the next batch; its cells that no batch before had are also added to `fresh`, in the
  // order of their first use. False at the end.
  // Errors: corrupt.
  Result<bool> next(Batch& batch, std::vector<std::shared_ptr<Cell>>& fresh);

 private:
  struct Known {
    std::shared_ptr<Cell> cell{};
    std::uint64_t batch = 0;  // the last one that has it …
    std::uint32_t index = 0;  // … as which of its cells
  };
  struct Stream {
    RowCursor cursor;
    std::uint64_t window_change = 0;
    std::uint64_t last_block = 0;
    std::unordered_map<std::uint64_t, Known> blocks{};  // of the window
  };

  bool begin_batch(Batch& batch, Slice& slice);
  Status pick_block(Batch& batch, const Order::At& at, std::vector<std::shared_ptr<Cell>>& fresh);
  Status pick_rows(Batch& batch, std::vector<std::shared_ptr<Cell>>& fresh);

  const std::vector<Source>& sources_;
  PlanOptions options_;
  Reading reading_;
  PieceStore& store_;
  Order order_;
  Cut cut_;
  std::uint64_t epoch_;
  std::uint64_t next_ = 0;     // batch of the epoch
  std::uint64_t planned_ = 0;  // batches in all
  std::vector<Stream> streams_;
};

}  // namespace leat::feed
