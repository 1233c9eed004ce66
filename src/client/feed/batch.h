// Batch: some samples, field by field, each field in one piece of memory; and, until it is filled,
// the plan of what goes where. Batches are used again, so that no sample costs an allocation.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "decode/decode.h"
#include "feed/cell.h"

namespace leat::feed {

// What a column is made of.
struct ColumnOptions {
  std::string field{};
  decode::Options decode{};
  // Of one that is decoded: samples may lack it; dense ones have zeros then. Else such a sample is
  // a fault: zeros that nobody asked for would be taken for a label.
  bool is_optional = false;
};

// One field of all samples of a batch.
struct Column {
  const ColumnOptions* options = nullptr;
  Piece piece{};
  std::uint64_t size_bytes = 0;
  std::vector<std::uint64_t> offsets{};  // of ragged bytes: one more than there are samples
  std::vector<std::uint64_t> shape{};    // of dense ones
  std::vector<std::uint8_t> present{};   // 1 or 0 each
  bool is_complete = true;               // every sample has it
};

using Columns = std::vector<Column>;

struct Pick {
  std::uint32_t cell = 0;  // of the batch's cells
  std::uint32_t slot = 0;
};

struct Batch {
  enum class State : std::uint8_t { planned, filling, ready };

  std::uint64_t position = 0;
  std::uint64_t epoch = 0;
  std::vector<std::uint64_t> rows{};
  std::vector<std::uint32_t> sources{};    // of a mix, else empty
  std::vector<std::uint64_t> positions{};  // of each sample, for what is drawn by chance
  Columns columns{};                       // from when it is filled
  Column keys{};                           // if they are wanted

  // The plan.
  std::vector<std::shared_ptr<Cell>> cells{};
  std::vector<Pick> picks{};

  // Guarded by the feed's lock.
  State state = State::planned;
  std::size_t missing = 0;  // cells that are not there yet
  Instant filled_from{};    // since then its cells are all there
  std::optional<Error> error{};
  std::string error_place{};  // JSON
  bool error_is_decode = false;

  // While it is filled.
  std::atomic<std::size_t> parts_left{0};
  std::vector<std::uint8_t> dropped{};  // samples that are left out, 1 each; empty: none

  std::uint64_t size() const { return rows.size(); }
  void clear();
};

// Lays the columns of a batch out and fills them from its cells.
//
//   batch.columns = …;                                  // new ones, or those of a batch before
//   lay_out(batch, …);                                  // once, when its cells are there
//   for each part: fill(batch, first, last, …);         // by several threads
//   finish(batch);                                      // once, when all are done
class Filler {
 public:
  struct Options {
    std::vector<ColumnOptions> columns{};
    bool wants_keys = false;
    std::uint64_t seed = 0;
    std::size_t threads = 1;
  };
  // What could not be used.
  struct Fault {
    Error error;
    std::size_t sample = 0;  // of the batch
    std::size_t column = 0;
  };

  // The memory of columns comes from the shelf; who is done with it gives it back.
  Filler(Options options, std::shared_ptr<PieceShelf> shelf)
      : options_(std::move(options)), shelf_(std::move(shelf)) {}

  const Options& options() const { return options_; }

  // Columns without memory yet.
  Columns new_columns() const;
  // Errors: too_large, if there is not so much memory.
  Status lay_out(Batch& batch) const;
  // How many samples one thread fills at a time.
  std::size_t part_size(const Batch& batch) const;
  // Samples [first, last). What cannot be used is told, and its place is filled with zeros; what
  // its cell has lost was told before.
  void fill(Batch& batch, std::size_t first, std::size_t last, decode::Scratch& scratch,
            std::vector<Fault>& faults) const;
  // Errors: corrupt, of keys; too_large.
  Status fill_keys(Batch& batch) const;
  // Takes out the samples that are marked as dropped.
  static void drop(Batch& batch);

 private:
  // Whether the sample is without a field that it must have.
  bool lacks(const Batch& batch, std::size_t column, std::size_t sample) const;
  Status fill_ragged(Batch& batch, std::size_t column, std::size_t sample, Bytes bytes) const;
  Status fill_dense(Batch& batch, std::size_t column, std::size_t sample, Bytes bytes,
                    decode::Scratch& scratch) const;

  Options options_;
  std::shared_ptr<PieceShelf> shelf_;
};

}  // namespace leat::feed
