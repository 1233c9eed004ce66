#include "index/revisions.h"

#include <functional>
#include <string_view>

namespace leat::index {

std::uint64_t hash_of(const record::ObjectKey& object) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  const std::uint64_t name = std::hash<std::string_view>{}(object.key);
  return name ^ (object.bucket.value() * kOdd);
}

void Revisions::begin_change(std::uint64_t hash) {
  const std::size_t at = hash % kCells;
  const Stamp now = cells_[at].load(std::memory_order_relaxed);
  if (now % 2 == 1) return;
  // What the index publishes after this is published with it.
  cells_[at].store(now + 1, std::memory_order_release);
  changing_.push_back(at);
}

void Revisions::end_changes() {
  for (const std::size_t at : changing_) {
    const Stamp now = cells_[at].load(std::memory_order_relaxed);
    cells_[at].store(now + 1, std::memory_order_release);
  }
  changing_.clear();
}

}  // namespace leat::index
