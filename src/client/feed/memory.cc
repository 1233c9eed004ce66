#include "feed/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

namespace leat::feed {
namespace {

constexpr std::size_t kHugePage = 2 * kMiB;
constexpr std::size_t kPage = 4 * kKiB;
// No machine has so much; some allocators end the process when they are asked for more.
constexpr std::size_t kPieceMax = std::size_t{512} << 30;

}  // namespace

std::size_t Piece::rounded(std::size_t size_bytes) {
  const std::size_t unit = size_bytes > kMiB ? kHugePage : kPage;
  return std::max<std::size_t>(1, (size_bytes + unit - 1) / unit) * unit;
}

Piece::Piece(std::size_t capacity) {
  if (capacity > kPieceMax) return;
  const std::size_t size = rounded(capacity);
  const bool is_large = size >= kHugePage;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(is_large ? kHugePage : kPage, size)));
  if (data_ == nullptr) return;
  capacity_ = size;
  // Advice: where it is not taken, pages are small.
  if (is_large) madvise(data_.get(), capacity_, MADV_HUGEPAGE);
}

Status Piece::fit(std::size_t size_bytes) {
  if (size_bytes <= capacity_ && !is_empty()) return {};
  *this = Piece(size_bytes + size_bytes / 8);
  if (is_empty()) return no_memory(size_bytes);
  return {};
}

std::unexpected<Error> no_memory(std::uint64_t size_bytes) {
  return fail(Errc::too_large, fmt::format("there is no memory for {} bytes", size_bytes));
}

void PieceShelf::allow(std::uint64_t max_bytes) {
  kept_.with([max_bytes](Kept& kept) {
    kept.max_bytes = std::max(kept.max_bytes, max_bytes);
    return false;
  });
}

Piece PieceShelf::Kept::pop(std::size_t capacity) {
  for (auto found = by_capacity.lower_bound(capacity); found != by_capacity.end(); ++found) {
    auto& [size, pieces] = *found;
    if (size > capacity + capacity / 2) break;
    if (pieces.empty()) continue;
    Piece piece = std::move(pieces.back());
    pieces.pop_back();
    bytes -= size;
    return piece;
  }
  return {};
}

Piece PieceShelf::take(std::size_t size_bytes) {
  const std::size_t capacity = Piece::rounded(size_bytes);
  Piece piece;
  std::vector<Piece> dropped;  // freed outside of the lock
  kept_.with([&](Kept& kept) {
    piece = kept.pop(capacity);
    kept.used_bytes += piece.is_empty() ? capacity : piece.capacity();
    if (!piece.is_empty()) return false;
    // Of another size: they make room for the new one.
    for (auto& [size, pieces] : kept.by_capacity) {
      while (!pieces.empty() && kept.bytes + kept.used_bytes > kept.max_bytes) {
        dropped.push_back(std::move(pieces.back()));
        pieces.pop_back();
        kept.bytes -= size;
      }
    }
    return false;
  });
  if (piece.is_empty()) piece = Piece(capacity);
  if (piece.is_empty()) {
    kept_.with([capacity](Kept& kept) {
      kept.used_bytes -= capacity;
      return false;
    });
  }
  return piece;
}

void PieceShelf::give_back(Piece piece) {
  const std::size_t capacity = piece.capacity();
  if (capacity == 0) return;
  kept_.with([&](Kept& kept) {
    kept.used_bytes -= capacity;
    if (kept.bytes + capacity + kept.used_bytes > kept.max_bytes) return false;
    kept.bytes += capacity;
    kept.by_capacity[capacity].push_back(std::move(piece));
    return false;
  });
}

Status PieceShelf::fit(Piece& piece, std::size_t size_bytes) {
  if (size_bytes <= piece.capacity()) return {};
  give_back(std::move(piece));
  piece = take(size_bytes + size_bytes / 8);
  if (piece.is_empty()) return no_memory(size_bytes);
  return {};
}

std::uint64_t PieceShelf::kept_bytes() const {
  std::uint64_t bytes = 0;
  kept_.with([&bytes](const Kept& kept) {
    bytes = kept.bytes;
    return false;
  });
  return bytes;
}

Piece PieceStore::take(std::size_t size_bytes) {
  Piece piece = shelf_->take(size_bytes);
  const std::uint64_t lent = lent_bytes_.fetch_add(piece.capacity()) + piece.capacity();
  std::uint64_t most = lent_most_.load();
  while (lent > most && !lent_most_.compare_exchange_weak(most, lent)) {
  }
  return piece;
}

void PieceStore::give_back(Piece piece) {
  lent_bytes_.fetch_sub(piece.capacity());
  shelf_->give_back(std::move(piece));
}

}  // namespace leat::feed
