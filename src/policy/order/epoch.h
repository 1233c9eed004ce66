// Epoch: the order in which one epoch visits the samples of a snapshot, as a function of position.
//
// Blocks are visited in a permuted order, a window of them at a time; inside a window all samples
// are permuted together. So a reader holds one window of blocks, reads each block once, and still
// sees samples of many blocks side by side. Any position can be asked for at any time: a job that
// resumes on another number of ranks continues the same order.
//
// The order is a function of (order_version, fingerprint of the snapshot, seed, epoch) and of the
// shape (counts, window, shuffle), to the bit: docs/formats/order.md. Memory: one number a window,
// nothing a sample. Immutable: share it between threads; a Cursor belongs to one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "order/permutation.h"

namespace leat::order {

enum class Shuffle : std::uint8_t {
  none,   // as stored
  block,  // blocks, then samples inside a window of blocks
  full,   // every sample may follow every other: reads are random
};

// Names the content of a snapshot (snapshot::View::fingerprint()).
using Fingerprint = std::array<std::byte, 16>;

struct EpochOptions {
  Shuffle shuffle = Shuffle::block;
  std::uint64_t window_blocks = 64;
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  Fingerprint fingerprint{};
};

struct Place {
  std::uint64_t block = 0;
  std::uint32_t slot = 0;  // which sample of the block
  bool operator==(const Place&) const = default;
};

// One window: its blocks in the order of the epoch, and where each one's samples begin.
class Window {
 public:
  std::uint64_t size() const { return begins_.back(); }
  std::span<const std::uint64_t> blocks() const { return blocks_; }

  // Sample `p` of the window in the order of the epoch. Requires: p < size().
  Place at(std::uint64_t p) const;

 private:
  friend class Epoch;

  std::vector<std::uint64_t> blocks_;
  std::vector<std::uint64_t> begins_;  // one more than blocks_
  std::optional<Permutation> samples_;
};

class Epoch {
 public:
  // `counts`: how many samples each block has, in the order of the snapshot.
  // Requires: fewer than 2^32 blocks; window_blocks > 0.
  // Lifetime: `counts` outlives it.
  Epoch(std::span<const std::uint32_t> counts, const EpochOptions& options);

  std::uint64_t size() const { return window_begins_.back(); }
  std::uint64_t window_count() const { return window_begins_.size() - 1; }
  // Where window `w` begins in the order; of window_count(): size().
  std::uint64_t window_begin(std::uint64_t w) const { return window_begins_[w]; }
  // The window that has `position`. Requires: position < size().
  std::uint64_t window_of(std::uint64_t position) const;

  // The blocks of window `w` in their order. Cost: its number of blocks.
  // With Shuffle::full it is a run of blocks as stored, and positions are not local to it.
  Window window(std::uint64_t w) const;

  // The sample at `position`. Cost: that of window(); a Cursor keeps the window between calls.
  // Requires: position < size().
  Place at(std::uint64_t position) const;

  // The sample at `position` as its number among all as stored. O(1).
  // Requires: position < size(); not Shuffle::block.
  std::uint64_t stored_at(std::uint64_t position) const;

 private:
  friend class Cursor;

  std::uint64_t key(std::uint64_t level, std::uint64_t w) const;
  std::uint64_t first_block(std::uint64_t w) const;
  std::uint64_t block_at(std::uint64_t j) const;
  // Which position as laid out in windows is visited at `position`: another one only if full.
  std::uint64_t laid_out(std::uint64_t position) const;

  std::span<const std::uint32_t> counts_;
  Shuffle shuffle_;
  std::uint64_t seed_key_;
  std::optional<Permutation> blocks_;
  std::optional<Permutation> samples_;  // of all, if full
  std::vector<std::uint64_t> window_begins_;
};

// Answers at() for positions near each other in O(log windows): it keeps the last window.
// Lifetime: `epoch` outlives it.
class Cursor {
 public:
  explicit Cursor(const Epoch& epoch) : epoch_(epoch) {}

  // Requires: position < epoch.size().
  Place at(std::uint64_t position);

 private:
  const Epoch& epoch_;
  std::optional<std::uint64_t> number_;
  Window window_;
};

}  // namespace leat::order
