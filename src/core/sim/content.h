// Content: the bytes of a simulated file, as pages shared between copies until one of them writes.
//
// Copying is cheap (a pointer a page), which makes forks of a whole disk cheap enough to try a
// crash after every single operation. Pages never written are holes and read as zeros.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.h"

namespace leat::sim {

using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;

class Content {
 public:
  static constexpr std::uint64_t kPageBytes = 4096;

  std::uint64_t size() const { return size_; }

  // Bytes read: fewer than asked only at the end.
  std::size_t read(std::uint64_t offset, MutableBytes target) const;

  // Grows the content if needed.
  void write(std::uint64_t offset, Bytes source);

  // New bytes are zeros.
  void resize(std::uint64_t size_bytes);

  // Requires: offset < size(), bit < 8.
  void flip_bit(std::uint64_t offset, unsigned bit);

 private:
  using Page = std::array<std::byte, kPageBytes>;

  // The page, made or unshared for writing.
  Page& edit(std::uint64_t page);

  std::uint64_t size_ = 0;
  std::vector<std::shared_ptr<Page>> pages_;
};

}  // namespace leat::sim
