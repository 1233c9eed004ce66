// Cells: how a number is bumped by many cores without a cache line travelling between them.
//
// A counter keeps kCells copies of its number, each on cache lines of its own. A thread adds to the
// copy its slot picks; a scrape, which is rare, adds all copies up. The slot is a number of the
// thread: each shard calls use_slot(its own number) once when its thread starts. A thread that
// never did uses cell 0, and machines with more than kCells shards share some: this costs speed and
// never a count, because every cell is atomic.
#pragma once

#include <cstddef>

namespace leat::metrics {

constexpr std::size_t kCells = 8;
constexpr std::size_t kCacheLineBytes = 64;

// The calling thread's cell. Constant-initialised, so that reading it is one load.
inline constinit thread_local std::size_t thread_cell = 0;

// Picks the calling thread's cell. Any number is fine; shards pass their id.
inline void use_slot(std::size_t slot) {
  thread_cell = slot % kCells;
}

}  // namespace leat::metrics
