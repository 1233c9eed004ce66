// Memory of a feed: large pieces that are used again and again, and are not cleared.
//
// Fresh memory of the kernel costs a page fault and a cleared page for each 4 KiB, which is as much
// as copying it. So pieces are kept for the next block, and large ones ask for huge pages.
//
// Safe from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "rt/monitor.h"

namespace leat::feed {

// Bytes of some capacity, not cleared.
class Piece {
 public:
  Piece() = default;
  // Rounded up: to 2 MiB above 1 MiB, else to 4 KiB. Empty if there is not so much memory.
  explicit Piece(std::size_t capacity);

  static std::size_t rounded(std::size_t size_bytes);

  bool is_empty() const { return data_ == nullptr; }
  std::byte* data() const { return data_.get(); }
  std::size_t capacity() const { return capacity_; }
  // Makes it at least so large; what was in it is lost if it has to grow.
  // Errors: too_large, if there is not so much memory.
  Status fit(std::size_t size_bytes);

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }  // NOLINT: of aligned_alloc
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t capacity_ = 0;
};

// The error of a piece that stayed empty.
std::unexpected<Error> no_memory(std::uint64_t size_bytes);

// Pieces that nobody uses now, kept for who needs some next: feeds of one session share it, so that
// the next epoch finds the memory of the last. Keeps so much that it is, together with what is in
// use, no more than the largest feed was allowed.
class PieceShelf {
 public:
  // A feed that may use so much has come.
  void allow(std::uint64_t max_bytes);

  // May be larger by a half. An empty one if there is not so much memory.
  Piece take(std::size_t size_bytes);
  void give_back(Piece piece);
  // Changes a piece for one that is at least so large; what was in it is lost then.
  // Errors: too_large, if there is not so much memory.
  Status fit(Piece& piece, std::size_t size_bytes);

  std::uint64_t kept_bytes() const;

 private:
  struct Kept {
    // The smallest that is large enough and not much too large; empty if there is none.
    Piece pop(std::size_t capacity);

    std::map<std::size_t, std::vector<Piece>> by_capacity{};
    std::uint64_t bytes = 0;
    std::uint64_t used_bytes = 0;
    std::uint64_t max_bytes = 0;
  };

  rt::Monitor<Kept> kept_;
};

// Lends pieces of a shelf to one feed, and counts what it has.
class PieceStore {
 public:
  explicit PieceStore(std::shared_ptr<PieceShelf> shelf) : shelf_(std::move(shelf)) {}

  // An empty one if there is not so much memory.
  Piece take(std::size_t size_bytes);
  void give_back(Piece piece);

  std::uint64_t lent_bytes() const { return lent_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t lent_most_bytes() const { return lent_most_.load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<PieceShelf> shelf_;
  std::atomic<std::uint64_t> lent_bytes_{0};
  std::atomic<std::uint64_t> lent_most_{0};
};

}  // namespace leat::feed
