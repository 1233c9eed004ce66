// Cut: which positions of an epoch each batch of one rank and worker has. Pure, O(1).
//
// The order of an epoch is one for all ranks. It is cut into global batches of
// batch_size · world positions; rank r takes the r-th slice of each, and whole batch k of a rank
// goes to its worker k mod W. So the order does not depend on how many read it, and a job that goes
// on with another number of ranks goes on at `position`, the samples that all have consumed.
//
// What does not fill all ranks' batches at the end:
//   drop    nobody gets it
//   pad     filled up from the epoch's beginning: every rank gets as many full batches
//   uneven  handed out as it falls: a rank may get a shorter batch or none
#pragma once

#include <cstdint>

namespace leat::feed {

enum class Tail : std::uint8_t { drop, pad, uneven };

struct CutOptions {
  std::uint64_t batch_size = 1;
  std::uint64_t world = 1;
  std::uint64_t rank = 0;
  std::uint64_t workers = 1;
  std::uint64_t worker = 0;
  std::uint64_t position = 0;
  Tail tail = Tail::drop;
};

// Positions [first, first + count), each taken modulo the size of the epoch.
struct Slice {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  bool operator==(const Slice&) const = default;
};

class Cut {
 public:
  // Requires: batch_size, world, workers > 0; rank < world; worker < workers; the product of
  // batch_size and world is below 2^63; position <= size.
  Cut(std::uint64_t size, const CutOptions& options);

  // Of this rank and worker.
  std::uint64_t batches() const { return batches_; }
  // Requires: number < batches().
  Slice batch(std::uint64_t number) const;

 private:
  std::uint64_t batches_of_rank() const;

  std::uint64_t size_;
  CutOptions options_;
  std::uint64_t global_;
  std::uint64_t batches_;
};

}  // namespace leat::feed
