// PartBuffer: memory of one part while it fills and while it is sent.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "transfer/memory_budget.h"

namespace leat::ingest {

class PartBuffer {
 public:
  explicit PartBuffer(transfer::MemoryBudget::Lease lease) : lease_(std::move(lease)) {}

  // Takes as much as there is room for; returns the rest.
  std::string_view take(std::string_view bytes) {
    const std::size_t count = std::min(bytes.size(), lease_.bytes().size() - filled_);
    std::memcpy(lease_.bytes().data() + filled_, bytes.data(), count);
    filled_ += count;
    return bytes.substr(count);
  }
  bool is_full() const { return filled_ == lease_.bytes().size(); }
  Bytes bytes() const { return Bytes(lease_.bytes()).first(filled_); }

 private:
  transfer::MemoryBudget::Lease lease_;
  std::size_t filled_ = 0;
};

using PartPtr = std::unique_ptr<PartBuffer>;

}  // namespace leat::ingest
