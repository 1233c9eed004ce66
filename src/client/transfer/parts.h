// How an object is cut into parts. Pure.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace leat::transfer {

// What S3 allows: parts 1 to 10 000, each of 5 MiB at least but for the last one.
constexpr std::uint64_t kPartMinBytes = 5 * kMiB;
constexpr std::uint64_t kPartMaxBytes = 5 * kGiB;
constexpr std::uint32_t kPartsMax = 10'000;

struct Part {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

struct PartPlan {
  std::uint64_t size_bytes = 0;
  std::uint64_t part_bytes = 0;
  std::uint32_t count = 0;

  // From 0. Requires: index < count.
  Part part(std::uint32_t index) const;
  bool operator==(const PartPlan&) const = default;
};

// Parts of `wanted` bytes, or of the next whole MiB that makes them few enough.
PartPlan plan_parts(std::uint64_t size_bytes, std::uint64_t wanted);

// The size of the part with this index in an upload whose end is not known: it grows, so that
// 10 000 of them hold 5 TiB.
std::uint64_t growing_part_bytes(std::uint32_t index, std::uint64_t first);

}  // namespace leat::transfer
