// Revisions: whether what somebody remembers of the index is still what it says.
//
// Keys are spread over cells; each cell holds a number that is odd while a current version of one
// of its keys is being changed, and another even one afterwards. Who looks a key up takes the stamp
// before, keeps it with what was found, and may use that again as long as the cell has the stamp:
//
//   1. A change makes the cell odd before the index can show it, so nobody can have seen the new
//      version while another still takes the old one for current: reads of a key never go back.
//   2. It makes the cell even after the index shows it, so whoever gets the new stamp finds the new
//      version; and that is before the change is answered.
//
// Neighbours in a cell only cost each other a look-up. Nothing waits and nothing is locked.
//
// Thread: begin_change() and end_changes() from the home of the disk; the rest from any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "record/types.h"

namespace leat::index {

// The same in one process only.
std::uint64_t hash_of(const record::ObjectKey& object);

class Revisions {
 public:
  using Stamp = std::uint64_t;

  // Nothing while a key of the cell is being changed: then what is found must not be kept.
  std::optional<Stamp> stamp(std::uint64_t hash) const {
    const Stamp now = cells_[hash % kCells].load(std::memory_order_acquire);
    if (now % 2 == 1) return std::nullopt;
    return now;
  }

  // The current version of a key with this hash is about to change in the index.
  void begin_change(std::uint64_t hash);
  // The index shows all changes that were begun.
  void end_changes();

 private:
  // Half a mebibyte. A change makes a 65536th of what is remembered be looked up again.
  static constexpr std::size_t kCells = std::size_t{1} << 16;
  using Cell = std::atomic<Stamp>;

  std::unique_ptr<Cell[]> cells_ = std::make_unique<Cell[]>(kCells);
  std::vector<std::size_t> changing_;  // the odd ones
};

}  // namespace leat::index
