// Mixing: what ingest does so that a small window of blocks looks like a full shuffle, and the
// numbers that say how well it did.
//
// *Inflation* is how much likelier two samples of one batch share a label (a class, a video, a
// source file) than under a full shuffle: 1 is perfect. With blocks of one label each it is about
// 1 + C / (g_on * g_off): C labels, g_on blocks in the reader's window (of all ranks together),
// g_off blocks that ingest mixed with each other. Pure, deterministic from a seed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "order/permutation.h"

namespace leat::order {

// What the law above says. `mixed_blocks` 1: ingest did not mix. Requires: both blocks > 0.
double expected_inflation(std::uint64_t labels, std::uint64_t window_blocks,
                          std::uint64_t mixed_blocks);

// The same for input that is sorted by label and passed a Mixer of `mixed_blocks` in that order:
// 1 + min(labels, blocks / (2 * mixed_blocks)) / window_blocks. What comes sorted stays near its
// neighbours, so it is far worse than the law: feed a Mixer in the order of source_order().
double expected_inflation_sorted(std::uint64_t labels, std::uint64_t blocks,
                                 std::uint64_t window_blocks, std::uint64_t mixed_blocks);

// Pairs of one label among all pairs inside the batches of `labels`, divided by the same for all
// pairs of `labels`. 1 if no two labels are the same. Requires: batch > 1.
double measured_inflation(std::span<const std::uint32_t> labels, std::uint64_t batch);

// The order in which to read `runs` runs of neighbouring items (about a block each) of a source
// whose size is known, before a Mixer: the offline pass of Corgi² without its second copy.
Permutation source_order(std::uint64_t runs, std::uint64_t seed);

// Decides which item leaves a reservoir when another comes. It knows slots, not items: the caller
// keeps `capacity` of them.
//
//   for each item: if (auto out = mixer.on_item(); out.emits) write(held[out.slot]);
//                  held[out.slot] = item;
//   while (auto slot = mixer.on_end()) write(held[*slot]);
//
// An item stays for `capacity` others on average (exponentially), so a reservoir of k items mixes
// like a window of 2k that is shuffled and emptied: inflation about 1 + C / (2 * g_on * g_off) for
// runs in random order, with g_off = k / (samples a block).
class Mixer {
 public:
  struct Decision {
    std::uint64_t slot = 0;
    bool emits = false;  // what the slot holds goes out first
  };

  // Requires: capacity > 0.
  Mixer(std::uint64_t capacity, std::uint64_t seed);

  // Requires: on_end() was not called.
  Decision on_item();
  // The next slot to empty; nothing when none is left.
  std::optional<std::uint64_t> on_end();

  std::uint64_t held() const { return held_; }

 private:
  std::uint64_t capacity_;
  std::uint64_t held_ = 0;
  std::uint64_t drained_ = 0;
  Draws draws_;
  std::optional<Permutation> rest_;  // once the end was seen
};

}  // namespace leat::order
