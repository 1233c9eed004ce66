#include "transfer/parts.h"

#include <algorithm>

#include "base/check.h"

namespace leat::transfer {
namespace {

constexpr std::uint32_t kPartsPerDoubling = 1000;

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

Part PartPlan::part(std::uint32_t index) const {
  LEAT_CHECK(index < count);
  const std::uint64_t offset = index * part_bytes;
  return {.offset = offset, .length = std::min(part_bytes, size_bytes - offset)};
}

PartPlan plan_parts(std::uint64_t size_bytes, std::uint64_t wanted) {
  const std::uint64_t least = divide_up(divide_up(size_bytes, kPartsMax), kMiB) * kMiB;
  const std::uint64_t part = std::clamp(std::max(wanted, least), kPartMinBytes, kPartMaxBytes);
  return {.size_bytes = size_bytes,
          .part_bytes = part,
          .count = static_cast<std::uint32_t>(divide_up(size_bytes, part))};
}

std::uint64_t growing_part_bytes(std::uint32_t index, std::uint64_t first) {
  const std::uint64_t bytes = std::max(first, kPartMinBytes) << (index / kPartsPerDoubling);
  return std::min(bytes, kPartMaxBytes);
}

}  // namespace leat::transfer
