// Budget: what a feed may hold at once, and how cells and filled batches share it.
//
// Pure. Users see it as the option `memory` (docs/reference/python.md).
#pragma once

#include <cstddef>
#include <cstdint>

#include "feed/feed.h"

namespace leat::feed {

struct Budget {
  std::uint64_t total_bytes = 0;
  std::uint64_t cells_bytes = 0;  // of it, for blocks or rows
  std::uint64_t batch_bytes = 0;  // what one filled batch takes, roughly
  std::size_t batches = 2;        // that are filled or ready, and not taken yet
};

// By memory_bytes, or what suits the window and the batches if nothing was said. Two batches are
// always allowed, whatever they take: one is filled while the other waits to be taken.
Budget budget_of(const FeedOptions& options, Reading reading);

// Bytes of the blocks that an order mixes at a time, of all sources.
double window_bytes(const FeedOptions& options);
double average_block_bytes(const SampleOrder& order);

}  // namespace leat::feed
