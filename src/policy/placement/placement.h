// Placement: who owns a key, computed by everybody alike.
//
// Weighted rendezvous hashing: every candidate draws a number from the key and its own identity,
// divided by its weight, and the lowest wins. Adding a candidate moves only the keys that it wins,
// removing one moves only its own, and shares follow the weights.
//
// Integers only, so that every machine and every compiler agree; golden values in the test.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace leat::placement {

struct Candidate {
  std::uint64_t identity = 0;
  // The share of keys is in proportion to it. 0: never chosen, unless all are 0.
  std::uint32_t weight = 1;
};

// What a key draws its numbers from. FNV-1a, then mixed: no library decides it for us.
std::uint64_t hash_key(std::uint32_t bucket, std::string_view key);

// The winner. Requires: candidates is not empty.
std::size_t choose(std::uint64_t hash, std::span<const Candidate> candidates);

// All of them, the best first.
std::vector<std::size_t> rank(std::uint64_t hash, std::span<const Candidate> candidates);

}  // namespace leat::placement
